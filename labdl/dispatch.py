"""Which backend owns a tensor, which backend is the default at the edges, and in which order backends may be loaded."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from labdl.errors import BackendError
from labdl.spec import Spec

# A backend is found by listing the folder: adding one is adding a file.
_FOLDER = Path(__file__).parent / "backends"
NAMES = tuple(sorted(p.stem for p in _FOLDER.iterdir() if p.name[0] not in "_."))

# Loading these in any other order ends in a crash or an undefined symbol of their bundled oneDNN; the rest go anywhere.
LOAD_ORDER = ("mindspore", "paddle", "tensorflow")
PREFERENCE = ("torch", "tensorflow", "paddle", "mindspore", "numpy")

_loaded: dict[str, ModuleType] = {}
_owners: dict[type, Any] = {}
_default: str | None = None
_seed: int | None = None


def owner_of_type(kind: type):
    """The backend (or interpreter, such as shape inference) that computes with this type, or None."""
    owner = _owners.get(kind)
    if owner is None:
        for base in kind.__mro__[1:]:
            if base in _owners:
                owner = _owners[kind] = _owners[base]
                break
    return owner


def claim(kind: type, owner) -> None:
    """Declare that tensors of this type belong to ``owner``, which has ``name`` and ``implementation(operator)``."""
    _owners[kind] = owner


def _tensors(values):
    for value in values:
        if isinstance(value, list | tuple):
            yield from _tensors(value)
        elif value is not None and owner_of_type(type(value)) is not None:
            yield value


def owner(*values):
    """The owner of the tensors among ``values`` (lists are searched); NumPy arrays and numbers go with any other."""
    found: Any = None
    for value in _tensors(values):
        candidate: Any = owner_of_type(type(value))
        if candidate is found or candidate.name == "numpy":
            continue
        if found is None or (candidate.name in ("spec", "symbol") and found.name not in ("symbol",)):
            found = candidate
        elif found.name not in ("spec", "symbol"):
            raise TypeError(
                f"tensors of two backends in one operator: {found.name} and {candidate.name}; "
                f"convert one with labdl.tensor(labdl.to_numpy(t), backend={found.name!r})"
            )
    return found or load("numpy")


def installed(name: str) -> bool:
    return name == "numpy" or importlib.util.find_spec(name) is not None


def load(name: str) -> ModuleType:
    """The backend's module, imported on first use in an order that cannot crash."""
    backend = _loaded.get(name)
    if backend is not None:
        return backend
    _check(name)
    wanted = {n.strip() for n in os.environ.get("LABDL_BACKENDS", "").split(",") if n.strip()}
    for other in sorted(wanted | {name}, key=lambda n: LOAD_ORDER.index(n) if n in LOAD_ORDER else 99):
        if other not in _loaded:
            _check(other)
            _import(other)
    return _loaded[name]


def problem(name: str) -> str | None:
    """Why this environment cannot run a backend, in a sentence; None when it can."""
    if name not in NAMES:
        return f"unknown backend {name!r}: choose one of {', '.join(NAMES)}"
    if not installed(name):
        return f"backend {name!r} is not installed: pip install labdl[{name}]"
    numpy = metadata_version("numpy") or ""
    if name == "mindspore" and numpy.startswith("2."):
        return f"MindSpore is built for NumPy 1 and fails with NumPy {numpy}: pip install numpy==1.26.4"
    return None


def _check(name: str) -> None:
    reason = problem(name)
    if reason:
        raise BackendError(reason)
    if name in LOAD_ORDER and name not in sys.modules:
        later = [n for n in LOAD_ORDER[LOAD_ORDER.index(name) + 1 :] if n in sys.modules]
        if later:
            order = ",".join([name, *later])
            raise BackendError(
                f"{name} cannot be loaded after {' and '.join(later)} in one process: restart the kernel and call "
                f"labdl.use({name!r}) first, or set LABDL_BACKENDS={order}"
            )


def _import(name: str) -> None:
    try:
        backend = importlib.import_module(f"labdl.backends.{name}")
    except ImportError as error:
        raise BackendError(f"backend {name!r} is installed but does not import: {error}") from error
    for kind in backend.tensor_types():
        claim(kind, backend)
    _loaded[name] = backend
    if _seed is not None:
        backend.seed(_seed)


def seed(value: int) -> None:
    """Seed the frameworks' own random numbers: those loaded now, and each one that is loaded later."""
    global _seed
    _seed = int(value)
    for backend in _loaded.values():
        backend.seed(_seed)


def current_seed() -> int | None:
    """The seed last given, None before that."""
    return _seed


def use(name: str) -> None:
    """Make ``name`` the default backend of the edges: building, loading, training. Raises BackendError."""
    global _default
    load(name)
    _default = name


def default() -> str:
    """Name of the default backend: the one of `use`, else LABDL_BACKEND, else the first that is installed."""
    return _default or os.environ.get("LABDL_BACKEND") or next(n for n in PREFERENCE if installed(n))


def get(name: str | None = None) -> ModuleType:
    """The named backend, or the default one."""
    return load(name or default())


def available() -> dict[str, str]:
    """Each backend with its version, or with what to do to have it."""
    return {name: metadata_version(name) or f"not installed: pip install labdl[{name}]" for name in PREFERENCE}


def installed_backends() -> list[str]:
    """The frameworks of this environment, in an order in which one process can load them all."""
    order = ("torch", *LOAD_ORDER, "numpy")
    return [n for n in sorted(NAMES, key=lambda n: order.index(n) if n in order else 0) if problem(n) is None]


_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "paddle": ("paddlepaddle", "paddlepaddle-gpu")}


def metadata_version(name: str) -> str | None:
    """Version of an installed framework, read without importing it; None when it is not installed."""
    from importlib import metadata  # here, because it takes a fifth of the time that labdl takes to import

    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def spec_of(value) -> Spec:
    """The Spec of a tensor of any backend."""
    if isinstance(value, Spec):
        return value
    return owner(value).spec_of(value)
