"""MindSpore implementations of normalization, on its fastest CPU kernels."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false

from functools import lru_cache

from mindspore import ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import HALVES, as_tensor, bfloat16, float32, float64, through
from labdl.backends.mindspore.kernel_operands import orders

_transpose, _assign, _stop = P.Transpose(), P.Assign(), ops.stop_gradient


@lru_cache(None)
def _kernel(training, epsilon, momentum):
    # in training the kernel updates mean and variance in place, the variance with the unbiased estimate
    return P.BatchNorm(training, epsilon, momentum)


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """MindSpore supports float32 only, and two to four axes."""
    shape = x.shape
    if axis not in (1, 1 - x.ndim):
        forth, back = orders(x.ndim, axis)
        return _transpose(
            batch_norm(
                _transpose(x, forth),
                scale,
                offset,
                mean,
                variance,
                training=training,
                momentum=momentum,
                epsilon=epsilon,
            ),
            back,
        )
    given = (scale, offset, mean, variance)
    if x.ndim < 2 or any(t.shape != shape[1:2] for t in given) or (training and not x.size):
        raise ValueError(f"batch_norm of {shape} wants a batch, and weights and statistics of shape {shape[1:2]}")
    if not x.size:
        return x.copy()
    one = training and x.size == shape[1]  # a value for each channel: the kernel's variance would be NaN
    if one or x.dtype is not float32 or any(t.dtype is not float32 for t in given):
        return _through_formula(x, *given, training, momentum, epsilon)
    if x.ndim > 4:
        x = x.reshape(*shape[:3], -1)
        return _kernel(training, epsilon, momentum)(x, *given)[0].reshape(shape)
    return _kernel(training, epsilon, momentum)(x, *given)[0]


def _through_formula(x, scale, offset, mean, variance, training, momentum, epsilon):
    kind, (axes, channels) = x.dtype, _axes(x.ndim)
    wide = float64 if kind is float64 else float32
    x, scale, offset, m, v = (t.astype(wide) for t in (x, scale, offset, mean, variance))
    if training:
        m = ops.mean(x, axes)
        centered = x - m.reshape(channels)
        v = ops.mean(centered * centered, axes)
        count = x.size // x.shape[1]
        unbiased = v * as_tensor(count / max(count - 1, 1), wide)  # Python numbers have the precision of float32
        for state, found in ((mean, m), (variance, unbiased)):
            old = state.astype(wide)
            new = _stop(old + as_tensor(momentum, wide) * (found - old)).astype(state.dtype)
            state.copy_(new) if state.dtype is bfloat16 else _assign(state, new)  # which has no kernel for it
    factor = scale / ops.sqrt(v + as_tensor(epsilon, wide))
    y = x * factor.reshape(channels) + (offset - m * factor).reshape(channels)
    return y if kind is wide else y.astype(kind)


def _axes(ndim: int):
    """All axes but the second, and the shape that broadcasts per-channel values."""
    return (0, *range(2, ndim)), (1, -1, *(1,) * (ndim - 2))


@lru_cache(None)
def _layer_kernel(first_axis, epsilon):
    return P.LayerNorm(first_axis, first_axis, epsilon)


_layer_norm = through(
    lambda x, scale, offset, epsilon: _layer_kernel(x.ndim - scale.ndim, epsilon)(
        x, scale.astype(x.dtype), offset.astype(x.dtype)
    )[0],
    ("float32",),
    HALVES,
)


def layer_norm(x, scale, offset, epsilon=1e-5):
    """In float64, MindSpore computes with the precision of float32."""
    if not 1 <= scale.ndim <= x.ndim or scale.shape != x.shape[-scale.ndim :] or offset.shape != scale.shape:
        raise ValueError(
            f"layer_norm of {x.shape} wants a scale and an offset in the shape of the last axes, "
            f"received {scale.shape} and {offset.shape}"
        )
    if not x.size or scale.dtype is not x.dtype or offset.dtype is not x.dtype or x.dtype is float64:
        return NotImplemented
    return _layer_norm(x, scale, offset, epsilon)
