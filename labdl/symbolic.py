"""Python's protocols on tensors without values: what depends on sizes is answered or recorded, what reads values is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar, NoReturn

from labdl import habits
from labdl.errors import TensorMethodError, UnknownValueError

_LATER = "which has none while shapes are inferred or a graph is traced"
_NUMBER = f"the model reads a tensor as a Python number, {_LATER}: compute with labdl.ops instead of Python's functions"
_ASSIGNED = (
    "the model changes a tensor in place, which not every framework can: make a new one with ops.where, ops.concat or "
    "ops.scatter"
)


class SymbolicTensor:
    """A stand-in for a tensor while a forward is read. Infix operators are added by `labdl.ops.infix`."""

    shape: tuple[int | None, ...]
    operators: ClassVar[Collection[str]] = ()  # names in labdl.ops, set by `labdl.ops.infix`
    __array_ufunc__ = None  # makes NumPy leave `array + tensor` to the tensor's class

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise TensorMethodError(
            f"the forward uses x.{name}, which the tensors of not every framework have: "
            f"{habits.advice_for_tensor(name, SymbolicTensor.operators)}"
        )

    def __len__(self) -> int:
        return _length(self, "asks for the length of")

    def __iter__(self) -> Iterator[Any]:
        return iter([self[at] for at in range(_length(self, "iterates over"))])  # type: ignore[index]

    def __contains__(self, value: object) -> NoReturn:
        raise UnknownValueError(
            f"the model asks with `in` for values of a tensor, {_LATER}: write ops.any(x == value), or compare shapes"
        )

    def __bool__(self) -> NoReturn:
        raise UnknownValueError(
            f"the model branches on the values of a tensor, {_LATER}: decide with ops.where or ops.cond (`is None` tells "
            "whether an input is there)"
        )

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise UnknownValueError(
            f"the model takes a tensor to NumPy, {_LATER}: compute with labdl.ops, whose functions have NumPy's names"
        )

    def __format__(self, form: str) -> str:
        return str(self) if not form else self._number()

    def _number(self, *_: object) -> NoReturn:
        raise UnknownValueError(_NUMBER)

    def _assign(self, *_: object) -> NoReturn:
        raise UnknownValueError(_ASSIGNED)

    __float__ = __int__ = __complex__ = __index__ = __trunc__ = __floor__ = __ceil__ = _number
    __setitem__ = __delitem__ = _assign


def _length(tensor: SymbolicTensor, what: str) -> int:
    """The size of the first axis. Raises where it is unknown, as a loop over the tensor would not end."""
    shape = tensor.shape
    if not shape:
        raise UnknownValueError(f"the model {what} a tensor without axes, which has no rows")
    if shape[0] is None:
        raise UnknownValueError(
            f"the model {what} a tensor whose first size is unknown: use an operator for all rows at once, ops.vmap, or "
            "give a fixed size at build"
        )
    return shape[0]
