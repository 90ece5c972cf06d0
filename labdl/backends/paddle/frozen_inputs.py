"""Trainable copies of frozen inputs, for kernels whose gradient fails, or is wrong, if some of their inputs are frozen."""

import functools

import paddle

from labdl.backends.paddle.call_recorder import log_as_one_call
from labdl.backends.paddle.tensors import parameter


def _copy(tensor):
    if not isinstance(tensor, paddle.Tensor):  # symbolic tensors are not frozen
        return tensor
    return parameter(tensor)


_thawed = log_as_one_call(_copy, "paddle.base.framework.EagerParamBase.from_tensor")


def trainable_copy(tensor):
    """A trainable copy of a frozen tensor; any other tensor is returned unchanged."""
    return _thawed(tensor) if tensor.stop_gradient else tensor


def both_trainable(kernel):
    """Wrap a kernel of two tensors, whose gradient reads invalid memory if only one of them is frozen."""

    @functools.wraps(kernel)
    def call(x, y, *args, **kwargs):
        if x.stop_gradient is not y.stop_gradient:
            x, y = trainable_copy(x), trainable_copy(y)
        return kernel(x, y, *args, **kwargs)

    return call
