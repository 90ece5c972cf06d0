"""The search for the function that computes an operator on a backend."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from labdl import dispatch
from labdl.errors import BackendError
from labdl.ops import channels_last
from labdl.ops.infix import neutral
from labdl.ops.operator.checks import with_one_backend, with_rule
from labdl.ops.operator.definition import OPERATORS, Operator
from labdl.ops.operator.value_checks import with_value_check
from labdl.ops.precision import mixed
from labdl.ops.random import portable
from labdl.spec import REALS


def implementation_for(entry: Operator, owner, kind: type) -> Callable:
    """The function that computes the operator on tensors of type ``kind``, which belong to a backend or an interpreter."""
    interpret = getattr(owner, "implementation", None)
    implementation = interpret(entry) if interpret else native_implementation(owner, entry)
    layout = getattr(owner, "layout", None)
    if layout is not None and layout.follows(kind):
        implementation = channels_last.follow_layout(entry, implementation, owner)
    if mixed.enabled and not interpret and owner.name != "numpy":
        implementation = mixed.cast_inputs(entry, implementation, owner)
    exclusive = getattr(owner, "exclusive", None)
    if exclusive is not None and not (entry.composite and getattr(owner.operators, entry.name, None) is None):
        implementation = exclusive(implementation)  # of other composites, each part
    return implementation


def native_implementation(backend, entry: Operator) -> Callable:
    """The operator on a framework: the backend's own function, the composite's body, or the framework's function of that
    name."""
    if (own := entry.own_implementation(backend)) is not None:
        return own
    kernel = _unchecked_implementation(backend, entry)
    if entry.check_values is not None:
        kernel = with_value_check(kernel, backend, entry)
    if entry.name in backend.strict:
        return kernel
    return (with_rule if entry.checked else with_one_backend)(kernel, backend, entry)


def _unchecked_implementation(backend, entry: Operator) -> Callable:
    own = getattr(backend.operators, entry.name, None)
    if entry.random:
        cast = native_implementation(backend, OPERATORS["astype"])
        body = neutral(entry.body) if entry.composite else portable.draw_with_numpy(backend, entry, cast)
        return _with_dtype_check(portable.portable_or_own(own, body), backend, entry)
    if entry.composite:
        return _with_dtype_check(_with_fallback(own, neutral(entry.body)), backend, entry)
    for namespace in (backend.operators, *backend.namespaces):
        function = getattr(namespace, entry.name, None)
        if callable(function):
            checks_itself = set(REALS) <= set(entry.takes) and entry.name not in backend.lenient
            return function if checks_itself else _with_dtype_check(function, backend, entry)
    raise BackendError(f"operator {entry.name!r} has no implementation for backend {backend.name!r}")


def _with_fallback(own: Callable | None, body: Callable) -> Callable:
    """A composite's faster function, which may return NotImplemented for arguments that only the body supports."""
    if own is None:
        return body

    def run(*args, **kwargs):
        result = own(*args, **kwargs)
        return body(*args, **kwargs) if result is NotImplemented else result

    return run


def _with_dtype_check(function: Callable, backend, entry: Operator) -> Callable:
    """The function, called after a check of the first tensor's dtype: many kernels for floats accept integers silently.

    Kernels for all numbers mostly raise for invalid dtypes and need no check; ``lenient`` lists the others.
    """
    position = next(
        (i for i, name in enumerate(entry.signature.parameters) if "free" in entry.roles.get(name, ())), None
    )
    if position is None:
        return function
    allowed = {backend.dtype(name) for name in entry.takes if name != "string"}
    usual = backend.dtype("float32" if "float32" in entry.takes else entry.takes[0])

    def run(*args, **kwargs):
        dtype = getattr(args[position], "dtype", None) if len(args) > position else None
        if dtype is not usual and dtype not in allowed:  # identity first: hashing costs some frameworks a microsecond
            entry.infer(args, kwargs)
        return function(*args, **kwargs)

    return run


def resolve_all(backend) -> None:
    """Fill the tables of all operators for a backend's tensors, as calls do one by one."""
    kinds = backend.tensor_types()
    for entry in OPERATORS.values():
        for kind in kinds:
            with contextlib.suppress(BackendError):  # a custom operator may lack an implementation; its call raises
                kernel = entry.implementations.get(kind) or implementation_for(entry, backend, kind)
                entry.add_implementations({kind: kernel}, (*kinds, bool, int, float, complex))


@contextlib.contextmanager
def override_kernels(backend, replacement):
    """Context in which ``replacement`` computes with the tensors of ``backend``; it must be otherwise equal."""
    kinds = backend.tensor_types()
    previous = [(entry, entry.remove_implementations(kinds)) for entry in OPERATORS.values()]
    try:
        with dispatch.override_owners(kinds, replacement):
            yield
    finally:
        for entry, implementations in previous:
            entry.remove_implementations(kinds)
            entry.add_implementations(implementations)
