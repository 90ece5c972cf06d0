"""Checks of the arguments of native calls that cost next to nothing when the same kind of call comes again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING

from labdl import dispatch
from labdl.ops.operator.arguments import convert_numpy, refuse_lists
from labdl.spec import Spec, show

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator

_LARGE = 2**28  # elements of a result whose size is compared with the memory
_WIDTH = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "float64": 8,
    "complex64": 8,
}
_REMEMBERED = 1000  # calls of an operator that differ in shapes or options
_OPTIONS = (int, float, bool, complex, str, slice, NoneType, EllipsisType)
_PLAIN = frozenset((int, float, bool, str, NoneType))
_LISTS = (list, tuple)
_ELEMENTS = _PLAIN | {tuple}  # pairs of padding


def with_rule(function: Callable, backend, entry: Operator) -> Callable:
    """The function, called after the shape rule has accepted shapes, dtypes and options; such a call is checked once.

    Frameworks accept calls that the operator refuses, each of them others, and some kernels crash for invalid sizes.
    """
    kinds, key_of = frozenset(backend.tensor_types()), backend.key_of
    leading = sum(1 for _ in itertools.takewhile(entry.inputs.__contains__, entry.signature.parameters))
    accepted: set = set()
    compiles = _compiles(backend)

    def run(*args, **kwargs):
        try:  # a key with tensors in it is never accepted
            known = (*map(key_of, args[:leading]), *args[leading:], *kwargs.items()) in accepted
        except (TypeError, ValueError, AttributeError):
            known = False
        if not known and not compiles():
            args, kwargs = check(args, kwargs)
        return function(*args, **kwargs)

    def check(args, kwargs):
        key = form(args, kwargs)
        if key is None or key not in accepted:
            dispatch.owner(*args, *kwargs.values())
            refuse_beyond_memory(entry.name, entry.infer(args, kwargs))
            if key is not None:
                if len(accepted) >= _REMEMBERED:
                    accepted.clear()
                accepted.add(key)
        # an array minus a tensor is an array to some frameworks
        return (key is None and convert_numpy(entry, args, kwargs)) or (args, kwargs)

    def form(args, kwargs):
        """The key of a call; None for one that has none: with a list, an array, or a tensor of an unknown number of axes."""
        try:
            key = (*map(part, args), *((name, part(value)) for name, value in kwargs.items()))
            hash(key)
        except (TypeError, ValueError):
            return None
        return key

    def part(value):
        kind = value.__class__
        if kind in kinds:
            return key_of(value)
        if kind in _PLAIN or (kind is tuple and _ELEMENTS.issuperset(map(type, value))):
            return value
        raise TypeError  # a key must not keep tensors alive

    return run


def _compiles(backend) -> Callable[[], bool]:
    """A function that is true while a compiler reads Python's code: it cannot follow checks."""
    compiler = getattr(backend, "control_flow", None)
    return compiler.values_are_unknown if compiler is not None and compiler.reads_python else lambda: False


def refuse_beyond_memory(operator: str, result: Spec | Sequence[Spec]) -> None:
    """Raise MemoryError for a result that is larger than the memory of the machine, before a kernel works on it for minutes."""
    specs = [result] if isinstance(result, Spec) else result
    elements = max((spec.element_count or 0 for spec in specs), default=0)
    if elements < _LARGE:
        return
    import psutil  # imported lazily: few results are so large

    total = psutil.virtual_memory().total
    if elements * min(_WIDTH.get(spec.dtype, 4) for spec in specs) > total:
        raise MemoryError(
            f"{operator} would give {' and '.join(show(spec.shape) for spec in specs):.200}, {elements:.1e} elements: "
            f"this machine has {total / 2**30:.0f} GB of memory"
        )


def with_one_backend(function: Callable, backend, entry: Operator) -> Callable:
    """The function, which takes arrays as tensors, and raises TypeError for tensors of two backends.

    Frameworks convert foreign tensors silently, without their gradients. Unary functions have nothing to check, and the
    two operands of binary ones are looked up by both types.
    """
    if entry.is_binary or (len(entry.inputs) < 2 and not any(entry.inputs.values())):
        return function
    own, compiles = frozenset((*backend.tensor_types(), *_OPTIONS)), _compiles(backend)

    def run(*args, **kwargs):
        known = own.issuperset(map(type, args)) and (not kwargs or own.issuperset(map(type, kwargs.values())))
        if not known and not compiles():
            args, kwargs = check(args, kwargs)
        return function(*args, **kwargs)

    def check(args, kwargs):
        refuse_lists(entry, args, kwargs)
        for value in (*args, *kwargs.values()):
            if value.__class__ not in own and (value.__class__ not in _LISTS or not own.issuperset(map(type, value))):
                dispatch.owner(*args, *kwargs.values())
        return convert_numpy(entry, args, kwargs) or (args, kwargs)

    return run
