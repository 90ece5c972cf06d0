#!/usr/bin/env bash
# Every test, each backend in a process of its own. All stages run even when one fails; the exit status tells.
set -u
failed=()
stage() {
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
  printf '== %s took %d s\n' "$name" $((SECONDS - began))
}
python="$BIN/python"
stage check scripts/check.sh
stage "front end" npm --prefix labextension test --silent
stage library "$python" -m pytest tests/core tests/lab
for backend in $BACKENDS; do
  stage "backend $backend" "$python" -m pytest tests/backend --backend "$backend"
done
stage "import orders" "$python" -m pytest tests/orders
stage parity "$python" -m pytest tests/parity
stage notebooks "$python" -m pytest --nbval-lax --nbval-cell-timeout=300 notebooks
stage browser "$python" -m pytest tests/browser
printf '\nAll stages took %d s.\n' "$SECONDS"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'Failed: %s\n' "${failed[*]}"
  exit 1
fi
