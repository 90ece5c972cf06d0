"""Processor time and outcome of each test of a stage, written where `--report FILE` says, for the table of `make test`.

A test that compares with a reference which cannot run on this processor calls `leave_out`; the table counts these.
While a test runs, its name stands in `FILE.running`, so that a stage that is ended can say where it was.
"""

import json
import resource
import time
from pathlib import Path

import pytest

_left_out: list[str] = []


def leave_out(comparison: str) -> None:
    """Count a comparison whose reference has no kernel on this processor."""
    _left_out.append(comparison)


def pytest_addoption(parser):
    parser.addoption("--report", type=Path, help="file for the seconds and outcomes of the tests")


def pytest_configure(config):
    if path := config.getoption("--report"):
        config.pluginmanager.register(StageReport(path.absolute()))


def processor_seconds() -> float:
    """Of this process with all its threads, and of its processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class StageReport:
    """Collects one row for each test."""

    def __init__(self, path: Path):
        self.path, self.running = path, path.with_suffix(".running")
        self.tests: dict[str, dict[str, float]] = {}
        self.outcomes: dict[str, str] = {}
        self.repeated: list[str] = []
        self.collected = 0.0

    def pytest_collection_finish(self, session):
        self.collected = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.running.write_text(item.nodeid)
        start, processor = time.monotonic(), processor_seconds()
        try:
            return (yield)
        finally:
            self.tests[item.nodeid] = {
                "seconds": round(time.monotonic() - start, 3),
                "processor": round(processor_seconds() - processor, 3),
            }

    def pytest_runtest_logreport(self, report):
        if report.outcome == "rerun":
            self.repeated.append(report.nodeid)
        elif report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif report.when == "call" or report.skipped:
            self.outcomes.setdefault(report.nodeid, report.outcome)

    def pytest_sessionfinish(self, session, exitstatus):
        outcomes = list(self.outcomes.values())
        report = {
            "passed": outcomes.count("passed"),
            "failed": [name for name, outcome in self.outcomes.items() if outcome == "failed"],
            "skipped": outcomes.count("skipped"),
            "repeated": self.repeated,
            "left_out": sorted(set(_left_out)),
            "collection_processor": round(self.collected, 2),
            "tests": self.tests,
        }
        self.path.write_text(json.dumps(report, indent=0))
        self.running.unlink(missing_ok=True)
