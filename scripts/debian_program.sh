#!/usr/bin/env bash
# Makes sure that there is a program of Debian: debian_program.sh NAME "what needs it". Chromium may be elsewhere, in LABDL_CHROMIUM.
set -eu
if command -v "$1" >/dev/null; then exit 0; fi
if [ "$1" = chromium ] && [ -n "${LABDL_CHROMIUM:-}" ]; then exit 0; fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null && exit 0
fi
echo "$2 $1: install it ('apt-get install $1')$([ "$1" != chromium ] || echo ", or set LABDL_CHROMIUM to its path")." >&2
exit 1
