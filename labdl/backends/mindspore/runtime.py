"""MindSpore tensors, variables, gradients, optimisers and training steps (PyNative mode)."""

import itertools
import os
import warnings
from contextlib import contextmanager

import numpy as np

from labdl.spec import Spec


@contextmanager
def _environment(**values):
    """Environment variables for as long as MindSpore reads them; those the user has set stay as they are."""
    added = [name for name in values if name not in os.environ]
    os.environ.update({name: values[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


# GLOG_v=3 silences MindSpore and makes Paddle talk, so it may not outlive the import. ONEDNN_MAX_CPU_ISA: where oneDNN
# sees AVX-512 it gives the plain memory layout of MindSpore's convolutions to its reference kernel (1200 ms instead of
# 12 for 32x32x16x16 by 64x3x3); oneDNN reads the variable at its first operation, hence the product below.
with _environment(GLOG_v="3", ONEDNN_MAX_CPU_ISA="AVX2"), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mindspore
    from mindspore import Parameter, Tensor
    from mindspore.graph.api import _pynative_executor
    from mindspore.ops import operations as P

    if mindspore.get_context("device_target") == "CPU":  # elsewhere the first operation would fix the device
        P.MatMul()(Tensor(np.ones((1, 1), "float32")), Tensor(np.ones((1, 1), "float32"))).asnumpy()

_DTYPES = {name: getattr(mindspore, name) for name in (
    "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)} | {"bool": mindspore.bool_}  # fmt: skip
_NAMES = {kind: name for name, kind in _DTYPES.items()}
_count = itertools.count()  # MindSpore tells parameters apart by their names


def tensor_types():
    return (Tensor, Parameter)


def dtype(name: str):
    return _DTYPES[name]


def copy(value):
    return value.copy()


def from_dlpack(value):
    """MindSpore's reader wants a capsule, and knows no bool and no complex numbers: the memory is copied."""
    return value.copy() if isinstance(value, Tensor) else Tensor(np.from_dlpack(value))


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), _NAMES[value.dtype])


_KINDS = {"cpu": "CPU", "cuda": "GPU", "ascend": "Ascend"}


def devices() -> tuple[str, ...]:
    return ("cpu", *(f"{kind}:{i}" for kind in ("cuda", "ascend") for i in range(_count_of(kind))))


def _count_of(kind: str) -> int:
    try:
        return mindspore.hal.device_count(_KINDS[kind])
    except (ValueError, RuntimeError):  # not in this build of MindSpore; no driver
        return 0


def _ours(target: str, number: int = 0) -> str:
    kind = {theirs: ours for ours, theirs in _KINDS.items()}[target]
    return kind if kind == "cpu" else f"{kind}:{number}"


def current_device() -> str:
    return _ours(mindspore.get_context("device_target"), mindspore.get_context("device_id"))


def set_device(name: str) -> None:
    """For all of MindSpore, once a process and before its first operation."""
    kind, _, number = name.partition(":")
    mindspore.set_device(_KINDS[kind], int(number or 0))
    _wait_for_each_operation()


def _wait_for_each_operation() -> None:
    """On CPU a call returns when its result is there, as in the other frameworks.

    MindSpore would go on in the meantime, and after an error that came late (a position outside of a tensor) whoever uses
    what depends on the result ends the process. Its recording of gradients must then wait as well: left in a thread of its
    own, it notes the ``bprop`` of a cell after the operation that uses the cell's result, and the gradient ends there as
    zeros. A training step takes half the time without the hand-over between threads, too.
    """
    at_once = current_device() == "cpu"
    mindspore.set_context(pynative_synchronize=at_once)
    switch = "disable" if at_once else "enable"
    getattr(_pynative_executor, f"{switch}_frontend_and_bprop_pipeline")()


_wait_for_each_operation()


def device_of(value) -> str:
    target, _, number = value.device.partition(":")
    return _ours(target, int(number or 0))


def to_device(value, name: str):
    return value if device_of(value) == name else value.to(_KINDS[name.partition(":")[0]])


def tensor(array):
    return Tensor(np.array(array))  # a copy: MindSpore looks into the array's memory later


def to_numpy(value):
    if value.dtype == mindspore.bfloat16:
        value = value.astype(mindspore.float32)
    return value.asnumpy().copy()  # asnumpy is a view of the tensor's memory


def seed(value: int) -> None:
    mindspore.set_seed(value % 2**32)


def variable(array, trainable: bool = True):
    return Parameter(tensor(array), name=f"labdl.{next(_count)}", requires_grad=trainable)


def assign(target, array) -> None:
    target.set_data(Tensor(np.array(array), target.dtype))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not np.isfinite(v.asnumpy()).all()), None)


class Optimizer:
    """In-place update rules on MindSpore's fused kernels; the state lies in ``state``, a list of parameters a slot."""

    def __init__(self, variables, settings: dict, slots: tuple[str, ...]):
        self.variables, self.settings, self.step_count = tuple(variables), settings, 0
        self.learning_rate, self.weight_decay = settings["learning_rate"], settings["weight_decay"]
        self.state = {slot: [variable(np.zeros(v.shape, _NAMES[v.dtype]), trainable=False) for v in self.variables]
                      for slot in slots}  # fmt: skip

    def update(self, gradients) -> None:
        """Move the variables by one step."""
        raise NotImplementedError

    def _decayed(self, gradients):
        if not self.weight_decay:
            return gradients
        return [g + p * self.weight_decay for p, g in zip(self.variables, gradients, strict=True)]


def _scalars(*values: float):
    # one conversion a step; with Python numbers MindSpore makes one for each variable
    return [Tensor(value, mindspore.float32) for value in values]


class SGD(Optimizer):
    """Stochastic gradient descent with momentum, as in torch.optim.SGD."""

    def __init__(self, variables, settings):
        self._nesterov = settings["nesterov"] and settings["momentum"] > 0
        # ApplyMomentum is the fastest kernel, also without momentum, but ignores its use_nesterov on CPU; SGD follows it
        super().__init__(variables, settings, ("momentum", "first") if self._nesterov else ("momentum",))
        self._apply = P.SGD(nesterov=True) if self._nesterov else P.ApplyMomentum()

    def update(self, gradients) -> None:
        apply, (rate, momentum) = self._apply, _scalars(self.learning_rate, self.settings["momentum"])
        states = zip(self.variables, self._decayed(gradients), *self.state.values(), strict=True)
        if self._nesterov:
            for p, g, m, first in states:
                apply(p, g, rate, m, momentum, first)
        else:
            for p, g, m in states:
                apply(p, m, rate, g, momentum)


class Adam(Optimizer):
    """Adam and AdamW, as in torch.optim: the decay belongs to the gradient or, ``decoupled``, to the parameter."""

    def __init__(self, variables, settings, *, decoupled: bool):
        super().__init__(variables, settings, ("mean", "spread"))
        # P.Adam is the faster kernel, but knows no float64
        self._decoupled = decoupled and self.weight_decay > 0
        self._plain = not self._decoupled and all(v.dtype != mindspore.float64 for v in self.variables)
        self._apply = P.Adam() if self._plain else P.AdamWeightDecay()

    def update(self, gradients) -> None:
        apply, rate, self.step_count = self._apply, self.learning_rate, self.step_count + 1
        beta_1, beta_2 = self.settings["beta_1"], self.settings["beta_2"]
        power_1, power_2 = beta_1**self.step_count, beta_2**self.step_count
        correction = (1 - power_2) ** 0.5
        epsilon = self.settings["epsilon"] * correction  # the kernels add it before the bias correction, torch after it
        if not self._decoupled:
            gradients = self._decayed(gradients)
        if self._plain:
            scalars = _scalars(power_1, power_2, rate, beta_1, beta_2, epsilon)
        else:
            # AdamWeightDecay corrects no bias: the corrected rate does, and the decay may not take part in that
            corrected = rate * correction / (1 - power_1)
            decay = self.weight_decay * (1 - power_1) / correction if self._decoupled else 0.0
            scalars = _scalars(corrected, beta_1, beta_2, epsilon, decay)
        for p, g, m, v in zip(self.variables, gradients, *self.state.values(), strict=True):
            apply(p, m, v, *scalars, g)


def optimizer(name: str, variables, settings: dict) -> Optimizer:
    if name == "sgd":
        return SGD(variables, settings)
    return Adam(variables, settings, decoupled={"adam": False, "adamw": True}[name])


def _not_compiled(compiled: bool | None) -> None:
    if compiled:
        raise NotImplementedError(
            "MindSpore compiles only flat source without a dispatcher (mindspore.jit rejects Python dispatch, and its trace "
            "mode is silently wrong for training steps): leave compiled out, or compile the generated source of the graph"
        )


def train_function(forward, variables, optimizer: Optimizer, compiled: bool | None = None):
    """Eager (PyNative)."""
    _not_compiled(compiled)
    differentiate = mindspore.value_and_grad(forward, None, tuple(variables), has_aux=True)

    def step(x, y):
        (loss, output), gradients = differentiate(x, y)
        optimizer.update(gradients)
        return loss, output

    return step


def evaluate_function(forward, compiled: bool | None = None):
    _not_compiled(compiled)
    return forward  # MindSpore records operations only inside value_and_grad


def gradients(function, values):
    differentiate = mindspore.value_and_grad(function, tuple(range(len(values))))
    result, grads = differentiate(*values)
    return result, grads if isinstance(grads, tuple) else (grads,)  # one value: MindSpore leaves the tuple out
