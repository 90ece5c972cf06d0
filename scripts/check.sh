#!/usr/bin/env bash
# Style, types and layering, in Python and TypeScript.
set -eu
"$BIN/ruff" check labdl tests scripts
"$BIN/ruff" format --check labdl tests scripts
"$BIN/lint-imports"
"$BIN/python" scripts/check_cycles.py
"$BIN/pyright" --pythonpath "$BIN/python" labdl
npm --prefix labextension run --silent lint
