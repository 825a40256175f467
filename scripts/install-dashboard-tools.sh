#!/usr/bin/env bash
# Chromium, in which the tests of the dashboard open its page. Installs it if it is
# missing (Debian package) and prints its path, or says on standard error what to
# install and exits with 1.
set -uo pipefail

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if ! find_chromium; then
    if command -v apt-get >/dev/null; then
        as_root apt-get install -y -qq chromium >/dev/null 2>&1 || {
            as_root apt-get update -qq >/dev/null 2>&1
            as_root apt-get install -y -qq chromium >/dev/null 2>&1
        }
    fi
    find_chromium || {
        echo 'install Chromium (Debian: apt-get install chromium)' >&2
        exit 1
    }
fi
