"""Devices of MindSpore."""

import mindspore
from mindspore.graph.api import _pynative_executor

from labdl.backends.mindspore.threads import exclusive

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
    """Set the device of MindSpore: once per process, before its first operation."""
    kind, _, number = name.partition(":")
    mindspore.set_device(_KINDS[kind], int(number or 0))
    _wait_for_each_operation()


def _wait_for_each_operation() -> None:
    """Make calls on CPU synchronous, as in the other frameworks.

    With asynchronous calls, an error that is raised late (an index outside of a tensor) ends the process when a dependent
    result is used. The recording of gradients must then be synchronous as well: in its own thread, it records the ``bprop``
    of a cell after the operation that uses the cell's result, and the gradient is zero. A training step also takes half the
    time without the switches between threads.
    """
    at_once = current_device() == "cpu"
    mindspore.set_context(pynative_synchronize=at_once)
    switch = "disable" if at_once else "enable"
    getattr(_pynative_executor, f"{switch}_frontend_and_bprop_pipeline")()


_wait_for_each_operation()


_target_of = mindspore.Tensor.device.__get__  # the property, which an array namespace replaces by `device_of`


def device_of(value) -> str:
    target, _, number = _target_of(value).partition(":")
    return _ours(target, int(number or 0))


@exclusive
def to_device(value, name: str):
    return value if device_of(value) == name else value.to(_KINDS[name.partition(":")[0]])
