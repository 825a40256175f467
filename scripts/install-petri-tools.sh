#!/usr/bin/env bash
# Installs the tools that other people wrote and that the tests of headway-petri
# use: jing and xmllint (Debian packages jing, libxml2-utils) and, in a virtual
# environment below target/petri-tools, pm4py and SNAKES (PyPI). Does nothing for
# what is there already. Says on standard error what it could not have.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=target/petri-tools
mkdir -p "$folder"
status=0

missing=()
command -v jing >/dev/null || missing+=(jing)
command -v xmllint >/dev/null || missing+=(libxml2-utils)
if ((${#missing[@]})); then
    if command -v apt-get >/dev/null && ((EUID == 0)); then
        { apt-get update -qq && apt-get install -y -qq "${missing[@]}"; } >"$folder/apt.log" 2>&1 || {
            echo "could not install ${missing[*]} with apt-get; see $folder/apt.log" >&2
            status=1
        }
    else
        echo "install the packages ${missing[*]} (as root: apt-get install ${missing[*]})" >&2
        status=1
    fi
fi

python=$folder/venv/bin/python
if ! { [[ -x $python ]] && "$python" -c 'import pm4py, snakes, numpy' >/dev/null 2>&1; }; then
    { python3 -m venv "$folder/venv" && "$python" -m pip install --quiet pm4py SNAKES numpy; } \
        >"$folder/pip.log" 2>&1 || {
        echo "could not install pm4py and SNAKES with pip; see $folder/pip.log" >&2
        status=1
    }
fi
exit "$status"
