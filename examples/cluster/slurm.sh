#!/usr/bin/env bash
# A sweep as a Slurm array: each task of the array does one part, and a last job joins them.
#
#   examples/cluster/slurm.sh my.toml 16 results
#
# submits 16 tasks. The folders have to be on a disk that all machines share. A task that
# is started again goes on where it stopped.
set -euo pipefail
sweep=$(realpath "$1") parts=$2 results=$(realpath -m "$3")
headway=${HEADWAY:-headway}
mkdir -p "$results"

array=$(sbatch --parsable --job-name=headway --array=1-"$parts" --requeue \
    --output="$results/part-%a.log" --wrap \
    "$headway sweep '$sweep' --shard \$SLURM_ARRAY_TASK_ID/$parts --threads \${SLURM_CPUS_ON_NODE:-1} --resume -o '$results'/part-\$SLURM_ARRAY_TASK_ID")
sbatch --parsable --job-name=headway-merge --dependency=afterok:"$array" --output="$results/merge.log" --wrap \
    "$headway sweep merge '$results'/part-*/ -o '$results/whole'"
