#!/usr/bin/env bash
# Style, vocabulary, types and layering, in Python and TypeScript. Types by pyrefly; `make types` has pyright, which takes minutes.
set -eu
"$BIN/ruff" check labdl tests scripts
"$BIN/ruff" format --check labdl tests scripts
"$BIN/lint-imports"
"$BIN/python" scripts/check_cycles.py
"$BIN/python" scripts/vocabulary.py --check
"$BIN/pyrefly" check --python-interpreter-path "$BIN/python" --output-format min-text --min-severity error
npm --prefix labextension run --silent lint
