"""Dispatch: the backend of a tensor, the default backend, and devices."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from labdl import config, framework_info
from labdl.errors import BackendError
from labdl.framework_info import LOAD_ORDER as LOAD_ORDER
from labdl.framework_info import NAMES as NAMES
from labdl.spec import Spec

if TYPE_CHECKING:
    from labdl.backends.protocol import Backend, NativeSource, ReferenceBackend

_loaded: dict[str, Backend] = {}
_owners: dict[type, Any] = {}
_load_listeners: list[Callable[[Backend], Any]] = []
_default: str | None = None
_seed: int | None = None
_portable = False
_deterministic: tuple[bool, bool] | None = None  # mode and warn_only, None if never set


def owner_of_type(kind: type):
    """The backend (or interpreter, such as shape inference) that computes with this type, or None.

    If the type belongs to a framework whose backend is not loaded, the backend is loaded.
    """
    owner = _owners.get(kind)
    if owner is None:
        for base in kind.__mro__[1:]:
            if base in _owners:
                owner = _owners[kind] = _owners[base]
                break
        else:
            home = kind.__module__.partition(".")[0]
            if home in NAMES and home not in _loaded:
                load(home)
                return owner_of_type(kind)
    return owner


def owner_of_native(module) -> Any:
    """The backend of a framework's module, loaded if necessary, or None."""
    backend = _framework_of(module)
    return backend if backend is not None and backend.is_native(module) else None


def source_of_native(value) -> NativeSource | None:
    """How to read a framework's data set or loader; None for other values. The backend is loaded if necessary."""
    backend = _framework_of(value)
    return None if backend is None else backend.native_source(value)


def _framework_of(value) -> Backend | None:
    """The backend of the framework that defines the class of an object, or one of its bases."""
    for base in type(value).__mro__:
        name = framework_info.OWNERS.get(base.__module__.partition(".")[0])
        if name in framework_info.TRAINING:
            return load(name)
    return None


def claim(kind: type, owner) -> None:
    """Declare that tensors of this type belong to ``owner``, which has ``name`` and ``implementation(operator)``."""
    _owners[kind] = owner


@contextmanager
def override_owners(kinds, owner):
    """A context in which tensors of these types belong to ``owner``."""
    former = {kind: _owners[kind] for kind in kinds}
    _owners.update(dict.fromkeys(kinds, owner))
    try:
        yield
    finally:
        _owners.update(former)


def _tensors(values):
    for value in values:
        if isinstance(value, list | tuple):
            yield from _tensors(value)
        elif value is not None and owner_of_type(type(value)) is not None:
            yield value


def _precedence(owner) -> int:
    """Precedence of an owner: NumPy lowest; interpreters (strings 2, shape inference 3, traces 4) accept other tensors too."""
    return -1 if owner is None else 0 if owner.name == "numpy" else getattr(owner, "precedence", 1)


def owner(*values) -> Any:
    """The owner of the tensors among ``values`` (lists are searched); NumPy arrays and numbers combine with any."""
    found: Any = None
    for value in _tensors(values):
        candidate: Any = owner_of_type(type(value))
        gap = _precedence(candidate) - _precedence(found)
        if gap > 0:
            found = candidate
        elif gap == 0 and candidate is not found:
            raise TypeError(
                f"tensors of two backends in one operator: {found.name} and {candidate.name}; "
                f"convert one with labdl.tensor(labdl.to_numpy(t), backend={found.name!r})"
            )
    return found or load("numpy")


@overload
def load(name: Literal["numpy"], device: str | None = None) -> ReferenceBackend: ...
@overload
def load(name: str, device: str | None = None) -> Backend: ...


def load(name: str, device: str | None = None) -> Any:
    """The backend's module, imported on first use in an order that does not crash. Raises BackendError.

    That of NumPy has the members of `labdl.backends.protocol.ReferenceBackend` only.
    """
    backend = _loaded.get(name)
    if backend is None:
        _check(name)
        together = config.setting("backends") if name != "numpy" else None  # NumPy alone must not load a framework
        for other in framework_info.in_load_order({name, *(together.value if together else ())}):
            if other not in _loaded:
                _check(other, together if other != name else None)
                _import(other, device if other == name else None)
    elif device is not None:
        _place(backend, device)
    return _loaded[name]


def _check(name: str, asked: config.Setting | None = None) -> None:
    reason = framework_info.problem(name) or framework_info.too_late(name)
    if reason:
        raise BackendError(reason + (f" (asked for by {asked.origin})" if asked else ""))


def _import(name: str, device: str | None = None) -> None:
    try:
        backend = cast("Backend", importlib.import_module(f"labdl.backends.{name}.backend"))
    except Exception as error:  # a broken installation may raise ImportError, OSError, RuntimeError, ValueError …
        raise BackendError(f"backend {name!r} is installed but does not import: {_import_failure(error)}") from None
    asked = config.setting("device") if device is None and name != "numpy" else None  # NumPy supports the CPU only
    if asked or device is not None:
        _place(backend, asked.value if asked else str(device), asked)
    for kind in backend.tensor_types():
        claim(kind, backend)
    _loaded[name] = backend
    for listener in _load_listeners:
        listener(backend)
    if _deterministic is not None and name != "numpy":
        backend.set_deterministic(*_deterministic)
    if _seed is not None:
        backend.seed(_seed)


def _import_failure(error: Exception) -> str:
    """Reason and place of a failed import, without the traceback that some frameworks put into the message."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith((" ", "Traceback"))]
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(Path(last.filename).parts[-2:])
    return f"{''.join(lines[:1])} ({type(error).__name__} in {place}, line {last.lineno})"


def on_load(listener: Callable[[Backend], Any]) -> None:
    """Call ``listener(backend)`` for every loaded backend, and for each one loaded later."""
    _load_listeners.append(listener)
    for backend in _loaded.values():
        listener(backend)


def loaded_backends() -> tuple[Backend, ...]:
    """The loaded backends."""
    return tuple(_loaded.values())


def seed(value: int, portable: bool = False) -> None:
    """Seed the frameworks' own random numbers: those loaded now, and each one that is loaded later."""
    global _seed, _portable
    _seed, _portable = int(value), portable
    load("numpy")  # now: seeded later, it would set back what the user has drawn from numpy.random
    for backend in _loaded.values():
        backend.seed(_seed)


def set_deterministic(mode: bool, warn_only: bool) -> None:
    """Switch deterministic kernels of the frameworks: those loaded now, and each one that is loaded later."""
    global _deterministic
    for backend in _loaded.values():
        if backend.name != "numpy":
            backend.set_deterministic(mode, warn_only)
    _deterministic = mode, warn_only


def is_deterministic() -> bool:
    """True if backends compute with deterministic kernels."""
    return _deterministic is not None and _deterministic[0]


def rest_threads() -> None:
    """Release the resources that backends keep for the calling thread, before it waits while another computes."""
    for backend in list(_loaded.values()):
        getattr(backend, "rest_threads", lambda: None)()


def portable() -> bool:
    """True if NumPy generates the random numbers of every backend."""
    return _portable


@contextmanager
def own_random_numbers():
    """Context in which backends use their own random numbers, even in portable mode."""
    global _portable
    before, _portable = _portable, False
    try:
        yield
    finally:
        _portable = before


def current_seed() -> int | None:
    """The last seed, or None."""
    return _seed


def use(name: str, device: str | None = None) -> None:
    """Make ``name`` the default backend of the edges (building, loading, training), on ``device`` if given.

    May be called again to switch. Raises BackendError.
    """
    global _default
    load(name, device)
    _default = name


def default() -> str:
    """Name of the default backend: of `use`, else the environment, the project's or the user's file, else the first."""
    if _default is not None:
        return _default
    asked = config.setting("backend")
    if asked is None:
        return next(n for n in framework_info.PREFERENCE if framework_info.problem(n) is None)
    reason = framework_info.problem(asked.value)
    if reason:
        raise BackendError(f"{reason} (asked for by {asked.origin})")
    return asked.value


def get(name: str | None = None) -> Backend:
    """The named backend, or the default one."""
    return load(name or default())


def device(name: str | None = None, backend: str | None = None) -> str:
    """The device of a backend's new tensors and variables; with a name, selects it first.

    ``labdl.device()`` is "cpu", "cuda:0", "ascend:0" …; a name without a number is the first of its kind. Existing
    tensors are not moved. Raises BackendError for an unknown device.
    """
    target = get(backend)
    if name is not None:
        _place(target, name)
    return target.current_device()


def devices(backend: str | None = None) -> tuple[str, ...]:
    """The devices of a backend on this machine, by default of the default backend."""
    return get(backend).devices()


def device_of(tensor) -> str:
    """The device of a tensor of any backend."""
    return owner(tensor).device_of(tensor)


def to_device(tensor, name: str):
    """The tensor on another device of its backend; itself if it is already there. Raises BackendError."""
    backend = owner(tensor)
    return backend.to_device(tensor, _find_device(backend, name))


def _find_device(backend, device: str, asked: config.Setting | None = None) -> str:
    there = backend.devices()
    found = next((d for d in (device, f"{device}:0") if d in there), None)
    if found is None:
        where = f" (asked for by {asked.origin})" if asked else ""
        raise BackendError(f"{backend.name} has no device {device!r} here{where}: it has {', '.join(there)}")
    return found


def _place(backend: Backend, device: str, asked: config.Setting | None = None) -> None:
    found = _find_device(backend, device, asked)
    if found == backend.current_device():
        return
    try:
        backend.set_device(found)
    except RuntimeError:  # MindSpore fixes its device with the first operation
        raise BackendError(
            f"{backend.name} computes on {backend.current_device()} already and cannot change to {found} in this process: "
            f"restart the kernel and call labdl.use({backend.name!r}, device={found!r}) first"
        ) from None
    if _deterministic is not None:
        backend.set_deterministic(*_deterministic)


def spec_of(value) -> Spec:
    """The Spec of a tensor of any backend."""
    if isinstance(value, Spec):
        return value
    return owner(value).spec_of(value)
