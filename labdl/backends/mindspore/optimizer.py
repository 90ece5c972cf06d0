"""LabDL's optimisers on MindSpore: its fused kernels where one means the same, else the rule's own update."""

import mindspore
import numpy as np
from mindspore import Tensor
from mindspore.ops import operations as P

from labdl.backends.mindspore.runtime import spec_of, variable


def _slots(rule, variables):
    return [{slot: variable(np.full(shape, start, _kept_as(v)), trainable=False)
             for slot, (shape, start) in rule.slots(tuple(v.shape)).items()} for v in variables]  # fmt: skip


def _kept_as(value) -> str:
    name = spec_of(value).dtype
    return "float32" if name == "bfloat16" else name


def _load(own, state) -> None:
    for parameters, arrays in zip(own, state, strict=True):
        for slot, array in arrays.items():
            parameters[slot].set_data(Tensor(np.array(array), parameters[slot].dtype))


def _scalars(*values: float):
    # one conversion a step; with Python numbers MindSpore makes one for each variable
    return [Tensor(value, mindspore.float32) for value in values]


class Own:
    """An in-place kernel; the slots are parameters, a dictionary for each variable."""

    def __init__(self, rule, variables):
        self.variables, self.settings = tuple(variables), rule.settings()
        self.version = self.step = 0
        self.learning_rate, self.weight_decay = rule.learning_rate, self.settings["weight_decay"]
        self.state = _slots(rule, self.variables)

    def advance(self) -> None:
        self.step += 1

    def update(self, gradients) -> None:
        """Move the variables by one step."""
        raise NotImplementedError

    def load(self, step: int, state) -> None:
        self.step = step
        _load(self.state, state)

    def _decayed(self, gradients):
        if not self.weight_decay:
            return gradients
        return [
            None if g is None else g + p * self.weight_decay for p, g in zip(self.variables, gradients, strict=True)
        ]


class SGD(Own):
    """Stochastic gradient descent with momentum."""

    def __init__(self, rule, variables):
        super().__init__(rule, variables)
        self._nesterov = self.settings["nesterov"]
        # ApplyMomentum is the fastest kernel, also without momentum, but ignores its use_nesterov on CPU; SGD follows it
        self._apply = P.SGD(nesterov=True) if self._nesterov else P.ApplyMomentum()
        made = [variable(np.zeros(v.shape, _kept_as(v)), trainable=False) for v in self.variables] \
            if self._nesterov or not self.settings["momentum"] else []  # fmt: skip
        # what the kernels want besides: SGD a mark of the first step, which 0 says has been, ApplyMomentum a momentum
        self._besides = made or [None] * len(self.variables)

    def update(self, gradients) -> None:
        apply, (rate, momentum) = self._apply, _scalars(self.learning_rate, self.settings["momentum"])
        rows = zip(self.variables, self._decayed(gradients), self.state, self._besides, strict=True)
        for p, g, slots, besides in rows:
            if g is None:
                continue
            if self._nesterov:
                apply(p, g, rate, slots["momentum"], momentum, besides)
            else:
                apply(p, slots.get("momentum", besides), rate, g, momentum)


class Adam(Own):
    """Adam, and with its decay apart from the gradient AdamW."""

    decoupled = False

    def __init__(self, rule, variables):
        super().__init__(rule, variables)
        # P.Adam is the faster kernel, but knows no float64
        self._apart = self.decoupled and self.weight_decay > 0
        self._plain = not self._apart and all(v.dtype != mindspore.float64 for v in self.variables)
        self._apply = P.Adam() if self._plain else P.AdamWeightDecay()

    def update(self, gradients) -> None:
        apply, rate = self._apply, self.learning_rate
        beta_1, beta_2 = self.settings["beta_1"], self.settings["beta_2"]
        power_1, power_2 = beta_1**self.step, beta_2**self.step
        correction = (1 - power_2) ** 0.5
        epsilon = self.settings["epsilon"] * correction  # the kernels add it before the bias correction, torch after it
        if not self.decoupled:
            gradients = self._decayed(gradients)
        if self._plain:
            scalars = _scalars(power_1, power_2, rate, beta_1, beta_2, epsilon)
        else:
            # AdamWeightDecay corrects no bias: the corrected rate does, and the decay may not take part in that
            corrected = rate * correction / (1 - power_1)
            decay = self.weight_decay * (1 - power_1) / correction if self._apart else 0.0
            scalars = _scalars(corrected, beta_1, beta_2, epsilon, decay)
        for p, g, slots in zip(self.variables, gradients, self.state, strict=True):
            if g is not None:
                apply(p, slots["mean"], slots["square"], *scalars, g)


class AdamW(Adam):
    """Adam with its decay apart from the gradient."""

    decoupled = True


class Ruled:
    """The update of a rule, run as it is."""

    def __init__(self, rule, variables):
        self.rule, self.variables = rule, tuple(variables)
        self.learning_rate, self.version, self.step = rule.learning_rate, 0, 0
        self.state = [
            {
                slot: Tensor(np.full(shape, start, _kept_as(v)), v.dtype)
                for slot, (shape, start) in rule.slots(tuple(v.shape)).items()
            }
            for v in self.variables
        ]

    def advance(self) -> None:
        self.step += 1
        self._numbers = self.rule.numbers(self.step, self.learning_rate)

    def update(self, gradients) -> None:
        for i, (p, g) in enumerate(zip(self.variables, gradients, strict=True)):
            if g is not None:
                value, self.state[i] = self.rule.update(p, g, self.state[i], **self._numbers)
                p.copy_(value)  # Assign, a kernel of the old kind, takes a hundred times as long

    def load(self, step: int, state) -> None:
        self.step = step
        self.state = [
            {slot: Tensor(np.array(a), v.dtype) for slot, a in slots.items()}
            for v, slots in zip(self.variables, state, strict=True)
        ]


_OWN = {"sgd": SGD, "adam": Adam, "adamw": AdamW}


def optimizer(rule, variables):
    amsgrad = rule.settings().get("amsgrad")
    return Ruled(rule, variables) if rule.kind not in _OWN or amsgrad else _OWN[rule.kind](rule, variables)
