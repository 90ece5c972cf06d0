#!/usr/bin/env python3
"""Run the tests in stages, two at a time and the browser beside them, and print what each took.

    python scripts/run_stages.py [--breadth full] [--stages "mindspore browser"] [--paths "ops data"] [--changed [BASE]]

Each stage is a process of its own; all run, even when one fails. `tests/budget.toml` has the seconds of the processor that a
stage may take. Output is kept in build/logs, the table in build/test-times.json. `--paths` selects folders of the tests
by name, `--changed` those of what differs from a commit. What still runs after the time limit is ended and named.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
BACKENDS = ("mindspore", "tensorflow", "paddle", "torch")
LIMIT = {"sample": 4500.0, "full": 12 * 3600.0}  # seconds: CI ends all, the installation too, after 5,400
GRACE = 20.0  # seconds between asking a stage to print its stacks and ending it


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of the tests that runs in a process of its own."""

    name: str
    paths: tuple[str, ...] = ()  # of tests, for pytest
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # instead of pytest
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    one_core: bool = False
    full_only: bool = False  # not in the sample

    def report_file(self) -> Path:
        return BUILD / "stages" / f"{self.name}.json"

    def log_file(self) -> Path:
        return BUILD / "logs" / f"{self.name}.log"

    def arguments(self, breadth: str) -> list[str]:
        """The command line."""
        if self.command:
            return list(self.command)
        plugins = ["-p", "no:rerunfailures", "-p", "no:nbval"]
        if self.name == "browser":
            plugins = ["--reruns", "1", "-p", "no:nbval"]  # once more: a page may be slow on a busy machine
        if self.name == "notebooks":
            plugins = ["-p", "no:rerunfailures", "--nbval-lax", "--nbval-cell-timeout=300"]
        pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--breadth", breadth]
        return [*pytest, "--report", str(self.report_file()), *plugins, *self.options, *self.paths]


def all_stages() -> list[Stage]:
    """Every stage, those that take longest first."""

    def backend(name: str) -> Stage:
        # new memory holds 0x7f7f…, so an element that a kernel leaves unwritten is not 0 by luck. Array namespaces come last,
        # for they change what infix operators mean in the whole process. MindSpore's threads wait for each other by yielding:
        # on one core, its tests of operators take a third less of the processor.
        return Stage(
            name,
            ("tests/backend", "tests/namespace"),
            ("--backend", name),
            variables={"MALLOC_PERTURB_": "128"},
            one_core=name == "mindspore",
        )

    return [
        Stage("browser", ("tests/browser",)),
        backend("mindspore"),
        Stage("library", ("tests/core",)),
        backend("tensorflow"),
        Stage("server", ("tests/lab",)),
        backend("paddle"),
        backend("torch"),
        Stage("check", command=("scripts/check.sh",)),
        Stage(
            "types",
            command=(f"{Path(sys.executable).parent}/pyright", "--pythonpath", sys.executable, "labdl"),
            full_only=True,
        ),
        Stage("notebooks", ("notebooks", "tests/documents")),
        Stage("parity", ("tests/parity",)),
        Stage("import-orders", ("tests/orders",)),
        Stage("front-end", command=("npm", "--prefix", "labextension", "test", "--silent")),
    ]


@dataclasses.dataclass
class Outcome:
    """What became of a stage."""

    seconds: float = 0.0
    processor: float = 0.0
    tests: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    repeated: list[str] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)  # comparisons whose reference cannot run here
    slowest: dict[str, float] = dataclasses.field(default_factory=dict)


class Runner:
    """Runs stages as processes, until a deadline."""

    def __init__(self, breadth: str, deadline: float):
        self.breadth, self.deadline = breadth, deadline
        self.outcomes: dict[str, Outcome] = {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.output = threading.Lock()

    def run(self, stages: Sequence[Stage]) -> None:
        """All stages: the browser, which waits for most of its time, beside two lanes of others."""
        waiting = [stage for stage in stages if stage.name != "browser"]
        lock = threading.Lock()

        def lane() -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    stage = waiting.pop(0)
                self.run_stage(stage)

        threads = [threading.Thread(target=lane) for _ in range(2)]
        threads += [threading.Thread(target=self.run_stage, args=[s]) for s in stages if s.name == "browser"]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            waiting.clear()
            for process in list(self.processes.values()):
                kill_group(process, signal.SIGKILL)
            raise

    def run_stage(self, stage: Stage) -> None:
        for file in (stage.report_file(), stage.report_file().with_suffix(".running")):
            file.unlink(missing_ok=True)
        start = time.monotonic()
        with open(stage.log_file(), "wb") as log:
            process = subprocess.Popen(
                stage.arguments(self.breadth),
                cwd=ROOT,
                env=environment(stage),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=use_one_core if stage.one_core else None,
            )
            self.processes[stage.name] = process
            ended = threading.Event()
            threading.Thread(target=self.end_at_deadline, args=[process, ended], daemon=True).start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            ended.set()
            kill_group(process, signal.SIGKILL)  # what it has left running
        outcome = outcome_of(stage, process.returncode)
        outcome.seconds, outcome.processor = time.monotonic() - start, usage.ru_utime + usage.ru_stime
        self.outcomes[stage.name] = outcome
        with self.output:
            print_stage(stage, outcome)

    def end_at_deadline(self, process: subprocess.Popen, ended: threading.Event) -> None:
        """Have pytest print its stacks when the time is over, then end the stage."""
        if not ended.wait(max(self.deadline - time.monotonic(), 0)):
            os.kill(process.pid, signal.SIGABRT)
            if not ended.wait(GRACE):
                kill_group(process, signal.SIGKILL)


def kill_group(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # all of it has ended
        os.killpg(process.pid, number)


def use_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def environment(stage: Stage) -> dict[str, str]:
    variables = dict(os.environ)
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would each compile LabDL's modules again
    variables["BIN"] = str(Path(sys.executable).parent)
    variables["OMP_NUM_THREADS"] = "1"  # threads of several processes that wait for each other take turns in spinning
    return variables | stage.variables


def outcome_of(stage: Stage, status: int) -> Outcome:
    """Tests and failures of a stage that has ended, from what it has written."""
    outcome = Outcome()
    text = stage.log_file().read_text(encoding="utf-8", errors="replace")
    if stage.report_file().exists():
        report = json.loads(stage.report_file().read_text())
        outcome.tests = report["passed"] + len(report["failed"])
        outcome.failed, outcome.repeated = report["failed"], report["repeated"]
        outcome.left_out = report["left_out"]
        slowest = sorted(report["tests"].items(), key=lambda row: -row[1]["processor"])
        outcome.slowest = {name: row["processor"] for name, row in slowest[:20]}
    elif counts := re.search(r"^Tests: .*?(\d+) total$", text, re.MULTILINE):
        outcome.tests = int(counts[1])
    running = stage.report_file().with_suffix(".running")
    if status and running.exists():
        outcome.failed = [*outcome.failed, f"{running.read_text()} (was running when the stage ended)"]
    if status and not outcome.failed:
        outcome.failed = [f"exit status {status}"]
    if not status and not outcome.tests and not stage.command:
        outcome.failed = ["no test ran"]
    return outcome


def print_stage(stage: Stage, outcome: Outcome) -> None:
    """The end of the output of a stage; all of it when it has failed."""
    lines = stage.log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    print(f"\n== {stage.name}")
    dots = re.compile(r"[.sxXFER]+ *\[ *\d+%\]|PASS .*")
    shown = [line for line in lines if not dots.fullmatch(line)]
    print("\n".join(shown if outcome.failed else shown[-6:]))
    print(f"== {stage.name} took {outcome.seconds:.0f} s, {outcome.processor:.0f} s of the processor", flush=True)


def table(outcomes: dict[str, Outcome], budget: dict[str, float]) -> Iterator[str]:
    """A line for each stage."""
    yield f"{'stage':<15}{'wall s':>8}{'processor s':>13}{'budget':>8}{'tests':>8}{'failed':>8}{'repeated':>10}{'left out':>10}"
    for name, outcome in outcomes.items():
        over = outcome.processor > 1.5 * budget.get(name, float("inf"))
        counts = (outcome.tests, len(outcome.failed), len(outcome.repeated), len(outcome.left_out))
        columns = "".join(f"{count:>{width}}" for count, width in zip(counts, (8, 8, 10, 10), strict=True))
        times = f"{outcome.seconds:>8.0f}{outcome.processor:>13.0f}{budget.get(name, 0):>8.0f}"
        yield f"{name:<15}{times}{columns}{'  above its budget by half' if over else ''}"


def narrow(stages: list[Stage], names: Sequence[str], folders: Sequence[str]) -> list[Stage]:
    """The stages of these names, each with the folders of its tests that have one of these names."""
    known = [stage.name for stage in stages]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"There is no stage {', '.join(unknown)}. Stages: {', '.join(known)}")
    stages = [stage for stage in stages if not names or stage.name in names]
    if not folders:
        return stages
    selected = []
    for stage in stages:
        paths = [str(Path(base, name)) for base in stage.paths for name in folders if (ROOT / base / name).exists()]
        paths += [base for base in stage.paths if Path(base).name in folders]
        if paths:
            selected.append(dataclasses.replace(stage, paths=tuple(paths)))
        elif stage.command and names:
            selected.append(stage)
    if not selected:
        sys.exit(f"No stage has tests in folders named {', '.join(folders)}.")
    return selected


def changed_folders(base: str) -> list[str]:
    """Names of the folders of tests that belong to what differs from a commit."""
    answer = subprocess.run(
        ["git", "diff", "--name-only", base, "--"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        sys.exit(f"Cannot compare with {base!r}: {answer.stderr.strip()} Name a commit: make test-changed BASE=...")
    names = set()
    for path in map(Path, answer.stdout.splitlines()):
        if path.parts[0] == "labdl" and len(path.parts) > 2:
            names.add(path.parts[2] if path.parts[1] == "lab" and len(path.parts) > 3 else path.parts[1])
        elif path.parts[0] == "tests" and len(path.parts) > 3:
            names.add(path.parts[2])
        elif path.parts[0] == "tests" and len(path.parts) > 2:
            names.add(path.parts[1])
        elif path.parts[0] == "labextension":
            names.add("browser")
        elif path.parts[0] in ("docs", "notebooks"):
            names |= {"documents", "notebooks"}
    return sorted(names)


def current_commit() -> str:
    answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--breadth", choices=("sample", "full"), default="sample")
    parser.add_argument("--stages", default="", help="names of stages, separated by spaces")
    parser.add_argument("--paths", default="", help="names of folders below tests/*, separated by spaces")
    parser.add_argument("--changed", nargs="?", const="origin/main", help="folders that differ from this commit")
    options = parser.parse_args()
    folders = [*options.paths.split(), *(changed_folders(options.changed) if options.changed else [])]
    if options.changed and not folders:
        print(f"Nothing with tests differs from {options.changed}.")
        return 0
    stages = [stage for stage in all_stages() if options.breadth == "full" or not stage.full_only]
    stages = narrow(stages, options.stages.split(), folders)
    budget = tomllib.loads((ROOT / "tests" / "budget.toml").read_text())["processor_seconds"]
    for folder in ("stages", "logs"):
        shutil.rmtree(BUILD / folder, ignore_errors=True)
        (BUILD / folder).mkdir(parents=True)
    start = time.monotonic()
    runner = Runner(options.breadth, start + LIMIT[options.breadth])
    runner.run(stages)
    seconds = time.monotonic() - start
    outcomes = {stage.name: runner.outcomes[stage.name] for stage in stages}
    record = {
        "commit": current_commit(),
        "breadth": options.breadth,
        "seconds": round(seconds, 1),
        "stages": {name: dataclasses.asdict(outcome) for name, outcome in outcomes.items()},
    }
    (BUILD / "test-times.json").write_text(json.dumps(record, indent=1))
    print(f"\n{options.breadth} breadth", *table(outcomes, budget if options.breadth == "sample" else {}), sep="\n")
    processor = sum(outcome.processor for outcome in outcomes.values())
    print(f"All stages took {seconds:.0f} s, {processor:.0f} s of the processor.")
    for name, outcome in outcomes.items():
        for test in outcome.repeated:
            print(f"Repeated: {name}: {test}")
    failed = [(name, test) for name, outcome in outcomes.items() for test in outcome.failed]
    for name, test in failed:
        print(f"Failed: {name}: {test}")
    passed = sum(outcome.tests - len(outcome.failed) for outcome in outcomes.values())
    print(f"{max(passed, 0)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
