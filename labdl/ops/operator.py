"""What an operator is: a documented NumPy body, a shape rule, sample arguments, and a table from tensor type to kernel."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import BackendError
from labdl.spec import Spec, as_spec

OPERATORS: dict[str, Operator] = {}


@dataclass(frozen=True)
class Sample:
    """A random array for tests and docs: shape, dtype and range; drawn by whoever needs it."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        if self.dtype == "bool":
            return rng.random(self.shape) < 0.5
        if "int" in self.dtype:
            return rng.integers(int(self.low), int(self.high), self.shape).astype(self.dtype)
        return rng.uniform(self.low, self.high, self.shape).astype(self.dtype)


def floats(*shape: int, low: float = -2.0, high: float = 2.0) -> Sample:
    return Sample(shape, "float32", low, high)


def ints(*shape: int, low: int = 0, high: int = 5, dtype: str = "int64") -> Sample:
    return Sample(shape, dtype, low, high)


def bools(*shape: int) -> Sample:
    return Sample(shape, "bool")


def case(*args, **kwargs) -> tuple[tuple, dict]:
    """One call to try: positional and named arguments, arrays given as samples."""
    return args, kwargs


@dataclass
class Operator:
    """A platform-neutral operator (R1.1): one name, one parameter list, one meaning on all backends."""

    name: str
    body: Callable
    rule: Callable | None  # None: the shape follows from the body, which is a composite's
    samples: Sequence[tuple[tuple, dict]]
    differentiable: bool = True
    composite: bool = False
    category: str = ""
    implementations: dict[type, Callable] = field(default_factory=dict)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.body)

    def resolve(self, values: Sequence[Any]) -> Callable:
        """The implementation for these arguments; remembered when the first argument alone decides."""
        owner = dispatch.owner(*values)
        interpret = getattr(owner, "implementation", None)
        implementation = interpret(self) if interpret else native_implementation(owner, self)
        if values and owner.name != "numpy" and dispatch.owner_of_type(type(values[0])) is owner:
            self.implementations[type(values[0])] = implementation
        return implementation


def operator(rule: Callable | None, *samples, differentiable: bool = True, composite: bool | None = None):
    """Register the decorated function as an operator.

    The function's body is the operator's meaning: for a *primitive* it computes with NumPy and ``rule`` gives the Spec of
    the result; for a *composite* it is written with other operators and runs on every backend as it is. A composite needs
    no rule (``rule=None``) unless its body looks at sizes that may be unknown.
    """

    def register(body: Callable):
        name = body.__name__
        if name in OPERATORS:
            raise ValueError(f"an operator named {name!r} exists already")
        composed = rule is None if composite is None else composite
        entry = Operator(name, body, rule, samples, differentiable, composed, body.__module__.rsplit(".", 1)[-1])
        implementations = entry.implementations
        resolve = entry.resolve

        @functools.wraps(body)
        def call(*args, **kwargs):
            if args:
                implementation = implementations.get(type(args[0]))
                if implementation is not None:
                    return implementation(*args, **kwargs)
            return resolve((*args, *kwargs.values()))(*args, **kwargs)

        call.operator = entry  # type: ignore[attr-defined]
        OPERATORS[name] = entry
        return call

    return register


def native_implementation(backend, entry: Operator) -> Callable:
    """What a framework's backend runs: its own spelling, the composite's body, or the framework's function of that name."""
    own = getattr(backend.operators, entry.name, None)
    if own is not None:
        return own
    if entry.composite:
        return entry.body
    for namespace in backend.namespaces:
        function = getattr(namespace, entry.name, None)
        if callable(function):
            return function
    raise BackendError(f"operator {entry.name!r} has no implementation for backend {backend.name!r}")


class SpecInterpreter:
    """Shape inference as one more backend, whose tensors are Specs (D3)."""

    name = "spec"

    def implementation(self, entry: Operator) -> Callable:
        if entry.rule is None:
            return entry.body
        rule = entry.rule

        def infer(*args, **kwargs):
            return rule(*map(_to_spec, args), **{k: _to_spec(v) for k, v in kwargs.items()})

        return infer

    def spec_of(self, value: Spec) -> Spec:
        return value


def _to_spec(value):
    """Tensors as Specs; numbers, strings and options as they are."""
    if isinstance(value, Spec | str | int | float | bool | type(None)):
        return value
    if isinstance(value, list | tuple):
        return type(value)(map(_to_spec, value))
    owner = dispatch.owner_of_type(type(value))
    if owner is not None:
        return owner.spec_of(value)
    return as_spec(value) if isinstance(value, np.ndarray | np.generic) else value


dispatch.claim(Spec, SpecInterpreter())
