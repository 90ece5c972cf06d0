"""A model as flat calls of its framework: what its forward does there, written down once for every batch size (D15).

The forward runs on real tensors while the backend's recorder notes each call of the framework. Runs with other sizes show
which numbers among the arguments are sizes; whatever else differs between runs depends on data, and is refused.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ModelError
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.ops.operator import operators_instead
from labdl.spec import Spec


@dataclass(frozen=True)
class Ref:
    """A tensor in a program, by its number: inputs and parameters first, then constants and results as they come."""

    number: int


@dataclass(frozen=True)
class Text:
    """Something that the framework has under a name."""

    text: str


@dataclass(frozen=True)
class Size:
    """A number that follows from unknown sizes: ``constant + sum(factor * product of sizes)``, divided by ``over``."""

    terms: tuple[tuple[int, tuple[int, ...]], ...]  # factor, and which sizes
    constant: int = 0
    over: Size | None = None


@dataclass(frozen=True)
class Ramp:
    """A known tensor whose shape follows from unknown sizes: ``start``, plus for each axis a step times the position."""

    shape: tuple
    start: Any
    steps: tuple
    dtype: str


@dataclass(frozen=True)
class Numbers:
    """A small known tensor in which some numbers follow from unknown sizes."""

    values: Any
    dtype: str


@dataclass
class Call:
    """One call. ``target`` is a dotted name of the framework, ".name" for a method, or in this process an object."""

    target: Any
    args: tuple
    kwargs: dict[str, Any]
    results: Any  # a Ref, or a tuple of Refs and None
    place: str = ""  # path of the module that makes the call
    writes: bool = False  # it changes one of its arguments


@dataclass
class Program:
    """What a model does on one framework, in one mode."""

    inputs: list[Spec]
    sizes: list[tuple[int, int]]  # the unknown ones: input and axis
    parameters: dict[str, Ref]
    constants: dict[int, np.ndarray | Ramp | Numbers]
    calls: list[Call]
    outputs: Any


class Tape:
    """What a backend's recorder writes to. Tensors are known by their identity, for as long as somebody has them."""

    def __init__(self, backend, tensors: Sequence, known: Mapping[int, np.ndarray], training: bool):
        self.backend, self.tensors, self.known, self.training = backend, list(tensors), known, training
        self._count, self._living = len(tensors), {}
        self.calls: list[Call] = []
        self.place = ""
        self.secrets: list[str] = []  # where values were read
        self.data = set(range(len(tensors)))  # the numbers of what follows from inputs and parameters
        self.numbers = {id(t): n for n, t in enumerate(tensors)}
        self.constants: dict[int, np.ndarray] = {}

    def call(self, target, args: tuple, kwargs: dict, results, writes: bool = False) -> None:
        """Note a call that has been made, unless nothing but plain Python values came of it."""
        positional, named = tuple(map(self._refer, args)), {name: self._refer(value) for name, value in kwargs.items()}
        made = self._names(results)
        if self.data & {*refs((positional, named))}:
            self.data |= {*refs(made)}
        if writes or [*refs(made)]:
            self.calls.append(Call(target, positional, named, made, self.place, writes))

    def instead(self, copy):
        """While it lasts, another module of operators computes with the backend's tensors."""
        return operators_instead(self.backend, copy)

    def read(self, value) -> None:
        """Note that Python has looked at a tensor's values: what it does next may depend on them."""
        if self.numbers.get(id(value)) in self.data:
            self.secrets.append(self.place)

    def result(self, value):
        """The numbers of what the forward gave."""
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
        """A tensor is gone, and its identity may be another's soon."""
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
        array = np.asarray(self.backend.to_numpy(tensor))
        for number, values in self.known.items():  # a framework may read a variable without telling anybody
            if values.shape == array.shape and values.dtype == array.dtype and np.array_equal(values, array):
                return Ref(number)
        found = self._name(tensor)
        self.constants[found.number] = array
        return found


@dataclass(frozen=True)
class Subject:
    """What is recorded: a function of native tensors, and the modules at work in it."""

    run: Callable
    backend: Any
    inputs: Sequence[Spec]
    parameters: Mapping[str, Parameter]
    modules: Sequence[Module]

    @classmethod
    def of(cls, model: Module) -> Subject:
        inputs = [s for s in model.input_specs if s is not None]
        return cls(model, dispatch.get(model.backend), inputs, dict(model.named_parameters()), (model,))


def programs_of(model: Module) -> tuple[Program, Program]:
    """The programs of a built model on its backend, for use and for training; see `program_of`.

    They draw the framework's own random numbers, even where portable ones are wanted here.
    """
    subject = Subject.of(model)
    with dispatch.own_random_numbers(), subject.backend.recorder() as record:
        return _program(subject, record, training=False), _program(subject, record, training=True)


def program_of(subject: Subject, training: bool) -> Program:
    """The program of a function in one mode, for this process: objects of it may be called in it.

    The parameters get other values on the way, so that nothing that follows from them passes for a constant: give it a model
    that nobody else uses, or put things back. Raises ModelError where what the model does depends on data.
    """
    with subject.backend.recorder(live=True) as record:
        return _program(subject, record, training)


def _program(subject: Subject, record, training: bool) -> Program:
    specs = list(subject.inputs)
    sizes = [(n, axis) for n, spec in enumerate(specs) for axis, size in enumerate(spec.shape) if size is None]
    groups: dict[Any, list[int]] = {}  # all batches are of one size
    for at, (_, axis) in enumerate(sizes):
        groups.setdefault("batch" if axis == 0 else at, []).append(at)
    base = [_FIRST[at % len(_FIRST)] for at in range(len(sizes))]
    base = [base[next(g for g in groups.values() if at in g)[0]] for at in range(len(sizes))]
    trials = [base, *([n + 2 if at in group else n for at, n in enumerate(base)] for group in groups.values())]
    trials.append([n + 3 for n in base])
    _run(subject, record, sizes, trials[0], 0, training)  # what is made once and kept is made now
    runs = [_run(subject, record, sizes, trial, number, training) for number, trial in enumerate(trials)]
    for tape, _ in runs:
        if tape.secrets:
            raise ModelError(f"{tape.secrets[0] or 'the model'} reads the values of a tensor in its forward, so what it does "
                             "may depend on data, and calls written down once would not follow")  # fmt: skip
    counts = {len(tape.calls) for tape, _ in runs}
    if len(counts) > 1:
        raise ModelError("what the model does depends on the sizes of its inputs or on data, so it has no flat form: "
                         "give it fixed sizes at build")  # fmt: skip
    heads = [group[0] for group in groups.values()]
    merge = _Merge([[trial[at] for at in heads] for trial in trials])
    first, outputs = runs[0]
    calls = [merge.call([tape.calls[n] for tape, _ in runs]) for n in range(len(first.calls))]
    if any(tape.constants.keys() != first.constants.keys() for tape, _ in runs):
        raise ModelError("what the model takes for known tensors depends on data")
    constants = {n: merge.constant([tape.constants[n] for tape, _ in runs]) for n in first.constants}
    parameters = {key: Ref(first.numbers[id(p.value)]) for key, p in subject.parameters.items()}
    return Program(specs, [sizes[at] for at in heads], parameters, constants, _needed(calls, outputs), outputs)


_FEW = 16  # so many numbers are looked at one by one
_FIRST = (5, 7, 11, 13, 17)  # sizes to try, which are rarely sizes of layers too


def _run(subject: Subject, record, sizes, trial, number: int, training: bool):
    """One recording: the tape, and the numbers of the outputs."""
    backend, specs = subject.backend, subject.inputs
    shapes = [list(s.shape) for s in specs]
    for (n, axis), size in zip(sizes, trial, strict=True):
        shapes[n][axis] = size
    draw = np.random.default_rng(number)
    inputs = [_sample(draw, shape, spec.dtype, backend) for shape, spec in zip(shapes, specs, strict=True)]
    parameters, known = list({id(p): p for p in subject.parameters.values()}.values()), {}
    for number, parameter in enumerate(parameters, len(inputs)):
        if "float" in parameter.dtype:
            backend.assign(parameter.value, draw.uniform(0.5, 1.5, parameter.shape).astype("float32"))
            known[number] = np.array(backend.to_numpy(parameter.value))
    tape = Tape(backend, [*inputs, *(p.value for p in parameters)], known, training)
    for module in subject.modules:
        module.train(training)
    with _placed(subject.modules, tape):
        outputs = tape.result(record(lambda: subject.run(*inputs), tape))
    tape.tensors.clear()  # they are of this run alone
    return tape, outputs


def _sample(draw, shape, dtype: str, backend):
    if dtype == "bool":
        return backend.tensor(draw.integers(0, 2, shape).astype(bool))
    if "float" in dtype or "complex" in dtype:
        return backend.tensor(
            draw.standard_normal(shape, "float32").astype(dtype if dtype != "bfloat16" else "float32")
        )
    return backend.tensor(draw.integers(0, 2, shape).astype(dtype))  # numbers of a class or a word: 1 is always one


@contextmanager
def _placed(modules: Sequence[Module], tape: Tape):
    """Tell the tape which module is at work."""

    def noted(path: str, forward):
        def run(*args, **kwargs):
            before, tape.place = tape.place, path
            try:
                return forward(*args, **kwargs)
            finally:
                tape.place = before

        return run

    named = [pair for root in modules for pair in root.named_modules()]
    former = [(m, m.__dict__.get("forward")) for _, m in named]
    try:
        for path, module in named:
            module.__dict__["forward"] = noted(path, module.forward)
        yield
    finally:
        for module, forward in former:
            module.__dict__.pop("forward") if forward is None else module.__dict__.update(forward=forward)


class _Merge:
    """Recordings with other sizes as one: numbers that follow the sizes become `Size`."""

    def __init__(self, trials: list[list[int]]):
        self.trials = np.array(trials, float)
        count = self.trials.shape[1]
        self.products = [c for n in range(1, count + 1) for c in itertools.combinations(range(count), n)]

    def call(self, found: list[Call]) -> Call:
        first = found[0]
        if len({c.target for c in found}) > 1:
            raise ModelError(
                f"what the model does depends on data: {' or '.join(sorted({str(c.target) for c in found}))}"
            )
        args = self.value([c.args for c in found], str(first.target))
        kwargs = self.value([c.kwargs for c in found], str(first.target))
        return dataclasses.replace(first, args=args, kwargs=kwargs)

    def constant(self, found: list[np.ndarray]) -> np.ndarray | Ramp | Numbers:
        first = found[0]
        if all(_equal(v, first) for v in found):
            return first
        if len({v.shape for v in found}) == 1 and first.size <= _FEW and first.dtype.kind in "iuf":
            return Numbers(self.value([v.tolist() for v in found], "a tensor"), first.dtype.name)
        ramps = [r for r in map(_ramp, found) if r is not None]
        if len(ramps) < len(found) or len({(len(r.shape), r.dtype) for r in ramps}) > 1:
            raise ModelError("a tensor in the model comes from data in a way that cannot be written down as calls")
        shape, start, steps = (
            self.value([getattr(r, k) for r in ramps], "a tensor") for k in ("shape", "start", "steps")
        )
        return Ramp(shape, start, steps, ramps[0].dtype)

    def value(self, found: list, target: str) -> Any:
        first = found[0]
        if all(type(v) is type(first) for v in found):
            if isinstance(first, dict) and all(v.keys() == first.keys() for v in found):
                return {k: self.value([v[k] for v in found], target) for k in first}
            if isinstance(first, list | tuple) and len({len(v) for v in found}) == 1:
                return type(first)(self.value(list(each), target) for each in zip(*found, strict=True))
            if isinstance(first, slice):
                ends = [self.value([getattr(v, end) for v in found], target) for end in ("start", "stop", "step")]
                return slice(*ends)
            if isinstance(first, int) and not isinstance(first, bool) and len(set(found)) > 1:
                return self.size(found, target)
            if isinstance(first, float) and len(set(found)) > 1 and all(map(math.isfinite, found)):
                parts = [Fraction(v).limit_denominator(10**7) for v in found]
                if all(float(part) == v for part, v in zip(parts, found, strict=True)):
                    above, below = ([getattr(p, end) for p in parts] for end in ("numerator", "denominator"))
                    return dataclasses.replace(self.size(above, target), over=self.size(below, target))
            if all(v is first or _equal(v, first) for v in found):
                return first
        raise ModelError(f"{target} in the model takes what depends on data, {found[0]!r} or {found[-1]!r}: it has no flat "
                         "form")  # fmt: skip

    def size(self, found: list[int], target: str) -> Size:
        """The simplest formula that gives all of the numbers: of one product of sizes, else of all sizes, linear."""
        singles = [c for c in self.products if len(c) == 1]
        for chosen in (*([c] for c in self.products), singles):
            columns = [*(self.trials[:, list(c)].prod(1) for c in chosen), np.ones(len(found))]
            table = np.stack(columns, 1)
            answer = np.rint(np.linalg.lstsq(table, np.array(found, float), rcond=None)[0])
            if np.array_equal(table @ answer, found):
                terms = tuple((int(f), c) for f, c in zip(answer, chosen, strict=False) if f)
                return Size(terms, int(answer[-1]))
        raise ModelError(f"{target} in the model takes the number {found[0]} or {found[-1]}, which does not follow simply from "
                         "the sizes of the inputs: give the model fixed sizes at build")  # fmt: skip


def _ramp(array: np.ndarray) -> Ramp | None:
    """The array as a ramp, if it is one."""
    if not array.size or array.dtype.kind not in "biuf":
        return None
    start, steps = array[(0,) * array.ndim].item(), []
    wanted = np.full(array.shape, start)
    for axis, size in enumerate(array.shape):
        second = tuple(1 if a == axis else 0 for a in range(array.ndim))
        following = array[second].item() if size > 1 else start
        step = following - start if following != start else 0  # infinities have no difference
        steps.append(step)
        if step:
            wanted = wanted + step * np.arange(size).reshape([-1 if a == axis else 1 for a in range(array.ndim)])
    return Ramp(array.shape, start, tuple(steps), array.dtype.name) if np.array_equal(wanted, array) else None


def _equal(a, b) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


def refs(value) -> Iterator[int]:
    """The numbers of all tensors in an argument or a result."""
    if isinstance(value, Ref):
        yield value.number
    elif isinstance(value, slice):
        yield from refs((value.start, value.stop, value.step))
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from refs(each)


def _needed(calls: list[Call], outputs) -> list[Call]:
    """Without the calls that nothing comes of, or that gave an argument back as it was."""
    wanted, kept = set(refs(outputs)), []
    for call in reversed(calls):
        given = set(refs((call.args, call.kwargs)))
        if call.writes or wanted & (set(refs(call.results)) - given):
            wanted |= given
            kept.append(call)
    return kept[::-1]
