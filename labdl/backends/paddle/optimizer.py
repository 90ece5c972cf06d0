"""LabDL's optimisers on PaddlePaddle: its in-place kernels where one means the same, else the rule's own update."""

import numpy as np
import paddle
from paddle import _C_ops


def _slots(rule, variables):
    return [{slot: paddle.full(shape, start, v.dtype) for slot, (shape, start) in rule.slots(tuple(v.shape)).items()}
            for v in variables]  # fmt: skip


def _tensors(variables, state):
    return [{slot: paddle.to_tensor(a, dtype=v.dtype, place=v.place) for slot, a in slots.items()}
            for v, slots in zip(variables, state, strict=True)]  # fmt: skip


def _power(beta: float, step: int, dtype) -> float:
    """As the kernels arrive at it, by a product a step in the parameter's precision: a state that is loaded goes on exactly."""
    kind = "float64" if dtype == paddle.float64 else "float32"
    power = np.ones((), kind)
    for _ in range(step):
        following = power * np.asarray(beta, kind)
        if following == power:  # at 0, or where rounding holds it
            break
        power = following
    return float(power)


class Own:
    """A kernel of Paddle's behind LabDL's settings, without the bookkeeping of paddle.optimizer."""

    def __init__(self, rule, variables, kernel):
        self.variables, self.settings, self.kernel = list(variables), rule.settings(), kernel
        self.version = self.step = 0
        self._rate = rule.learning_rate
        # the kernels read the rate from a tensor of the parameter's dtype
        self.rates = {v.dtype: paddle.full([1], self._rate, v.dtype) for v in self.variables}
        self.state = _slots(rule, self.variables)
        self._line_up()

    def _line_up(self) -> None:
        """The slots as the kernels take them: a list a slot, and for Adam the powers of its betas."""
        first = self.state[0] if self.state else {}
        self.slots = [[slots[name] for slots in self.state] for name in first]
        betas = ("beta_1", "beta_2") if len(first) == 2 else ()
        self.slots += [[paddle.full([1], _power(self.settings[b], self.step + 1, v.dtype), v.dtype) for v in self.variables]
                       for b in betas]  # fmt: skip

    @property
    def learning_rate(self) -> float:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self._rate = value
        for rate in self.rates.values():
            rate.fill_(value)

    def advance(self) -> None:
        self.step += 1

    def update(self, gradients) -> None:
        self.kernel(self, gradients)

    def load(self, step: int, state) -> None:
        self.step, self.state = step, _tensors(self.variables, state)
        self._line_up()


def _decayed(rows, decay):
    """The rows of variables, gradients and slots with the decay in the gradients."""
    with paddle.no_grad():
        return [(v, _C_ops.add(g, _C_ops.scale(v.detach(), decay, 0.0, True)), *slots) for v, g, *slots in rows]


def _rows(own, gradients):
    return [row for row in zip(own.variables, gradients, *own.slots, strict=True) if row[1] is not None]


def _sgd(own, gradients):
    rows, decay = _rows(own, gradients), own.settings["weight_decay"]
    for v, g in _decayed(rows, decay) if decay else rows:
        _C_ops.sgd_(v, own.rates[v.dtype], g, None, False)


def _momentum(own, gradients):
    s = own.settings
    method = "l2_decay" if s["weight_decay"] else ""
    for v, g, m in _rows(own, gradients):
        _C_ops.momentum_(v, g, m, own.rates[v.dtype], None, s["momentum"], s["nesterov"], method,
                         s["weight_decay"], False, 1.0)  # fmt: skip


def _adam(own, gradients):
    s, rows = own.settings, _rows(own, gradients)
    if s["weight_decay"]:
        rows = _decayed(rows, s["weight_decay"])
    for dtype, rate in own.rates.items():  # one call for all variables of a dtype
        same = [row for row in rows if row[0].dtype == dtype]
        if same:
            v, g, m1, m2, p1, p2 = map(list, zip(*same, strict=True))
            _C_ops.merged_adam_(v, g, [rate] * len(v), m1, m2, None, p1, p2, None, s["beta_1"], s["beta_2"],
                                s["epsilon"], False, False, False)  # fmt: skip


def _adamw(own, gradients):
    s = own.settings
    for v, g, m1, m2, p1, p2 in _rows(own, gradients):
        _C_ops.adamw_(v, g, own.rates[v.dtype], m1, m2, None, p1, p2, None, None, s["beta_1"], s["beta_2"],
                      s["epsilon"], 1.0, s["weight_decay"], True, False, 1000, False, False, False)  # fmt: skip


class Ruled:
    """The update of a rule, run as it is."""

    def __init__(self, rule, variables):
        self.rule, self.variables = rule, list(variables)
        self.learning_rate, self.version, self.step = rule.learning_rate, 0, 0
        self.state = _slots(rule, self.variables)

    def advance(self) -> None:
        self.step += 1
        self._numbers = self.rule.numbers(self.step, self.learning_rate)

    @paddle.no_grad()
    def update(self, gradients) -> None:
        for i, (v, g) in enumerate(zip(self.variables, gradients, strict=True)):
            if g is not None:
                value, self.state[i] = self.rule.update(v, g, self.state[i], **self._numbers)
                _C_ops.assign_out_(value, v)

    def load(self, step: int, state) -> None:
        self.step, self.state = step, _tensors(self.variables, state)


_OWN = {"sgd": _sgd, "momentum": _momentum, "adam": _adam, "adamw": _adamw}


def optimizer(rule, variables):
    settings, kind = rule.settings(), rule.kind
    if kind not in _OWN or settings.get("amsgrad"):
        return Ruled(rule, variables)
    return Own(rule, variables, _OWN["momentum" if settings.get("momentum") else kind])
