"""Shape rules of normalization."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype
from labdl.ops.rules.traits import layout, promoting
from labdl.spec import Spec, normal_axes, show


@layout("axis")
def batch_norm(x, scale, offset, mean, variance, *, training=False, axis=1, **options) -> Spec:
    if training and 0 in x.shape:
        raise ValueError(f"batch_norm wants a batch that is not empty, received shape {show(x.shape)}")
    for name, given in (("mean", mean), ("variance", variance)):
        _check_channels(name, given, x, axis)
    return channelwise(x, scale, offset, axis=axis)


def layer_norm(x, scale, offset, epsilon=1e-5) -> Spec:
    count = scale.ndim
    if not 1 <= count <= x.ndim or any(
        None not in (n, m) and n != m for n, m in zip(scale.shape, x.shape[x.ndim - count :], strict=True)
    ):
        raise ValueError(
            f"layer_norm wants a scale in the shape of the last axes of {show(x.shape)}, received {show(scale.shape)}"
        )
    if offset.shape != scale.shape:
        raise ValueError(f"layer_norm wants an offset of shape {show(scale.shape)}, received {show(offset.shape)}")
    return x


def rms_norm(x, scale, epsilon=1e-6) -> Spec:
    if x.ndim < 1:
        raise ValueError("rms_norm wants at least one axis")
    _check_channels("scale", scale, x, -1)
    return x


@layout("axis")
def group_norm(x, groups, scale=None, offset=None, *, axis=1, **options) -> Spec:
    result = channelwise(x, scale, offset, axis=axis)
    channels = x.shape[axis]
    if groups < 1 or (channels is not None and channels % groups):
        raise ValueError(f"group_norm cannot share {channels} channels among {groups} groups")
    return result


@layout("axis")
def instance_norm(x, scale=None, offset=None, *, axis=1, **options) -> Spec:
    if x.ndim < 3:
        raise ValueError(f"instance_norm wants spatial axes besides N and C, received {show(x.shape)}")
    return channelwise(x, scale, offset, axis=axis)


@layout("axis")
def local_response_norm(x, size, *, axis=1, **options) -> Spec:
    if size < 1:
        raise ValueError(f"local_response_norm wants a size of 1 or more, received {size}")
    if x.shape[_channel_axis(x, axis)] is None:
        raise ValueError(f"local_response_norm wants a known number of channels, received {show(x.shape)}")
    return x


def channelwise(x, scale=None, offset=None, *, axis=1) -> Spec:
    """As x; scale and offset have one element for each channel."""
    for name, given in (("scale", scale), ("offset", offset)):
        if given is not None:
            _check_channels(name, given, x, axis)
    _channel_axis(x, axis)
    return x


def _channel_axis(x, axis: int) -> int:
    at = normal_axes(axis, x.ndim)[0]
    if at == 0 and x.ndim > 1:
        raise ValueError("the first axis holds the samples, not the channels")
    if x.ndim < 2:
        raise ValueError(f"normalization wants (N, C, ...), received {show(x.shape)}")
    return at


def _check_channels(name: str, given, x, axis: int) -> None:
    channels = x.shape[normal_axes(axis, x.ndim)[0]]
    if given.ndim != 1 or (None not in (channels, given.shape[0]) and given.shape[0] != channels):
        raise ValueError(f"{name} wants the shape ({channels},), received {show(given.shape)}")


@promoting
def weight_norm(direction, gain, axis=0) -> Spec:
    own = () if axis is None else normal_axes(axis, direction.ndim)
    wanted = tuple(n if at in own else 1 for at, n in enumerate(direction.shape))
    if len(gain.shape) != len(wanted) or any(
        None not in (n, m) and n != m for n, m in zip(gain.shape, wanted, strict=True)
    ):
        raise ValueError(f"weight_norm wants a gain {show(wanted)}, received {show(gain.shape)}")
    return Spec(direction.shape, common_dtype(direction, gain))


def assign(variable, value) -> Spec:
    if variable.ndim != value.ndim or any(
        None not in (n, m) and n != m for n, m in zip(variable.shape, value.shape, strict=True)
    ):
        raise ValueError(f"assign wants a value of shape {show(variable.shape)}, received {show(value.shape)}")
    return variable
