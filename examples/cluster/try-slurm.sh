#!/usr/bin/env bash
# Tries slurm.sh: Debian's slurm with one node, this one (needs root). The results have to
# be those of one process, byte for byte.
set -euo pipefail
here=$(dirname "$(realpath "$0")") folder=$(realpath -m "$1")/slurm
if ! command -v slurmctld > /dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq slurmctld slurmd slurm-client munge > /dev/null
fi
mkdir -p "$folder" && chmod 755 "$folder" && cd "$folder"
"$HEADWAY" sweep "$here/sweep.toml" -o alone > alone.log

host=$(hostname -s)
mkdir -p state spool
cat > slurm.conf <<CONF
ClusterName=headway
SlurmctldHost=$host
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
mkdir -p /run/munge && chown munge: /run/munge
munged=
if ! pgrep -x munged > /dev/null; then
    runuser -u munge -- /usr/sbin/munged --foreground &
    munged=$!
    sleep 1
fi
/usr/sbin/slurmctld
/usr/sbin/slurmd
trap 'scontrol shutdown > /dev/null 2>&1 || true; [ ! -f "$folder/slurmd.pid" ] || kill "$(cat "$folder/slurmd.pid")" 2> /dev/null || true; [ -z "$munged" ] || kill "$munged"' EXIT
for _ in {1..60}; do sinfo -h -o %T 2> /dev/null | grep -q idle && break || sleep 0.5; done
last=$("$here/slurm.sh" "$here/sweep.toml" 7 results)
for _ in {1..240}; do [ -n "$(squeue -h -j "$last" 2> /dev/null)" ] || break; sleep 0.5; done
cmp alone/cells.csv results/whole/cells.csv
echo 'Slurm: the same, byte for byte'
