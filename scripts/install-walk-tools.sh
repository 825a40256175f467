#!/usr/bin/env bash
# Installs what the walk tests compare with: NetworkX and pydot, in a Python virtual
# environment below target/. Does nothing when they are there. Prints the Python to use.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/walk-tools/venv
python="$venv/bin/python"
if ! "$python" -c 'import networkx, pydot' 2>/dev/null; then
    if ! command -v python3 >/dev/null; then
        echo 'python3 is missing: install Python 3.11 or later (Debian: apt-get install python3-venv)' >&2
        exit 1
    fi
    mkdir -p target/walk-tools
    # Two test runs at once must not build one environment together.
    exec 9>target/walk-tools/lock
    flock 9 2>/dev/null || true
    if ! "$python" -c 'import networkx, pydot' 2>/dev/null; then
        python3 -m venv "$venv" >&2
        "$python" -m pip install --quiet --disable-pip-version-check 'networkx>=3.4' pydot >&2
    fi
fi
echo "$PWD/$python"
