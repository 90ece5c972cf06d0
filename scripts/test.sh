#!/usr/bin/env bash
# Every test, each backend in a process of its own, two at a time. All stages run even when one fails; the exit status tells.
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
own=${PYTEST_ADDOPTS-}
export PYTEST_ADDOPTS="$own -p no:nbval"  # notebooks alone need it, and importing it takes seconds
stage check scripts/check.sh
stage "front end" npm --prefix labextension test --silent
stage library "$python" -m pytest tests/core -n 2
stage "server" "$python" -m pytest tests/lab
began=$SECONDS
results=$(mktemp -d)
backend() {
  export OMP_NUM_THREADS=1  # of two processes at a time: threads that wait for each other take turns in spinning
  export MALLOC_PERTURB_=128  # new memory holds 0x7f7f…, so an element that a kernel leaves unwritten is not 0 by luck
  for folder in tests/backend tests/namespace; do
    "$python" -m pytest "$folder" --backend "$1" >>"$results/$1" 2>&1 || touch "$results/$1.failed"
  done
}
export -f backend
export python results
printf '%s\n' $BACKENDS | xargs -P 2 -I{} bash -c 'backend {}'
for backend in $BACKENDS; do
  printf '\n== backend %s\n' "$backend"
  cat "$results/$backend"
  [ ! -e "$results/$backend.failed" ] || failed+=("backend $backend")
done
rm -r "$results"
printf '== backends took %d s\n' $((SECONDS - began))
stage "import orders" "$python" -m pytest tests/orders
stage parity "$python" -m pytest tests/parity
PYTEST_ADDOPTS=$own stage notebooks "$python" -m pytest --nbval-lax --nbval-cell-timeout=300 notebooks
stage browser "$python" -m pytest tests/browser
printf '\nAll stages took %d s.\n' "$SECONDS"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'Failed: %s\n' "${failed[*]}"
  exit 1
fi
