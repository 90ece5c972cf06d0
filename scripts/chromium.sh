#!/usr/bin/env bash
# Makes sure that there is a Chromium for the browser tests: the machine's own, else Debian's package.
set -eu
if [ -n "${LABDL_CHROMIUM:-}" ] || command -v chromium >/dev/null; then exit 0; fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "The browser tests need Chromium: install it ('apt-get install chromium'), or set LABDL_CHROMIUM to its path." >&2
exit 1
