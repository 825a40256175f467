#!/bin/sh
# fenced.sh FILE COMMAND...: runs COMMAND while nobody else does, unless a later permit of the
# same token has been here before. The largest number of each token is kept in FILE.TOKEN.
set -eu
seen=$1.$HEADWAY_TOKEN
shift
exec 9>> "$seen.lock"
flock 9
last=0
if [ -e "$seen" ]; then last=$(cat "$seen"); fi
if [ "$HEADWAY_FENCE" -lt "$last" ]; then
    echo "refused: $HEADWAY_FENCE is older than $last" >&2
    exit 1
fi
# In one step: a crash leaves the old number or the new one, and never none.
echo "$HEADWAY_FENCE" > "$seen.new"
mv "$seen.new" "$seen"
"$@"
