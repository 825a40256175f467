#!/usr/bin/env bash
# A sweep on HyperQueue (`pip install hyperqueue`): each task does one part, and then the
# parts are joined here.
#
#   examples/cluster/hyperqueue.sh my.toml 16 results
#
# A server (`hq server start`) and workers (`hq worker start`) have to be there, and the
# folders on a disk that they share. A task that is started again goes on where it stopped.
set -euo pipefail
sweep=$(realpath "$1") parts=$2 results=$(realpath -m "$3")
headway=${HEADWAY:-headway}
mkdir -p "$results"

hq submit --wait --array 1-"$parts" --cpus 1 --stdout "$results/part-%{TASK_ID}.log" --stderr "$results/part-%{TASK_ID}.err" -- \
    bash -c "exec '$headway' sweep '$sweep' --shard \$HQ_TASK_ID/$parts --threads 1 --resume -o '$results'/part-\$HQ_TASK_ID"
"$headway" sweep merge "$results"/part-*/ -o "$results/whole"
