"""Recording a model as a program: its framework calls, valid for every size of its inputs.

The forward runs on real tensors while the backend's recorder writes each framework call to a tape. Recordings with other
sizes show which numbers among the arguments depend on them; other differences between recordings depend on data, and are
an error. docs/decisions/two-tracers.md explains why calls are recorded and not lowered from a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ModelError
from labdl.graph.lowering.control_flow import recorded_control_flow
from labdl.graph.lowering.generalize import Generalization
from labdl.graph.lowering.program import Call, Program, Ref, operands, refs
from labdl.graph.lowering.tape import CapturedVariableError, Tape
from labdl.graph.lowering.variables import Variables, copied_variables, own_variables, restored_variables
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.signature import call_as_built, given_inputs
from labdl.spec import INTEGERS, Spec


@dataclass(frozen=True)
class Subject:
    """A function of native tensors to record, and the modules that it calls."""

    run: Callable
    backend: Any
    inputs: Sequence[Spec]
    parameters: Mapping[str, Parameter]
    modules: Sequence[Module]

    @classmethod
    def of(cls, model: Module) -> Subject:
        inputs = [spec for _, spec in given_inputs(model)]
        run = functools.partial(call_as_built, model)
        return cls(run, dispatch.get(model.backend), inputs, dict(model.named_parameters()), (model,))


def record_programs(model: Module) -> tuple[Program, Program]:
    """The programs of a built model on its backend, for evaluation and for training; see `record_program`.

    They use the framework's own random numbers, even in portable mode. The parameters are overwritten: pass a copy of the
    model.
    """
    subject = Subject.of(model)
    with dispatch.own_random_numbers(), subject.backend.recorder() as record:
        variables = own_variables(subject.parameters.values())
        evaluation = _recordings(subject, record, variables, False)
        program = _merge(subject, variables, evaluation)
        if _same_in_training(subject, record, variables, evaluation):
            return program, program
        return program, _program(subject, record, variables, True)


def record_program(subject: Subject, training: bool) -> Program:
    """The program of a function in one mode, for this process: its calls may refer to objects of the process.

    The recordings run on copies of the variables with other values, so that values computed from them are not taken for
    constants. Raises ModelError if the calls depend on data.
    """
    with subject.backend.recorder(live=True) as record:
        try:
            with copied_variables(subject.parameters.values(), subject.modules, subject.backend) as variables:
                return _program(subject, record, variables, training)
        except CapturedVariableError:
            with restored_variables(subject.parameters.values(), subject.backend) as variables:
                return _program(subject, record, variables, training)


@dataclass
class _Recordings:
    """Recordings in one mode, and the sizes of the inputs in each; `groups` of unknown sizes are one size together."""

    sizes: list[tuple[int, int]]  # unknown sizes: input and axis
    groups: list[list[int]]  # of places in `sizes`
    trials: list[list[int]]
    runs: list[tuple[Tape, Any]]  # the tape, and the numbers of the outputs


def _program(subject: Subject, record, variables: Variables, training: bool) -> Program:
    return _merge(subject, variables, _recordings(subject, record, variables, training))


def _recordings(subject: Subject, record, variables: Variables, training: bool) -> _Recordings:
    specs = subject.inputs
    sizes = [(n, axis) for n, spec in enumerate(specs) for axis, size in enumerate(spec.shape) if size is None]
    groups, trials, first = _first_recording(subject, record, variables, sizes, training)
    runs = [first]
    for number, trial in enumerate(trials[1:], 1):
        runs.append(_run(subject, record, variables, sizes, trial, number, training))
    if not _alike(runs):  # the first one may have filled caches
        runs[0] = _run(subject, record, variables, sizes, trials[0], 0, training)
    return _Recordings(sizes, groups, trials, runs)


def _alike(runs) -> bool:
    """Whether recordings with several sizes have the same calls, but for their arguments."""
    tapes = [tape for tape, _ in runs]
    first = tapes[0]
    return not any(
        tape.reads
        or [call.target for call in tape.calls] != [call.target for call in first.calls]
        or tape.constants.keys() != first.constants.keys()
        for tape in tapes
    )


def _same_in_training(subject: Subject, record, variables: Variables, evaluation: _Recordings) -> bool:
    """Whether the model makes the same calls in training: of the first sizes, and with all sizes changed."""
    for number in (0, len(evaluation.trials) - 1):
        trial, (tape, outputs) = evaluation.trials[number], evaluation.runs[number]
        other, results = _run(subject, record, variables, evaluation.sizes, trial, number, True)
        if not _equal((other.calls, other.constants, results), (tape.calls, tape.constants, outputs)):
            return False
    return True


def _equal(one, other) -> bool:
    """Whether two recordings are equal; those with arrays among their arguments count as different."""
    (calls, constants, outputs), (other_calls, other_constants, other_outputs) = one, other
    try:
        return (
            calls == other_calls
            and outputs == other_outputs
            and constants.keys() == other_constants.keys()
            and all(
                values.dtype == other_constants[n].dtype and np.array_equal(values, other_constants[n])
                for n, values in constants.items()
            )
        )
    except ValueError:  # comparison of arrays
        return False


def _merge(subject: Subject, variables: Variables, recordings: _Recordings) -> Program:
    runs, trials = recordings.runs, recordings.trials
    for tape, _ in runs:
        if tape.reads:
            raise ModelError(
                f"{tape.reads[0] or 'the model'} reads the values of a tensor in its forward, so its calls "
                "may depend on data, which a recording cannot express"
            )
    if len({len(tape.calls) for tape, _ in runs}) > 1:
        raise ModelError(
            "the calls of the model depend on the sizes of its inputs or on data, so it has no flat form: "
            "give it fixed sizes at build"
        )
    heads = [group[0] for group in recordings.groups]
    merged = Generalization([[trial[at] for at in heads] for trial in trials])
    first, outputs = runs[0]
    calls = [merged.call([tape.calls[n] for tape, _ in runs]) for n in range(len(first.calls))]
    if any(tape.constants.keys() != first.constants.keys() for tape, _ in runs):
        raise ModelError("constants of the model depend on data")
    constants = {n: merged.constant([tape.constants[n] for tape, _ in runs]) for n in first.constants}
    parameters = {key: Ref(first.numbers[id(variables.of[id(p)])]) for key, p in subject.parameters.items()}
    sizes = [recordings.sizes[at] for at in heads]
    return Program([*subject.inputs], sizes, parameters, constants, _without_unused(calls, outputs), outputs)


_UNFIT = "the model does not run on random inputs, with which its calls are recorded"
_FIRST = (5, 7, 11, 13, 17)  # sizes of the first recording, which are rarely also sizes of layers

# which unknown sizes are one, by their place and axis: only those of batches, all of an axis, or all but those of batches
_GROUPINGS: tuple[Callable[[int, int], int], ...] = (
    lambda at, axis: at if axis else -1,
    lambda at, axis: axis,
    lambda at, axis: min(axis, 1),
)


def _first_recording(subject: Subject, record, variables: Variables, sizes, training: bool):
    """The places of the unknown sizes, those that are one together, sizes for each recording, and the first recording.

    Sizes of two inputs may have to be equal, as of keys and their mask, which only a run shows.
    """
    groupings = []
    for key in _GROUPINGS:
        found: dict[int, list[int]] = {}
        for at, (_, axis) in enumerate(sizes):
            found.setdefault(key(at, axis), []).append(at)
        if [*found.values()] not in groupings:
            groupings.append([*found.values()])
    for groups in groupings:
        first = {at: _FIRST[group[0] % len(_FIRST)] for group in groups for at in group}
        base = [first[at] for at in range(len(sizes))]
        try:
            first_run = _run(subject, record, variables, sizes, base, 0, training)
        except ValueError as error:
            if isinstance(error, ModelError):
                raise
            if len(groupings) == 1:
                raise ModelError(f"{_UNFIT}: {error}") from error
            if groups is groupings[-1]:
                reason = "the model does not run on inputs of other sizes, so give it fixed sizes at build"
                raise ModelError(f"{reason}: {error}") from error
            continue
        break
    trials = [base, *([n + 2 if at in group else n for at, n in enumerate(base)] for group in groups)]
    return groups, [*trials, [n + 3 for n in base]], first_run


def _run(subject: Subject, record, variables: Variables, sizes, trial, number: int, training: bool):
    """One recording: the tape, and the numbers of the outputs."""
    # what is counted in the data differs where every other recording has ones alone; some indices have no 1, 0 is no divisor
    ranges = [(number % 2, 2), (1, 2), (0, 1)]
    if not any(spec.dtype in INTEGERS for spec in subject.inputs):
        ranges = ranges[:1]
    first: Exception | None = None
    for integers in ranges:
        try:
            return _run_with(subject, record, variables, sizes, trial, number, training, integers)
        except (ModelError, CapturedVariableError):
            raise
        except Exception as error:  # those of frameworks have no common class
            first = first or error
    if isinstance(first, ValueError | MemoryError):
        raise first
    raise ModelError(f"{_UNFIT}: {first}") from first


def _run_with(subject: Subject, record, variables: Variables, sizes, trial, number: int, training: bool, integers):
    backend, specs = subject.backend, subject.inputs
    shapes = [list(s.shape) for s in specs]
    for (n, axis), size in zip(sizes, trial, strict=True):
        shapes[n][axis] = size
    draw = np.random.default_rng(number)
    inputs = [_sample(draw, shape, spec.dtype, backend, integers) for shape, spec in zip(shapes, specs, strict=True)]
    values, known = list(variables.of.values()), {}
    parameters = {id(p): p for p in subject.parameters.values()}
    for number, (key, value) in enumerate(variables.of.items(), len(inputs)):
        if "float" in parameters[key].dtype:
            drawn = draw.uniform(0.5, 1.5, parameters[key].shape).astype("float32")
            backend.assign(value, drawn)
            known[number] = drawn if parameters[key].dtype == "float32" else np.array(backend.to_numpy(value))
    tape = Tape(backend, [*inputs, *values], known, training, variables.forbidden)
    for module in subject.modules:
        module.train(training)
    with _tracking_modules(subject.modules, tape), recorded_control_flow(tape):
        outputs = tape.result(record(lambda: subject.run(*inputs), tape))
    tape.tensors.clear()  # tensors of this recording only
    return tape, outputs


def _sample(draw, shape, dtype: str, backend, integers: tuple[int, int]):
    if dtype == "bool":
        return backend.tensor(draw.integers(0, 2, shape).astype(bool))
    if "float" in dtype or "complex" in dtype:
        return backend.tensor(
            draw.standard_normal(shape, "float32").astype(dtype if dtype != "bfloat16" else "float32")
        )
    return backend.tensor(draw.integers(*integers, shape).astype(dtype))


@contextmanager
def _tracking_modules(modules: Sequence[Module], tape: Tape):
    """Context in which ``tape.place`` is the path of the running module."""

    def track(path: str, forward):
        def run(*args, **kwargs):
            before, tape.place = tape.place, path
            try:
                return forward(*args, **kwargs)
            finally:
                tape.place = before

        return run

    named = [pair for root in modules for pair in root.named_modules()]
    previous = [(m, m.__dict__.get("forward")) for _, m in named]
    try:
        for path, module in named:
            module.__dict__["forward"] = track(path, module.forward)
        yield
    finally:
        for module, forward in previous:
            module.__dict__.pop("forward") if forward is None else module.__dict__.update(forward=forward)


def _without_unused(calls: list[Call], outputs) -> list[Call]:
    """Remove calls whose results are not used, or that returned an argument unchanged."""
    wanted, kept = set(refs(outputs)), []
    for call in reversed(calls):
        used = set(operands(call))
        if call.writes or wanted & (set(refs(call.results)) - used):
            wanted |= used
            kept.append(call)
    return kept[::-1]
