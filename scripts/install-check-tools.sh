#!/usr/bin/env bash
# SPIN and Storm, with which the exported models are checked. Installs what is
# missing and is quick when nothing is. Prints one line per tool:
#   spin PATH
#   storm PATH   (a Python that has stormpy)
# or `missing TOOL: WHY` for a tool that cannot be had here.
set -uo pipefail
cd "$(dirname "$0")/.."
case "${CARGO_TARGET_DIR:-target}" in /*) target=$CARGO_TARGET_DIR ;; *) target=$PWD/${CARGO_TARGET_DIR:-target} ;; esac
venv="$target/tools/storm"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_spin() {
  command -v apt-get >/dev/null || return 1
  as_root apt-get install -y -qq spin gcc libc6-dev >/dev/null 2>&1 && return
  as_root apt-get update -qq >/dev/null 2>&1
  as_root apt-get install -y -qq spin gcc libc6-dev >/dev/null 2>&1
}

if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then install_spin; fi
if command -v spin >/dev/null && command -v gcc >/dev/null; then
  echo "spin $(command -v spin)"
else
  echo "missing spin: install SPIN and a C compiler (Debian: apt-get install spin gcc)"
fi

if ! "$venv/bin/python" -c 'import stormpy' 2>/dev/null; then
  mkdir -p "$(dirname "$venv")"
  python3 -m venv "$venv" 2>/dev/null && "$venv/bin/pip" install -q 'stormpy==2.0.0' >/dev/null 2>&1
fi
if "$venv/bin/python" -c 'import stormpy' 2>/dev/null; then
  echo "storm $venv/bin/python"
else
  echo "missing storm: install Python 3.9 or newer with venv, then stormpy 2.0.0 (pip install stormpy)"
fi
