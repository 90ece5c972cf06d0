"""Which frameworks this environment has, and in which order one process can load them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

# A backend is found by listing the folder: adding one is adding a file.
_FOLDER = Path(__file__).parent / "backends"
NAMES = tuple(sorted(p.stem for p in _FOLDER.iterdir() if p.name[0] not in "_."))

PREFERENCE = ("torch", "tensorflow", "paddle", "mindspore", "numpy")

# What cannot be loaded after what: with TensorFlow's symbols in the process Paddle crashes while it loads, and with
# Paddle's oneDNN in place of its own MindSpore does not find a symbol. The other pairs, and torch, go in any order.
NOT_AFTER = {"paddle": ("tensorflow",), "mindspore": ("paddle",)}
LOAD_ORDER = ("mindspore", "paddle", "tensorflow")  # agrees with the above

_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "paddle": ("paddlepaddle", "paddlepaddle-gpu")}


def installed(name: str) -> bool:
    """Whether a framework can be found; nothing is imported."""
    if name == "numpy" or sys.modules.get(name) is not None:
        return True
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None  # None: a mere folder of that name, such as ./paddle


def metadata_version(name: str) -> str | None:
    """Version of an installed framework, read without importing it; None when it is not installed."""
    from importlib import metadata  # here, because it takes a fifth of the time that labdl takes to import

    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def available() -> dict[str, str]:
    """Each backend with its version, or with what to do to have it."""
    return {name: metadata_version(name) or f"not installed: pip install labdl[{name}]" for name in PREFERENCE}


def problem(name: str) -> str | None:
    """Why this environment cannot run a backend, in a sentence; None when it can."""
    if name not in NAMES:
        return f"unknown backend {name!r}: choose one of {', '.join(NAMES)}"
    if not installed(name):
        return f"backend {name!r} is not installed: pip install labdl[{name}]"
    if name == "mindspore" and int(np.__version__.partition(".")[0]) > 1:
        return f"MindSpore is built for NumPy 1 and fails with NumPy {np.__version__}: pip install numpy==1.26.4"
    return None


def too_late(name: str) -> str | None:
    """Why this process cannot load a backend any more, and what to do, in a sentence; None when it can."""
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
