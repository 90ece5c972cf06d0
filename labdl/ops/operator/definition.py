"""The data of one operator, and the registry of all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from labdl.ops.operator import inference
from labdl.ops.operator.options import Domain, declared_options
from labdl.ops.operator.samples import samples_in
from labdl.spec import COMPLEX, DTYPES, FLOATS, INTEGERS, NUMBERS, REALS

# Dtypes for ``takes=``.
ANY = DTYPES
NUMBERS_AND_BOOL = ("bool", *NUMBERS)
REALS_AND_BOOL = ("bool", *REALS)
INTEGERS_AND_BOOL = ("bool", *INTEGERS)
FLOATS_AND_COMPLEX = (*FLOATS, *COMPLEX)

Precision = Literal["half", "float32"]

OPERATORS: dict[str, Operator] = {}


@dataclass
class Operator:
    """A platform-neutral operator: one name, one parameter list, one meaning on all backends (see `operator`)."""

    name: str
    body: Callable
    rule: Callable | None  # None: the shape follows from the body of a composite
    samples: Sequence[tuple[tuple, dict]]
    takes: tuple[str, ...] = FLOATS
    differentiable: bool = True
    composite: bool = False
    random: bool = False
    checked: bool = False
    own_options: Mapping[str, Domain] = field(default_factory=dict)
    check_values: Callable | None = None
    compare: Callable | None = None
    cost: Callable | int | None = 1
    precision: Precision | None = None
    onnx: str | None = None
    without_onnx: str | None = None
    category: str = ""

    def __post_init__(self):
        self.implementations: dict[type, Callable] = {}  # by type of the tensor that the call is dispatched on
        self.pairs: dict[type, dict[type, Callable]] = {}  # the same, by the types of two operands
        self.function: Callable = self.body  # the public function, set by `make_function`

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.body)

    @property
    def is_positional(self) -> bool:
        """True if every argument is given by position."""
        return all(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in self.signature.parameters.values())

    @property
    def is_binary(self) -> bool:
        """True for an operator of two operands, whose implementation is found by both types."""
        return self.is_positional and len(self.signature.parameters) == 2 and self.dispatch_argument is None

    @functools.cached_property
    def roles(self) -> dict[str, set[str]]:
        """For each parameter that holds tensors: {"free"}, or the dtypes of its samples."""
        roles: dict[str, set[str]] = {}
        for args, kwargs in self.samples:
            for name, value in self.signature.bind(*args, **kwargs).arguments.items():
                for sample in samples_in(list(value.values()) if isinstance(value, dict) else value):
                    roles.setdefault(name, set()).add("free" if sample.free else sample.dtype)
        return roles

    @functools.cached_property
    def inputs(self) -> dict[str, bool]:
        """The parameters that hold tensors, in order, and whether one takes any number of them."""
        calls = [self.signature.bind(*args, **kwargs).arguments for args, kwargs in self.samples]
        return {
            p.name: p.kind is p.VAR_POSITIONAL or any(isinstance(call.get(p.name), list) for call in calls)
            for p in self.signature.parameters.values()
            if p.name in self.roles
        }

    @functools.cached_property
    def options(self) -> Mapping[str, Domain]:
        """The values that its options may have, by parameter."""
        return declared_options(self.signature, self.roles, self.own_options)

    @functools.cached_property
    def dispatch_argument(self) -> Callable[[Sequence], Any] | None:
        """Selects the tensor whose type determines the implementation; None if it is the first argument."""
        first = next((args[0] for args, _ in self.samples if args), None)
        if isinstance(first, list):
            return lambda args: args[0][0]  # concat([x, y])
        return (lambda args: args[1]) if isinstance(first, str) else None  # einsum("ij->ji", x)

    def dispatch_type(self, args: Sequence) -> type:
        """The type under which `implementations` is searched for a call."""
        try:
            return type(self.dispatch_argument(args) if self.dispatch_argument else args[0])
        except (IndexError, KeyError, TypeError):
            return type(None)

    def add_implementations(self, implementations: Mapping[type, Callable], partners: Iterable[type] = ()) -> None:
        """Store what computes tensors of these types, also with second operands of the types ``partners``."""
        self.implementations.update(implementations)
        for kind, implementation in implementations.items():
            self.pairs[kind] = dict.fromkeys(partners, implementation)

    def remove_implementations(self, kinds: Iterable[type] | None = None) -> dict[type, Callable]:
        """Remove and return what is stored for these types, by default for all: later calls search anew."""
        removed = {
            k: self.implementations.pop(k) for k in [*(kinds or self.implementations)] if k in self.implementations
        }
        for kind in [*(kinds or self.pairs)]:
            self.pairs.pop(kind, None)
        return removed

    def own_implementation(self, backend) -> Callable | None:
        """An implementation for a backend that belongs to the operator; None for built-in operators."""
        return None

    def infer(self, args: Sequence[Any], kwargs: dict[str, Any]):
        """The Spec of the result. Raises TypeError or ValueError for invalid arguments."""
        return inference.infer(self, args, kwargs)

    def promoted_dtype(self, arguments: dict[str, Any]) -> str | None:
        """The dtype to which the operands of a call are promoted, None for an operator that does not promote."""
        return inference.promoted_dtype(self, arguments)
