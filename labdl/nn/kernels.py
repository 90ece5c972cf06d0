"""Kernels with and without weight normalization."""

from __future__ import annotations

import functools

import numpy as np

from labdl import dispatch, ops
from labdl.nn.parameter import Parameter
from labdl.spec import normal_axes


def set_kernel(layer, kernel: Parameter, axis: int | None) -> None:
    """Give a layer its kernel; with weight normalization over ``axis`` its direction and gain (see `ops.weight_norm`).

    At first the gain is the norm of the direction, so that the kernel is what its initializer draws.
    """
    if axis is None:
        layer.kernel = kernel
        return
    own = normal_axes(axis, len(kernel.shape))
    shape = tuple(n if at in own else 1 for at, n in enumerate(kernel.shape))
    init = functools.partial(_norms, kernel, axis)
    layer.kernel_direction = kernel
    layer.kernel_gain = Parameter(shape, init, standard=kernel.standard, order=kernel.order)


def _norms(kernel: Parameter, axis: int, rng, shape) -> np.ndarray:
    values = np.asarray(dispatch.owner(kernel.value).to_numpy(kernel.value), "float64")
    return np.sqrt(np.sum(values**2, axis=tuple(a for a in range(values.ndim) if a != axis), keepdims=True))


def kernel_of(layer, axis: int | None):
    """The kernel of a layer for which `set_kernel` was called."""
    return layer.kernel if axis is None else ops.weight_norm(layer.kernel_direction, layer.kernel_gain, axis)
