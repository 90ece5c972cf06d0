"""PaddlePaddle tensors, variables, gradients, optimisers and training steps."""

import paddle
from paddle import _C_ops

from labdl.spec import DTYPES, Spec

TENSORS = (paddle.Tensor, paddle.pir.Value)  # eager, and symbolic inside paddle.jit.to_static
_NAMES = {getattr(paddle, n): n for n in DTYPES if n != "string"}


def dtype(name: str):
    return getattr(paddle, name)


def copy(value):
    return value.clone()


def from_dlpack(value):
    return paddle.utils.dlpack.from_dlpack(value)


def dtype_name(value) -> str:
    return _NAMES[value.dtype]


def spec_of(value) -> Spec:
    return Spec(tuple(None if n < 0 else n for n in value.shape), _NAMES[value.dtype])


def devices() -> tuple[str, ...]:
    others = [name if ":" in name else f"{name}:0" for name in paddle.device.get_available_custom_device() or ()]
    return ("cpu", *(f"cuda:{i}" for i in range(paddle.device.cuda.device_count())), *others)


def current_device() -> str:
    return paddle.device.get_device().replace("gpu", "cuda")


def set_device(name: str) -> None:
    """For all of Paddle: whatever makes tensors there follows it."""
    paddle.device.set_device(name.replace("cuda", "gpu"))


def device_of(value) -> str:
    return str(value.place)[len("Place(") : -1].replace("gpu", "cuda")


def to_device(value, name: str):
    return value.to(name.replace("cuda", "gpu"))


def tensor(array):
    return paddle.to_tensor(array)


def to_numpy(value):
    return (value.astype("float32") if value.dtype == paddle.bfloat16 else value).numpy()


def seed(value: int) -> None:
    paddle.seed(value)


def variable(array, trainable: bool = True):
    value = paddle.to_tensor(array)  # Paddle names it: a name given twice in one process is an error
    return paddle.base.framework.EagerParamBase.from_tensor(value) if trainable else value


def assign(target, array) -> None:
    with paddle.no_grad():
        target.set_value(paddle.to_tensor(array, dtype=target.dtype))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not paddle.isfinite(v).all()), None)


class Optimizer:
    """Paddle's in-place kernels behind LabDL's settings, without the bookkeeping of paddle.optimizer."""

    def __init__(self, name: str, variables, settings: dict):
        self.name, self.variables, self.settings = name, list(variables), dict(settings)
        self._rate = settings["learning_rate"]
        # the kernels read the rate from a tensor of the parameter's dtype
        self._rates = {v.dtype: paddle.full([1], self._rate, v.dtype) for v in self.variables}
        if name == "sgd" and (settings["momentum"] or settings["weight_decay"]):
            self.update, count = self._momentum, 1
        elif name == "sgd":
            self.update, count = self._sgd, 0
        else:
            self.update, count = self._adam if name == "adam" else self._adamw, 2
        self.moments = [[paddle.zeros_like(v) for v in self.variables] for _ in range(count)]
        betas = ("beta_1", "beta_2") if count == 2 else ()
        self.powers = [[paddle.full([1], settings[b], v.dtype) for v in self.variables] for b in betas]
        for state in (*self.moments, *self.powers):
            for value in state:
                value.stop_gradient = True

    @property
    def learning_rate(self) -> float:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self._rate = value
        for rate in self._rates.values():
            rate.fill_(value)

    def _sgd(self, grads):
        for v, g in zip(self.variables, grads, strict=True):
            if g is not None:
                _C_ops.sgd_(v, self._rates[v.dtype], g, None, False)

    def _momentum(self, grads):
        s = self.settings
        method = "l2_decay" if s["weight_decay"] else ""
        for v, g, m in zip(self.variables, grads, *self.moments, strict=True):
            if g is not None:
                _C_ops.momentum_(v, g, m, self._rates[v.dtype], None, s["momentum"], s["nesterov"], method,
                                 s["weight_decay"], False, 1.0)  # fmt: skip

    def _adam(self, grads):
        s, decay = self.settings, self.settings["weight_decay"]
        rows = zip(self.variables, grads, *self.moments, *self.powers, strict=True)
        rows = [row for row in rows if row[1] is not None]
        for dtype, rate in self._rates.items():  # one call for all variables of a dtype
            same = [row for row in rows if row[0].dtype == dtype]
            if not same:
                continue
            v, g, m1, m2, p1, p2 = map(list, zip(*same, strict=True))
            if decay:
                scaled = [_C_ops.scale(value.detach(), decay, 0.0, True) for value in v]
                g = list(map(_C_ops.add, g, scaled))
            _C_ops.merged_adam_(v, g, [rate] * len(v), m1, m2, None, p1, p2, None, s["beta_1"], s["beta_2"],
                                s["epsilon"], False, False, False)  # fmt: skip

    def _adamw(self, grads):
        s = self.settings
        for v, g, m1, m2, p1, p2 in zip(self.variables, grads, *self.moments, *self.powers, strict=True):
            if g is not None:
                _C_ops.adamw_(v, g, self._rates[v.dtype], m1, m2, None, p1, p2, None, None, s["beta_1"], s["beta_2"],
                              s["epsilon"], 1.0, s["weight_decay"], True, False, 1000, False, False, False)  # fmt: skip


def optimizer(name: str, variables, settings: dict) -> Optimizer:
    return Optimizer(name, variables, settings)


def detached(value):
    """Results without their history, whatever tuples, lists and dicts they come in."""
    if isinstance(value, list | tuple):
        return type(value)(map(detached, value))
    if isinstance(value, dict):
        return {key: detached(v) for key, v in value.items()}
    return value.detach() if isinstance(value, paddle.Tensor) else value


def train_function(forward, variables, optimizer: Optimizer, compiled: bool | None = None):
    """Eager by default: on CPUs paddle.jit.to_static makes training steps slower."""
    if compiled:
        raise NotImplementedError(
            "paddle.jit.to_static cannot translate operators that dispatch: train with compiled=False on paddle"
        )
    update, variables = optimizer.update, optimizer.variables

    def step(x, y):
        for v in variables:
            v.clear_gradient(False)
        loss, output = forward(x, y)
        loss.backward()
        update([v.grad for v in variables])
        return loss.detach(), detached(output)

    return step


def evaluate_function(forward, compiled: bool | None = None):
    forward = paddle.jit.to_static(forward) if compiled else forward

    def evaluate(*inputs):
        with paddle.no_grad():
            return forward(*inputs)

    return evaluate


def gradients(function, values):
    """By ``backward``: ``paddle.grad`` of some inputs only is wrong for batch_norm, layer_norm and rnn (3.3)."""
    parameter = paddle.base.framework.EagerParamBase
    leaves = [v if isinstance(v, parameter) and not v.stop_gradient else v.detach() for v in values]
    for leaf in leaves:
        leaf.stop_gradient = False
        leaf.clear_gradient(False)
    result = function(*leaves)
    result.backward()
    # copies, because clearing a variable's gradient empties it wherever it is held
    found = [paddle.zeros_like(v).detach() if v.grad is None else v.grad.detach().clone() for v in leaves]
    for leaf in leaves:
        leaf.clear_gradient(False)
    return result.detach(), found
