#!/bin/sh
# fenced.sh FILE COMMAND...: runs COMMAND while nobody else does, unless a later permit of the
# same token has been here before. The largest number of each token is kept in FILE.TOKEN.
set -eu
seen=$1.$HEADWAY_TOKEN
shift
exec 9>> "$seen"
flock 9
last=$(cat "$seen")
if [ "$HEADWAY_FENCE" -lt "${last:-0}" ]; then
    echo "refused: $HEADWAY_FENCE is older than $last" >&2
    exit 1
fi
echo "$HEADWAY_FENCE" > "$seen"
"$@"
