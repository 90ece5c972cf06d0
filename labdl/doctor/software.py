"""Versions of Python and its packages, and the frameworks with the devices they compute on."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import labdl
from labdl import framework_info
from labdl.doctor.finding import Finding, fault

LOAD_SECONDS = 180.0  # within which a framework must have been imported
_LIST_DEVICES = """\
import json, sys
import labdl
print(json.dumps(labdl.backends.devices(sys.argv[1])))
"""


def check_python() -> Iterator[Finding]:
    """LabDL, the interpreter and NumPy."""
    yield Finding("LabDL", labdl.__version__)
    yield Finding("Python", f"{platform.python_version()}, {sys.executable}, {platform.platform()}")
    yield Finding("NumPy", np.__version__)


def check_packages() -> Iterator[Finding]:
    """Packages that LabDL depends on: each must be installed, in a version that LabDL accepts."""
    try:
        from packaging.requirements import Requirement  # of JupyterLab, pip and most frameworks; not of LabDL
    except ImportError:
        return
    try:
        lines = importlib.metadata.requires("labdl") or []
    except importlib.metadata.PackageNotFoundError:  # a checkout on the path
        yield Finding("packages", "LabDL is not installed but imported from a folder", "note", "pip install -e .")
        return
    for requirement in map(Requirement, lines):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = _version(requirement.name)
        needed = f"{requirement.name}{requirement.specifier}"
        if version is None:
            yield fault("packages", f"{requirement.name} is not installed", f'pip install "{needed}"')
        elif not requirement.specifier.contains(version, prereleases=True):
            yield fault("packages", f"{requirement.name} {version} is not {needed}", f'pip install "{needed}"')


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_frameworks(*, load: bool = True) -> Iterator[Finding]:
    """Each framework with its version and, unless `load` is false, its devices, for which a process imports it."""
    installed = [name for name in framework_info.TRAINING if framework_info.is_installed(name)]
    if not installed:
        yield fault("frameworks", "none is installed, and LabDL trains on one of them", 'pip install "labdl[torch]"')
    for name in framework_info.TRAINING:
        facts = framework_info.FACTS[name]
        version = framework_info.metadata_version(name)
        if name not in installed:
            yield Finding(facts.title, "not installed", "note", facts.install_command)
        elif problem := framework_info.problem(name):
            message, _, command = problem.rpartition(": ")
            yield fault(facts.title, f"{version}: {message}", command)
        elif load:
            yield _load(name, version)
        else:
            yield Finding(facts.title, str(version))


def _load(name: str, version: str | None) -> Finding:
    """Import a framework in a process of its own: a broken one may end it, and some pairs cannot share one."""
    facts = framework_info.FACTS[name]
    again = f"pip install --force-reinstall --no-deps {facts.distributions[0]}"
    command = [sys.executable, "-c", _LIST_DEVICES, name]
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LOAD_SECONDS)
    except subprocess.TimeoutExpired:
        return fault(facts.title, f"{version}: its import takes more than {LOAD_SECONDS:.0f} seconds", again)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or [f"the process ended with status {result.returncode}"])[-1]
        return fault(facts.title, f"{version} cannot be imported: {reason:.300}", again)
    devices = json.loads(result.stdout.splitlines()[-1])  # a framework may print while it is imported
    return Finding(facts.title, f"{version} on {', '.join(devices)}")
