"""A function of tensors as flat framework calls in this process, for the framework's own compiler."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
import tempfile
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import ModelError
from labdl.graph.codegen.calls import Names, identifier
from labdl.graph.lowering.method_source import MethodSource
from labdl.graph.lowering.program import Call, Program, Ref, operands, refs
from labdl.graph.lowering.record import Subject, record_program
from labdl.nn.module import Module
from labdl.ops.operator import resolve_all
from labdl.ops.random.state import random_state, set_random_state

_count = itertools.count()


@dataclass(frozen=True)
class Flat:
    """``run(*inputs, *draw())`` computes the function in a framework's own calls, on the same variables.

    ``draw()`` returns random numbers, which are sampled outside of ``run`` if the framework's compiler would change them.
    ``run`` has Python's loops or branches if ``control_flow``.
    """

    run: Callable
    draw: Callable[[], tuple]
    control_flow: bool


def flatten(subject: Subject, training: bool) -> Flat:
    """The flat form for inputs of known sizes. Raises ModelError if the calls depend on data.

    Parameters are not changed; the state of random numbers and the modes are restored. Portable random numbers have no
    flat form: they are sampled by NumPy, and a compiler would treat them as constants.
    """
    backend = subject.backend
    modes = [(m, m.training) for root in subject.modules for m in root.modules()]
    random = random_state(backend.name)
    try:
        program = record_program(subject, training)
    except ModelError as error:
        _refuse_portable(backend, random, error)
        raise
    else:
        _refuse_portable(backend, random)
    finally:
        for module, mode in modes:
            module.__dict__["training"] = mode
        set_random_state(random, backend.name)
    reason = backend.SOURCE.get("loops_without_gradient")
    if reason and training and _has_loop(program.calls):
        raise ModelError(reason)
    return _Writer(subject).flat(program)


def _has_loop(calls: Sequence[Call]) -> bool:
    return any(call.target == "while" or any(_has_loop(block.calls) for block in call.blocks) for call in calls)


def _refuse_portable(backend, before, error=None) -> None:
    if random_state(backend.name)["portable"] != before["portable"]:
        raise ModelError(
            "its random numbers are portable (labdl.seed(..., portable=True)): NumPy draws them at each step"
        ) from error


class _Writer:
    """Writes the source of a class; its attributes are passed in: variables, known tensors and objects."""

    def __init__(self, subject: Subject):
        self.backend, self.words = subject.backend, subject.backend.SOURCE
        self.attributes, self.setup = Names("run", "draw", *self.words["reserved"]), []
        self.given: dict[str, Any] = {}
        self.parameters = {}
        for key, parameter in subject.parameters.items():
            kind = "self.{name} = {value}" if parameter.learnable else self.words["existing"]
            self.parameters[key] = self._hold(
                identifier(key.removesuffix(":0").replace("/", "_")), parameter.value, kind
            )

    def flat(self, program: Program) -> Flat:
        inside, outside = _separate_draws(program)
        used = {*refs(program.outputs), *(n for call in inside for n in operands(call))}
        drawn = sorted(used & {n for call in outside for n in refs(call.results)})
        inputs = [f"input_{n}" for n in range(len(program.inputs))]
        received = {n: f"drawn_{n}" for n in drawn}
        write = MethodSource(self.backend, self.parameters, self._constant, self._object)
        run = write(dataclasses.replace(program, calls=inside), inputs, received)
        draw = write(dataclasses.replace(program, calls=outside, outputs=tuple(map(Ref, drawn))), [])
        text = "\n".join(
            [
                *self.words["imports"],
                "",
                "",
                f"class Flat({self.words['base']}):",
                "    def __init__(self, given):",
                "        super().__init__()",
                *(f"        {line}" for line in self.setup),
                "",
                f"    def {self.words['method']}(self, {', '.join([*inputs, *received.values()])}):",
                *run,
                "",
                "    def draw(self):",
                *draw,
                "",
            ]
        )
        flat = _module(text).Flat(self.given)
        return Flat(flat, flat.draw, any(call.blocks for call in program.calls))

    def _hold(self, word: str, value, template: str) -> str:
        name = self.attributes.new(word)
        self.given[name] = value
        self.setup.append(template.format(name=name, value=f"given[{name!r}]"))
        return f"self.{name}"

    def _constant(self, array: np.ndarray) -> str:
        return self._hold("constant", self.backend.tensor(array), self.words["existing"])

    def _object(self, value) -> str:
        known = [name for name, held in self.given.items() if held is value]
        return f"self.{known[0]}" if known else self._hold("object", value, "self.{name} = {value}")


@functools.cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="labdl-flat-")  # deleted with the process


def _module(text: str) -> Any:
    """Import the source as a module from a file, where compilers read it, while its class lives."""
    module = types.ModuleType(f"labdl_flat_{next(_count)}")
    file = Path(_folder().name) / f"{module.__name__}.py"
    file.write_text(text)
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    exec(compile(text, str(file), "exec"), vars(module))
    weakref.finalize(module.Flat, sys.modules.pop, module.__name__, None)
    return module


def _separate_draws(program: Program) -> tuple[list[Call], list[Call]]:
    """The calls that depend on inputs and parameters, and those that sample random numbers or depend only on these."""
    moving = {*range(len(program.inputs)), *(ref.number for ref in program.parameters.values())}
    inside, still, drawn = [], [], set()
    for call in program.calls:
        used, results = {*operands(call)}, {*refs(call.results)}
        if used & moving or call.writes:
            moving |= results
            inside.append(call)
            continue
        still.append(call)
        if used & drawn or not isinstance(call.target, str):
            drawn |= results
        else:
            inside.append(call)
    outside, wanted = [], set(drawn)
    for call in reversed(still):  # random calls and their arguments
        if wanted & {*refs(call.results)}:
            wanted |= {*operands(call)}
            outside.append(call)
    return inside, outside[::-1]


class Compilable:
    """A function of native tensors over modules; with a flat form for a backend's compiler.

    It is compiled for one batch size: ``size`` samples, by default that of the first call. Others, such as the last batch of
    an epoch, are computed by the function itself, with equal results.
    """

    def __init__(self, function: Callable, modules: Sequence[Module], backend, size: int | None = None):
        self.function, self.modules, self.backend, self.size = function, modules, backend, size
        self.refused = False

    def __call__(self, *inputs):
        return self.function(*inputs)

    def prepare(self) -> None:
        """Resolve all operators now: a compiler that traces Python would also trace the search."""
        resolve_all(self.backend)

    def flat(self, inputs: Sequence, training: bool) -> Flat | None:
        """The flat form for inputs like these, None if it does not exist; a warning gives the reason once."""
        specs = [self.backend.spec_of(x) for x in inputs]
        sizes = {spec.shape[0] for spec in specs if spec.shape}
        if self.size is None and sizes:
            self.size = min(sizes)
        if self.refused or sizes != {self.size}:
            return None
        parameters = {f"{n}/{name}": p for n, root in enumerate(self.modules) for name, p in root.named_parameters()}
        try:
            return flatten(Subject(self.function, self.backend, specs, parameters, self.modules), training)
        except ModelError as error:
            return self.refuse(error)

    def refuse(self, reason) -> None:
        """Warn that the function is not compiled, and return None from now on."""
        self.refused = True
        warnings.warn(f"the model is not compiled but runs as it is: {reason}", stacklevel=2)
