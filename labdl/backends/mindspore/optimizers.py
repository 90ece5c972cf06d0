"""LabDL's optimizers on MindSpore: fused kernels of the same semantics, else the update of the rule, compiled with the step."""

# MindSpore annotates no results of cells: pyright infers None
# pyright: reportOptionalSubscript=false

import functools
from typing import Any

import mindspore
import numpy as np
from mindspore import ParameterTuple, Tensor, nn, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.tensors import assign, spec_of, variable
from labdl.backends.mindspore.threads import exclusive


def _slots(rule, variables):
    return [
        {
            slot: variable(np.full(shape, start, _kept_as(v)), trainable=False)
            for slot, (shape, start) in rule.slots(tuple(v.shape)).items()
        }
        for v in variables
    ]


def _kept_as(value) -> str:
    name = spec_of(value).dtype
    return "float32" if name == "bfloat16" else name


def _load(own, state) -> None:
    for parameters, arrays in zip(own, state, strict=True):
        for slot, array in arrays.items():
            assign(parameters[slot], array)


def _scalars(*values: float):
    # one conversion per step; Python numbers would be converted for each variable
    return [Tensor(value, mindspore.float32) for value in values]


class NativeOptimizer:
    """An in-place kernel; the slots are parameters, a dictionary per variable.

    ``kernels`` is a cell, so that a compiled step can hold it: it takes the gradients and the `numbers` of a step.
    """

    kernels: Any

    def __init__(self, rule, variables):
        self.variables, self.settings = tuple(variables), rule.settings()
        self.version = self.step = 0
        self.learning_rate, self.weight_decay = rule.learning_rate, self.settings["weight_decay"]
        self.state = _slots(rule, self.variables)

    def advance(self) -> None:
        self.step += 1

    def numbers(self, step: int) -> list[Tensor]:
        """The scalar arguments of the kernels in a step."""
        raise NotImplementedError

    @exclusive
    def update(self, gradients) -> None:
        """Update the variables by one step."""
        self.kernels.construct(
            gradients, *self.numbers(self.step)
        )  # calling the cell has more overhead than the update

    def load(self, step: int, state) -> None:
        self.step = step
        _load(self.state, state)

    def _lined_up(self, slot: str) -> ParameterTuple:
        return ParameterTuple([slots[slot] for slots in self.state])


class _Descent(nn.Cell):
    """ApplyMomentum is the fastest kernel, also without momentum, but ignores its use_nesterov on CPU; SGD follows it.

    ``besides`` is a further argument: of SGD a flag of the first step (0: done), of ApplyMomentum the momentum.
    """

    def __init__(self, variables, momenta, besides, weight_decay, nesterov):
        super().__init__()
        self.variables, self.momenta, self.besides = ParameterTuple(variables), momenta, besides
        self.weight_decay, self.nesterov = weight_decay, nesterov
        self.run = P.SGD(nesterov=True) if nesterov else P.ApplyMomentum()

    def construct(self, gradients, rate, momentum):
        done = ()
        for p, g, m, besides in zip(self.variables, gradients, self.momenta, self.besides):  # noqa: B905 - compiled
            if g is not None:
                g = g + p * self.weight_decay if self.weight_decay else g
                if self.nesterov:
                    done = (*done, self.run(p, g, rate, m, momentum, besides))
                else:
                    done = (*done, self.run(p, m, rate, g, momentum))
        return done


class SGD(NativeOptimizer):
    """Stochastic gradient descent with momentum."""

    def __init__(self, rule, variables):
        super().__init__(rule, variables)
        nesterov = self.settings["nesterov"]
        made = (
            [variable(np.zeros(v.shape, _kept_as(v)), trainable=False) for v in self.variables]
            if nesterov or not self.settings["momentum"]
            else []
        )
        self.made = made
        momenta = self._lined_up("momentum") if self.settings["momentum"] else ParameterTuple(made)
        besides = ParameterTuple(made) if nesterov else momenta
        self.kernels = _Descent(self.variables, momenta, besides, self.weight_decay, nesterov)

    def load(self, step, state):
        super().load(step, state)
        for besides in self.made:  # the kernel multiplies it by a momentum of 0, which would keep an earlier NaN
            assign(besides, np.zeros(besides.shape, "float32"))

    def numbers(self, step):
        return _scalars(self.learning_rate, self.settings["momentum"])


class _Moments(nn.Cell):
    """Kernels that take a variable, two slots and numbers."""

    def __init__(self, run, variables, means, squares, weight_decay):
        super().__init__()
        self.run, self.variables, self.means, self.squares = run, ParameterTuple(variables), means, squares
        self.weight_decay = weight_decay

    def construct(self, gradients, *numbers):
        done = ()
        for p, g, m, v in zip(self.variables, gradients, self.means, self.squares):  # noqa: B905 - compiled
            if g is not None:
                g = g + p * self.weight_decay if self.weight_decay else g
                done = (*done, self.run(p, m, v, *numbers, g))
        return done


class Adam(NativeOptimizer):
    """Adam, and with decoupled weight decay AdamW."""

    decoupled = False

    def __init__(self, rule, variables):
        super().__init__(rule, variables)
        # P.Adam is the faster kernel, but does not support float64
        self._apart = self.decoupled and self.weight_decay > 0
        self._plain = not self._apart and all(v.dtype != mindspore.float64 for v in self.variables)
        self.kernels = _Moments(
            P.Adam() if self._plain else P.AdamWeightDecay(),
            self.variables,
            self._lined_up("mean"),
            self._lined_up("square"),
            0.0 if self.decoupled else self.weight_decay,
        )

    def numbers(self, step):
        rate, beta_1, beta_2 = self.learning_rate, self.settings["beta_1"], self.settings["beta_2"]
        power_1, power_2 = beta_1**step, beta_2**step
        correction = (1 - power_2) ** 0.5
        epsilon = (
            self.settings["epsilon"] * correction
        )  # the kernels add it before the bias correction, PyTorch after it
        if self._plain:
            return _scalars(power_1, power_2, rate, beta_1, beta_2, epsilon)
        # AdamWeightDecay has no bias correction: use a corrected rate, which must not affect the decay
        corrected = rate * correction / (1 - power_1)
        decay = self.weight_decay * (1 - power_1) / correction if self._apart else 0.0
        return _scalars(corrected, beta_1, beta_2, epsilon, decay)


class AdamW(Adam):
    """Adam with decoupled weight decay."""

    decoupled = True


class _Rules(nn.Cell):
    """The updates of a rule in MindSpore's calls, one for each shape and data type."""

    def __init__(self, variables, states, updates):
        super().__init__()
        kinds = [(tuple(v.shape), spec_of(v).dtype) for v in variables]
        self.updates = nn.CellList(list(updates.values()))
        self.which = tuple(list(updates).index(kind) for kind in kinds)
        self.variables = ParameterTuple(variables)
        self.slots = ParameterTuple([slot for slots in states for slot in slots.values()])
        self.ends = tuple(sum(map(len, states[:n])) for n in range(len(states) + 1))

    def construct(self, gradients, *numbers):
        done = ()
        for n in range(len(self.which)):
            gradient = gradients[n]
            if gradient is not None:
                slots = self.slots[self.ends[n] : self.ends[n + 1]]
                found = self.updates[self.which[n]](self.variables[n], gradient, *slots, *numbers)
                done = (*done, ops.assign(self.variables[n], found[0]))
                for k in range(len(slots)):
                    done = (*done, ops.assign(slots[k], found[k + 1]))
        return done


class RuleUpdates(NativeOptimizer):
    """Runs the update of a rule; ``kernels`` are None where it has no form that a compiled step can hold."""

    def __init__(self, rule, variables):
        self.rule, self.variables = rule, tuple(variables)
        self.version = self.step = 0
        self.learning_rate = rule.learning_rate
        self.state = [
            {
                slot: variable(Tensor(np.full(shape, start, _kept_as(v)), v.dtype), trainable=False)
                for slot, (shape, start) in rule.slots(tuple(v.shape)).items()
            }
            for v in self.variables
        ]

    @functools.cached_property
    def kernels(self) -> _Rules | None:
        kinds = dict.fromkeys((tuple(v.shape), spec_of(v).dtype) for v in self.variables)
        updates = {kind: self.rule.flat_update("mindspore", *kind) for kind in kinds}
        return None if None in updates.values() else _Rules(self.variables, self.state, updates)

    def numbers(self, step):
        return [Tensor(value, mindspore.float64) for value in self.rule.numbers(step, self.learning_rate).values()]

    @exclusive
    def update(self, gradients) -> None:
        numbers = self.rule.numbers(self.step, self.learning_rate)
        for v, gradient, slots in zip(self.variables, gradients, self.state, strict=True):
            if gradient is not None:
                value, after = self.rule.update(v, gradient, dict(slots), **numbers)
                v.copy_(value)  # ops.assign takes a hundred times as long here
                for slot, tensor in after.items():
                    slots[slot].copy_(tensor)


_NATIVE = {"sgd": SGD, "adam": Adam, "adamw": AdamW}


def optimizer(rule, variables):
    amsgrad = rule.settings().get("amsgrad")
    return RuleUpdates(rule, variables) if rule.kind not in _NATIVE or amsgrad else _NATIVE[rule.kind](rule, variables)


class _Together(nn.Cell):
    """The kernels of several optimizers, each for the variables at some places among all."""

    def __init__(self, parts):
        super().__init__()
        self.natives = [native for native, _ in parts]
        self.kernels = nn.CellList([native.kernels for native in self.natives])
        self.places = tuple(tuple(places) for _, places in parts)
        counts = [len(native.numbers(1)) for native in self.natives]
        self.ends = tuple(sum(counts[:n]) for n in range(len(counts) + 1))

    def numbers(self):
        """The scalars of the next step, concatenated over the optimizers."""
        return [number for native in self.natives for number in native.numbers(native.step + 1)]

    def construct(self, gradients, *numbers):
        done = ()
        for n in range(len(self.places)):
            chosen = ()
            for place in self.places[n]:
                chosen = (*chosen, gradients[place])
            done = (*done, self.kernels[n](chosen, *numbers[self.ends[n] : self.ends[n + 1]]))
        return done


def fused_kernels(optimizer) -> _Together | None:
    """The kernels of an optimizer for a compiled step; None where its update is the rule's own."""
    parts = getattr(optimizer, "natives", None) or [(optimizer, range(len(optimizer.variables)))]
    return _Together(parts) if all(native.kernels is not None for native, _ in parts) else None
