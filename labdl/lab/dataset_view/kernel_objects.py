"""Steps that only the kernel of a cell has, such as functions: the page knows their names."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import Any

from labdl.data.transforms.transform import Transform
from labdl.errors import ConfigError

_LONGEST = 80  # characters of a name


class KernelObjects:
    """Transforms that no settings describe, by the number that the page sends for them."""

    def __init__(self) -> None:
        self._transforms: list[Transform] = []

    def describe(self, transform: Transform) -> dict[str, Any]:
        """Fields of the `StepObject` of a transform; the same one has the same number."""
        numbers = (number for number, one in enumerate(self._transforms) if one is transform)
        number = next(numbers, len(self._transforms))
        if number == len(self._transforms):
            self._transforms.append(transform)
        kind, name, module = _name_of(_function_of(transform))
        return {"number": number, "kind": kind, "name": name[:_LONGEST], "module": module[:_LONGEST]}

    def transform(self, number: Any) -> Transform:
        """A copy of the transform of a number, which shares what the transform has. Raises ConfigError."""
        if type(number) is not int or not 0 <= number < len(self._transforms):
            raise ConfigError("this function is not in the cell any more: remove the step, or run the cell again")
        return copy.copy(self._transforms[number])


def _function_of(transform: Transform) -> Any:
    """The function or object that a transform applies, as T.Lambda does; else the transform itself."""
    values = [value for name, value in vars(transform).items() if not name.startswith("_") and callable(value)]
    return values[0] if len(values) == 1 and not isinstance(values[0], type | Transform) else transform


def _name_of(value: Any) -> tuple[str, str, str]:
    """Kind, name and module of a function or an object."""
    if isinstance(value, functools.partial):
        value = value.func
    if inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        name = str(getattr(value, "__qualname__", type(value).__name__))
        return "function", name.rpartition("<locals>.")[2], getattr(value, "__module__", None) or ""
    cls: type = value if isinstance(value, type) else value.__class__
    return "object", str(cls.__qualname__).rpartition("<locals>.")[2], cls.__module__
