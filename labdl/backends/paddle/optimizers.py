"""LabDL's optimizers on PaddlePaddle: in-place kernels of the same semantics, else the update of the rule."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

import numpy as np
import paddle

from labdl.backends.paddle import kernels
from labdl.backends.rule_optimizer import RuleOptimizer


def _slot_from(variable, array):
    return paddle.to_tensor(array, dtype=variable.dtype, place=variable.place)


def _power(beta: float, step: int, dtype) -> float:
    """The power as the kernels compute it, one product per step in the parameter's precision, so that resuming is exact."""
    kind = "float64" if dtype == paddle.float64 else "float32"
    power = np.ones((), kind)
    for _ in range(step):
        following = power * np.asarray(beta, kind)
        if following == power:  # at 0, or a fixed point of rounding
            break
        power = following
    return float(power)


class NativeOptimizer:
    """A kernel of Paddle with LabDL's settings, without the overhead of paddle.optimizer."""

    def __init__(self, rule, variables, kernel):
        self.variables, self.settings, self.kernel = list(variables), rule.settings(), kernel
        self.version = self.step = 0
        self._rate = rule.learning_rate
        # the kernels read the rate from a tensor of the parameter's dtype
        self.rates = {v.dtype: paddle.full([1], self._rate, v.dtype) for v in self.variables}
        self.state = [
            {slot: paddle.full(shape, start, v.dtype) for slot, (shape, start) in rule.slots(tuple(v.shape)).items()}
            for v in self.variables
        ]
        self._line_up()

    def _line_up(self) -> None:
        """The slots for the kernels: a list per slot, and for Adam the powers of its betas."""
        first = self.state[0] if self.state else {}
        self.slots = [[slots[name] for slots in self.state] for name in first]
        betas = ("beta_1", "beta_2") if len(first) == 2 else ()
        self.slots += [
            [paddle.full([1], _power(self.settings[b], self.step + 1, v.dtype), v.dtype) for v in self.variables]
            for b in betas
        ]

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
        self.step = step
        self.state = [
            {slot: _slot_from(v, a) for slot, a in slots.items()}
            for v, slots in zip(self.variables, state, strict=True)
        ]
        self._line_up()


def _with_decay(rows, decay):
    """Rows of variables, gradients (with decay) and slots."""
    with paddle.no_grad():
        return [(v, kernels.add(g, kernels.scale(v.detach(), decay, 0.0, True)), *slots) for v, g, *slots in rows]


def _rows(own, gradients):
    return [row for row in zip(own.variables, gradients, *own.slots, strict=True) if row[1] is not None]


def _sgd(own, gradients):
    rows, decay = _rows(own, gradients), own.settings["weight_decay"]
    for v, g in _with_decay(rows, decay) if decay else rows:
        kernels.sgd_(v, own.rates[v.dtype], g, None, False)


def _momentum(own, gradients):
    s = own.settings
    method = "l2_decay" if s["weight_decay"] else ""
    for v, g, m in _rows(own, gradients):
        kernels.momentum_(
            v, g, m, own.rates[v.dtype], None, s["momentum"], s["nesterov"], method, s["weight_decay"], False, 1.0
        )


def _adam(own, gradients):
    s, rows = own.settings, _rows(own, gradients)
    if s["weight_decay"]:
        rows = _with_decay(rows, s["weight_decay"])
    for dtype, rate in own.rates.items():  # one call for all variables of a dtype
        same = [row for row in rows if row[0].dtype == dtype]
        if same:
            v, g, m1, m2, p1, p2 = map(list, zip(*same, strict=True))
            kernels.merged_adam_(
                v,
                g,
                [rate] * len(v),
                m1,
                m2,
                None,
                p1,
                p2,
                None,
                s["beta_1"],
                s["beta_2"],
                s["epsilon"],
                False,
                False,
                False,
            )


def _adamw(own, gradients):
    s = own.settings
    for v, g, m1, m2, p1, p2 in _rows(own, gradients):
        kernels.adamw_(
            v,
            g,
            own.rates[v.dtype],
            m1,
            m2,
            None,
            p1,
            p2,
            None,
            None,
            s["beta_1"],
            s["beta_2"],
            s["epsilon"],
            1.0,
            s["weight_decay"],
            True,
            False,
            1000,
            False,
            False,
            False,
        )


class RuleUpdates(RuleOptimizer):
    """Runs the update of a rule."""

    def new_slot(self, variable, shape, start):
        return paddle.full(shape, start, variable.dtype)

    def load_slot(self, variable, array):
        return _slot_from(variable, array)

    def assign(self, variable, value):
        kernels.assign_out_(value, variable)

    @paddle.no_grad()
    def update(self, gradients) -> None:
        super().update(gradients)


_NATIVE = {"sgd": _sgd, "momentum": _momentum, "adam": _adam, "adamw": _adamw}


def optimizer(rule, variables):
    settings, kind = rule.settings(), rule.kind
    if kind not in _NATIVE or settings.get("amsgrad"):
        return RuleUpdates(rule, variables)
    return NativeOptimizer(rule, variables, _NATIVE["momentum" if settings.get("momentum") else kind])
