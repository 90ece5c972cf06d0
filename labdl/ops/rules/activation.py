"""Shape rules of activation functions."""

from __future__ import annotations

from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.ops.rules.traits import layout
from labdl.spec import Spec, normal_axes, show


@layout("axis")
def softmax(x, axis=-1, **options) -> Spec:
    """Same shape, same dtype; the axis must exist."""
    normal_axes(axis, x.ndim)
    return x


@promoting
@layout("axis")
def prelu(x, slope, *, axis=1) -> Spec:
    if slope.ndim > 1:
        raise ValueError(
            f"prelu wants one slope, or one for each channel, received slopes of shape {show(slope.shape)}"
        )
    if slope.ndim == 1 and not x.ndim:
        raise ValueError("prelu with a slope for each channel wants a tensor with channels, received one without axes")
    if slope.ndim == 1 and slope.shape[0] not in (1, None):
        channels = x.shape[normal_axes(axis, x.ndim)[0]]
        if channels not in (slope.shape[0], None):
            raise ValueError(
                f"prelu of {show(x.shape)} wants {channels} slopes for axis {axis}, received {slope.shape[0]}"
            )
    return Spec(x.shape, common_dtype(x, slope))
