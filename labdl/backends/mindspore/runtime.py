"""MindSpore tensors, variables, gradients and training steps (PyNative mode)."""

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
        mindspore.set_context(
            pynative_synchronize=True
        )  # before it: set later, idle threads still take turns in spinning
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


def variable(array, trainable: bool = True):
    return Parameter(tensor(array), name=f"labdl.{next(_count)}", requires_grad=trainable)


def assign(target, array) -> None:
    target.copy_(Tensor(np.array(array), target.dtype))  # in place: compiled functions would not see other memory


def finite(variables):
    return next((i for i, v in enumerate(variables) if not np.isfinite(v.asnumpy()).all()), None)


def clear_gradients(variables) -> None:
    """MindSpore stores none."""


def gradients(function, values):
    differentiate = mindspore.value_and_grad(function, tuple(range(len(values))))
    try:
        result, grads = differentiate(*values)
    except BaseException:
        _pynative_executor.clear_res()  # MindSpore would take all that follows for a part of what is differentiated
        raise
    return result, grads if isinstance(grads, tuple) else (grads,)  # one value: MindSpore leaves the tuple out


def set_trainable(variable, flag: bool) -> None:
    variable.requires_grad = flag


def move_variable(value, device: str):
    moved = Parameter(to_device(value, device), name=f"labdl.{next(_count)}", requires_grad=value.requires_grad)
    return moved


class _WithGradient(mindspore.nn.Cell):
    def __init__(self, forward, pull):
        super().__init__()
        self.run, self.pull = forward, pull

    def construct(self, *tensors):
        return self.run(*tensors)

    def bprop(self, *given):
        *tensors, _, gradients = given
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        found = self.pull(gradients, tensors)
        return tuple(mindspore.ops.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True))


def with_gradient(forward, pull):
    return _WithGradient(forward, pull)
