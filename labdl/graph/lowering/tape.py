"""Recording of framework calls."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labdl.graph.lowering.program import Call, Ref, Text, refs
from labdl.ops.operator import override_kernels


class CapturedVariableError(Exception):
    """The recorded function uses a variable itself instead of its copy."""


@dataclass(frozen=True)
class Forbidden:
    """Variables that a recording must not use: their ids and values."""

    ids: frozenset[int]
    arrays: tuple[np.ndarray, ...]


class Tape:
    """A list of framework calls, written by a backend's recorder. Tensors are identified by ``id`` while they live.

    ``tensors`` are the inputs and parameters; ``known`` holds the values of the parameters among them, by number;
    ``forbidden`` those of variables that the calls must not use, because they are replaced by copies.
    """

    def __init__(
        self,
        backend,
        tensors: Sequence,
        known: Mapping[int, np.ndarray],
        training: bool,
        forbidden: Forbidden | None = None,
    ):
        self.backend, self.tensors, self.known, self.training = backend, list(tensors), known, training
        self.forbidden = forbidden
        self._count, self._living = len(tensors), {}
        self.calls: list[Call] = []
        self.place = ""  # path of the running module
        self.reads: list[str] = []  # places where values were read
        self.dependent = set(range(len(tensors)))  # numbers of the tensors computed from inputs and parameters
        self.numbers = {id(t): n for n, t in enumerate(tensors)}
        self.constants: dict[int, np.ndarray] = {}

    def call(self, target, args: tuple, kwargs: dict, results, writes: bool = False) -> None:
        """Record a call that was made, unless it returned only plain Python values."""
        positional, named = tuple(map(self._refer, args)), {name: self._refer(value) for name, value in kwargs.items()}
        outputs = self._names(results)
        if self.dependent & {*refs((positional, named))}:
            self.dependent |= {*refs(outputs)}
        if writes or [*refs(outputs)]:
            self.calls.append(Call(target, positional, named, outputs, self.place, writes))

    def override_kernels(self, replacement):
        """Context in which another module of operators computes with the backend's tensors."""
        return override_kernels(self.backend, replacement)

    def read(self, value) -> None:
        """Record that Python read a tensor's values: later calls may depend on them."""
        if self.numbers.get(id(value)) in self.dependent:
            self.reads.append(self.place)

    def result(self, value):
        """The numbers of the tensors that the forward returned."""
        return self._refer(value)

    def _names(self, value):
        if isinstance(value, list | tuple):
            return tuple(map(self._names, value))
        return self._name(value) if isinstance(value, self.backend.tensor_types()) else None

    def _name(self, tensor) -> Ref:
        key = id(tensor)
        if key not in self.numbers:
            self.numbers[key] = self._count
            self._living[key] = weakref.ref(tensor, lambda _: self._forget(key))
            self._count += 1
        return Ref(self.numbers[key])

    def _forget(self, key: int) -> None:
        """Called when a tensor is deleted, because its ``id`` may be reused."""
        del self.numbers[key], self._living[key]

    def _refer(self, value):
        if isinstance(value, Mapping):
            return {k: self._refer(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return tuple(map(self._refer, value)) if isinstance(value, tuple) else list(map(self._refer, value))
        if isinstance(value, slice):
            return slice(*map(self._refer, (value.start, value.stop, value.step)))
        return self._tensor(value) if isinstance(value, self.backend.tensor_types()) else value

    def _tensor(self, tensor) -> Ref | Text:
        if id(tensor) in self.numbers:
            return self._name(tensor)
        if (text := self.backend.literal(tensor)) is not None:
            return Text(text)
        if self.forbidden is not None and id(tensor) in self.forbidden.ids:
            raise CapturedVariableError
        array = np.asarray(self.backend.to_numpy(tensor))
        for number, values in self.known.items():  # a recorder may miss the read of a variable
            if _same(values, array):
                return Ref(number)
        if self.forbidden is not None and any(_same(values, array) for values in self.forbidden.arrays):
            raise CapturedVariableError
        ref = self._name(tensor)
        self.constants[ref.number] = array
        return ref


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)
