#!/usr/bin/env bash
# Every test, two stages at a time, the longest first; beside them the browser, which waits for most of its time.
# All stages run even when one fails; the exit status tells. Each reports its seconds, and those of the processor.
# What still runs after 77 minutes is ended, in time to report it within the 90 of continuous integration, which also
# installs; pytest then prints where each of its threads was.
set -u
start=$(date +%s)
export start
export python="$BIN/python" own=${PYTEST_ADDOPTS-}
export PYTEST_ADDOPTS="$own -p no:nbval"  # notebooks alone need it, and importing it takes seconds
results=$(mktemp -d)
export results

# MindSpore's threads wait for each other by yielding: on one core, tests of operators take a third less of the processor.
on_one_core() (
  if command -v taskset >/dev/null; then
    taskset --cpu-list --pid "$(taskset --cpu-list --pid $BASHPID | sed 's/.*: //; s/[-,].*//')" $BASHPID >/dev/null
  fi
  "$@"
)

pytest() {
  local left=$((start + 77 * 60 - $(date +%s)))
  timeout --foreground --signal=ABRT --kill-after=20 "$((left > 1 ? left : 1))" "$python" -m pytest "$@"
}

stage_command() {
  case $1 in
    check) scripts/check.sh ;;
    "front end") npm --prefix labextension test --silent ;;
    library) pytest tests/core ;;
    server) pytest tests/lab ;;
    # new memory holds 0x7f7f…, so an element that a kernel leaves unwritten is not 0 by luck; array namespaces come last,
    # for they change what infix operators mean in the whole process
    backend\ mindspore) MALLOC_PERTURB_=128 on_one_core pytest tests/backend tests/namespace --backend mindspore ;;
    backend\ *) MALLOC_PERTURB_=128 pytest tests/backend tests/namespace --backend "${1#backend }" ;;
    "import orders") pytest tests/orders ;;
    notebooks) PYTEST_ADDOPTS=$own pytest --nbval-lax --nbval-cell-timeout=300 notebooks tests/documents ;;
    parity) pytest tests/parity ;;
    browser) pytest tests/browser ;;
  esac
}

run_stage() {
  local real user system TIMEFORMAT='%0R %0U %0S'
  { time stage_command "$1" >"$results/$1.log" 2>&1; } 2>"$results/$1.time" || touch "$results/$1.failed"
  read -r real user system <"$results/$1.time"
  {
    flock 9
    printf '\n== %s\n' "$1"
    cat "$results/$1.log"
    printf '== %s took %d s, %d s of the processor\n' "$1" "$real" $((user + system))
  } 9>"$results/lock"
}
export -f on_one_core pytest stage_command run_stage

export OMP_NUM_THREADS=1  # of several processes at a time: threads that wait for each other take turns in spinning
run_stage browser &
{
  # MindSpore, the first backend, takes the longest; the library as long as another backend
  printf 'backend %s\n' $BACKENDS | sed '2a library'
  printf '%s\n' parity server notebooks check "import orders" "front end"
} | xargs -d '\n' -P 2 -I{} bash -c 'run_stage "$1"' - {}
wait

printf '\nAll stages took %d s.\n' "$SECONDS"
failed=$(find "$results" -name '*.failed' -printf '%f\n' | sed 's/\.failed$//' | sort | paste -sd, | sed 's/,/, /g')
rm -r "$results"
if [ -n "$failed" ]; then
  printf 'Failed: %s\n' "$failed"
  exit 1
fi
