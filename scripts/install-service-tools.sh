#!/usr/bin/env bash
# What the tests of the service use beside Rust: network namespaces (iproute2), a
# clock that jumps (libfaketime) and servers to restart (Redis). Installs what is
# missing and is quick when nothing is. Prints one line per tool:
#   ip PATH | faketime PATH_OF_THE_LIBRARY | redis PATH | python PATH
# or `missing TOOL: WHAT TO INSTALL`.
set -uo pipefail

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install() {
  command -v apt-get >/dev/null || return 1
  as_root apt-get install -y -qq "$@" >/dev/null 2>&1 && return
  as_root apt-get update -qq >/dev/null 2>&1
  as_root apt-get install -y -qq "$@" >/dev/null 2>&1
}

library() { find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -1; }

wanted=()
command -v ip >/dev/null || wanted+=(iproute2)
command -v python3 >/dev/null || wanted+=(python3)
[ -n "$(library)" ] || wanted+=(faketime)
# The server's own service is not wanted: the package would start one.
command -v redis-server >/dev/null || wanted+=(redis-server)
[ ${#wanted[@]} = 0 ] || RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive install "${wanted[@]}"

tell() { if [ -n "$2" ]; then echo "$1 $2"; else echo "missing $1: $3"; fi; }
tell ip "$(command -v ip)" 'install iproute2 (Debian: apt-get install iproute2)'
tell python "$(command -v python3)" 'install Python 3 (Debian: apt-get install python3)'
tell faketime "$(library)" 'install libfaketime (Debian: apt-get install faketime)'
tell redis "$(command -v redis-server)" 'install Redis (Debian: apt-get install redis-server)'
