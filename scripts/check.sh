#!/usr/bin/env bash
# Style, vocabulary, types and layering, in Python and TypeScript.
set -eu
"$BIN/ruff" check labdl tests scripts
"$BIN/ruff" format --check labdl tests scripts
"$BIN/lint-imports"
"$BIN/python" scripts/check_cycles.py
"$BIN/python" scripts/vocabulary.py --check
"$BIN/pyright" --pythonpath "$BIN/python" labdl
npm --prefix labextension run --silent lint
