"""Installed frameworks, and the order in which one process can load them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np

from labdl import habits
from labdl.backends.facts import FrameworkFacts

_FOLDER = Path(__file__).parent / "backends"

FACTS: dict[str, FrameworkFacts] = {
    path.parent.name: importlib.import_module(f"labdl.backends.{path.parent.name}.facts").FACTS
    for path in sorted(_FOLDER.glob("*/facts.py"))
}
"""Facts about each framework, found by listing the folder `labdl.backends`: adding a backend is adding a folder."""

NAMES = tuple(FACTS)
PREFERENCE = tuple(sorted(NAMES, key=lambda name: FACTS[name].preference))
"""All backends, the default one first."""

TRAINING = tuple(name for name in PREFERENCE if FACTS[name].trains)
"""The backends that train, the default one first."""

NOT_AFTER = {name: facts.load_before for name, facts in FACTS.items() if facts.load_before}
"""For each backend those whose frameworks must not be loaded before it. Other pairs can be loaded in any order."""


def _load_order() -> tuple[str, ...]:
    order = TopologicalSorter()
    for name in sorted(NOT_AFTER):
        for other in NOT_AFTER[name]:
            order.add(other, name)
    return tuple(order.static_order())


LOAD_ORDER = _load_order()
"""An order of the backends in `NOT_AFTER` in which one process can load them."""

OWNERS = {root: name for name, facts in FACTS.items() for root in (name, *facts.class_roots)}
"""Backend of the modules (layers) of a top-level package."""


def is_installed(name: str) -> bool:
    """Check whether a framework is installed, without importing it."""
    if name == "numpy" or sys.modules.get(name) is not None:
        return True
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None  # None: only a folder of that name, such as ./paddle


def metadata_version(name: str) -> str | None:
    """Version of an installed framework, read without importing it; None when it is not installed."""
    from importlib import metadata  # imported here: it takes a fifth of the import time of labdl

    for distribution in FACTS[name].distributions if name in FACTS else ():
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def available() -> dict[str, str]:
    """Each backend with its version, or with the command that installs it."""
    return {name: metadata_version(name) or f"not installed: {FACTS[name].install_command}" for name in PREFERENCE}


def problem(name: str) -> str | None:
    """Message why this environment cannot run a backend; None if it can."""
    if name not in NAMES:
        return f"unknown backend {name!r}: choose one of {', '.join(NAMES)}{habits.backend_hint(name)}"
    facts = FACTS[name]
    if not is_installed(name):
        return f"backend {name!r} is not installed: {facts.install_command}"
    if facts.built_for_numpy and _major(np.__version__) > _major(facts.built_for_numpy):
        return (
            f"{facts.title} is built for NumPy {_major(facts.built_for_numpy)} and fails with NumPy {np.__version__}: "
            f"pip install numpy=={facts.built_for_numpy}"
        )
    return None


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def too_late(name: str) -> str | None:
    """Message why this process can no longer load a backend, and what to do; None if it can."""
    early = [n for n in NOT_AFTER.get(name, ()) if n in sys.modules]
    if not early or name in sys.modules:
        return None
    order = ",".join(n for n in LOAD_ORDER if n == name or n in sys.modules)
    return (
        f"{name} cannot be loaded after {' and '.join(early)} in one process: restart the kernel and call "
        f"labdl.use({name!r}) first, before anything imports {' or '.join(early)}, or set LABDL_BACKENDS={order}"
    )


def in_load_order(names) -> list[str]:
    """The names in an order in which one process can load them all."""
    return sorted(names, key=lambda n: (LOAD_ORDER.index(n) if n in LOAD_ORDER else len(LOAD_ORDER), n))


def installed_backends() -> list[str]:
    """The frameworks of this environment, in an order in which one process can load them all."""
    return in_load_order(n for n in NAMES if problem(n) is None)
