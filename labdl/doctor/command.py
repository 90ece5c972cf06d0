"""`labdl doctor`: print what this environment has, what is broken, and the command that mends it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from labdl.doctor import jupyter, software, storage
from labdl.doctor.finding import Finding
from labdl.translation import asked_language, translate

_SIGNS = {"ok": "✓", "note": "–", "broken": "✗"}


def add(commands: argparse._SubParsersAction) -> None:
    """Add the parser of `labdl doctor`."""
    doctor = commands.add_parser(
        "doctor",
        help="check the installation",
        description="Versions, devices, extensions and disk; the exit status is 1 if something is broken.",
    )
    doctor.add_argument(
        "--runs", type=Path, default=Path("runs"), metavar="FOLDER", help="the folder of runs (default: runs)"
    )
    doctor.add_argument(
        "--no-load", dest="load", action="store_false", help="do not import the frameworks, which takes time"
    )
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_run)


def diagnose(runs: Path, *, load: bool = True) -> Iterator[Finding]:
    """All findings about this environment, in the order of the report."""
    yield from software.check_python()
    yield from software.check_packages()
    yield from software.check_frameworks(load=load)
    yield from jupyter.check_jupyter()
    yield from storage.check_runs(runs)


def _run(options) -> int:
    findings = []
    for finding in diagnose(options.runs, load=options.load):
        findings.append(finding)
        if not options.json:
            print("\n".join(_lines(finding)), flush=True)
    count = sum(finding.status == "broken" for finding in findings)
    if options.json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
    else:
        print(_total(count))
    return 1 if count else 0


def _total(count: int) -> str:
    language = asked_language()
    if count == 0:
        return translate("No problems", language)
    return translate("1 problem", language) if count == 1 else translate(f"{count} problems", language)


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{_SIGNS[finding.status]} {finding.topic}: {translate(finding.message, asked_language())}"
    if finding.command:
        yield f"    {finding.command}"
