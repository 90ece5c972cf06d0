"""Recording of framework calls."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.graph.lowering.program import Block, Call, Ref, Text, refs
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
        self.backend, self.tensors, self.training = backend, list(tensors), training
        self._known = {_content(values): number for number, values in known.items()}
        self._forbidden_ids = forbidden.ids if forbidden else frozenset()
        self._forbidden = {_content(values) for values in forbidden.arrays} if forbidden else set()
        self._count, self._living, self._paused = len(tensors), {}, False
        self.calls: list[Call] = []
        self.place = ""  # path of the running module
        self.reads: list[str] = []  # places where values were read
        self.dependent = set(range(len(tensors)))  # numbers of the tensors computed from inputs and parameters
        self.numbers = {id(t): n for n, t in enumerate(tensors)}
        self.constants: dict[int, np.ndarray] = {}

    def call(self, target, args: tuple, kwargs: dict, results, writes: bool = False) -> None:
        """Record a call that was made, unless it returned only plain Python values."""
        if self._paused:
            return
        positional, named = tuple(map(self._refer, args)), {name: self._refer(value) for name, value in kwargs.items()}
        outputs = self._names(results)
        if self.dependent & {*refs((positional, named))}:
            self.dependent |= {*refs(outputs)}
        if writes or [*refs(outputs)]:
            self.calls.append(Call(target, positional, named, outputs, self.place, writes))

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Context in which nothing is recorded."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def block(self, function: Callable[[], Any]) -> tuple[Block, Any]:
        """The calls of a function apart from the others, and its result: tensors in a structure."""
        outer, self.calls = self.calls, []
        try:
            found = function()
            return Block(self.calls, self._refer(found)), found
        finally:
            self.calls = outer

    def append(self, call: Call) -> None:
        """Add a call with blocks, whose results depend on the inputs."""
        self.dependent |= {*refs((call.results, call.variables))}
        self.calls.append(call)

    def names(self, value) -> Any:
        """The numbers of new tensors."""
        return self._names(value)

    def override_kernels(self, replacement):
        """Context in which another module of operators computes with the backend's tensors."""
        return override_kernels(self.backend, replacement)

    def read(self, value) -> None:
        """Record that Python read a tensor's values: later calls may depend on them."""
        if not self._paused and self.numbers.get(id(value)) in self.dependent:
            self.reads.append(self.place)

    def result(self, value) -> Any:
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
        if id(tensor) in self._forbidden_ids:
            raise CapturedVariableError
        array = np.asarray(self.backend.to_numpy(tensor))
        content = _content(array)
        if content in self._known:  # a recorder may miss the read of a variable
            return Ref(self._known[content])
        if content in self._forbidden:
            raise CapturedVariableError
        ref = self._name(tensor)
        self.constants[ref.number] = array
        return ref


def _content(array: np.ndarray) -> tuple:
    """A key that is equal for arrays of the same numbers."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
    return (
        array.shape,
        array.dtype.str,
        hashlib.blake2b(data, digest_size=16).digest(),
    )  # copies of parameters are large
