"""Kernels with and without weight normalization or spectral normalization."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ConfigError
from labdl.nn.parameter import Buffer, Parameter
from labdl.spec import normal_axes

_TINY = 1e-12
_FIRST_ITERATIONS = 15  # at build, as in torch.nn.utils.parametrizations.spectral_norm


def set_kernel(layer, kernel: Parameter, axis: int | Literal["all"] | None, out_axis: int) -> None:
    """Give a layer its kernel; with weight normalization along ``axis`` its direction and gain (see `ops.weight_norm`).

    At first the gain is the norm of the direction, so that the kernel is what its initializer draws. With the setting
    ``spectral_norm`` it gets the kernel as it is learned, and the vectors of the power iteration; ``out_axis`` is the axis of
    the outputs. Raises ConfigError for both.
    """
    if layer.spectral_norm is not None:
        if axis is not None:
            raise ConfigError(
                f"{type(layer).__name__}: weight_norm and spectral_norm exclude each other, give one of them"
            )
        layer.kernel_original = kernel
        left = Buffer((kernel.shape[out_axis],), functools.partial(_left_vector, kernel, out_axis))
        layer.kernel_u = left
        size = kernel.size // kernel.shape[out_axis]
        layer.kernel_v = Buffer((size,), functools.partial(_right_vector, kernel, out_axis, left))
        return
    if axis is None:
        layer.kernel = kernel
        return
    own = () if axis == "all" else normal_axes(axis, len(kernel.shape))
    shape = tuple(n if at in own else 1 for at, n in enumerate(kernel.shape))
    init = functools.partial(_norms, kernel, own)
    layer.kernel_direction = kernel
    layer.kernel_gain = Parameter(shape, init, standard=kernel.standard, order=kernel.order)


def _values(parameter: Parameter) -> np.ndarray:
    return np.asarray(dispatch.owner(parameter.value).to_numpy(parameter.value), "float64")


def _norms(kernel: Parameter, own: tuple[int, ...], rng, shape) -> np.ndarray:
    values = _values(kernel)
    return np.sqrt(np.sum(values**2, axis=tuple(a for a in range(values.ndim) if a not in own), keepdims=True))


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), _TINY)


def _left_vector(kernel: Parameter, axis: int, rng, shape) -> np.ndarray:
    """The left singular vector of the largest singular value, nearly, from a random one."""
    matrix = np.moveaxis(_values(kernel), axis, 0).reshape(shape[0], -1)
    vector = _unit(rng.normal(size=shape))
    for _ in range(_FIRST_ITERATIONS):
        vector = _unit(matrix @ _unit(vector @ matrix))
    return vector


def _right_vector(kernel: Parameter, axis: int, left: Parameter, rng, shape) -> np.ndarray:
    return _unit(_values(left) @ np.moveaxis(_values(kernel), axis, 0).reshape(-1, *shape))


def kernel_of(layer, axis: int | Literal["all"] | None, out_axis: int):
    """The kernel of a layer for which `set_kernel` was called."""
    if layer.spectral_norm is not None:
        return spectral_norm(
            layer.kernel_original,
            layer.kernel_u,
            layer.kernel_v,
            axis=out_axis,
            iterations=layer.spectral_norm if layer.training else 0,
        )
    if axis is None:
        return layer.kernel
    return ops.weight_norm(layer.kernel_direction, layer.kernel_gain, None if axis == "all" else axis)


def spectral_norm(weight, u, v, *, axis: int, iterations: int):
    """A weight divided by its largest singular value, as a matrix with the rows along ``axis`` (Miyato et al., 2018).

    ``u`` and ``v`` are variables with the singular vectors of an earlier value; each iteration brings them nearer.
    """
    count = len(weight.shape)
    axis %= count
    matrix = weight if axis == 0 else ops.permute_dims(weight, (axis, *(a for a in range(count) if a != axis)))
    matrix = ops.reshape(matrix, (weight.shape[axis], -1))
    if iterations:
        fixed, left, right = ops.stop_gradient(matrix), u, v
        for _ in range(iterations):
            left = _scale_to_unit(ops.matmul(fixed, right))
            right = _scale_to_unit(ops.matmul(left, fixed))
        u, v = ops.assign(u, left), ops.assign(v, right)
    return ops.divide(weight, ops.sum(ops.multiply(u, ops.matmul(matrix, v))))


def _scale_to_unit(vector):
    return ops.divide(vector, ops.maximum(ops.sqrt(ops.sum(ops.square(vector))), _TINY))
