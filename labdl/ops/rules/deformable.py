"""Shape rule of deformable convolution."""

from __future__ import annotations

from labdl.ops.rules.convolution import conv
from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.spec import Spec, show


@promoting
def deform_conv2d(x, offset, kernel, bias=None, mask=None, *, stride=1, padding=0, dilation=1) -> Spec:
    name = "deform_conv2d"
    if x.ndim != 4 or kernel.ndim != 4 or offset.ndim != 4:
        raise ValueError(
            f"{name} wants x (N, C, H, W), offset (N, 2 * offset_groups * KH * KW, OH, OW) and kernel (out, in / groups, "
            f"KH, KW), received {show(x.shape)}, {show(offset.shape)} and {show(kernel.shape)}"
        )
    if None in (*x.shape[1:], *offset.shape[1:], *kernel.shape):
        raise ValueError(f"{name} wants known sizes but for the batch, received {show(x.shape)}, {show(offset.shape)}")
    channels, per_group = x.shape[1], kernel.shape[1]
    if not per_group or channels % per_group or not channels or 0 in x.shape[2:]:
        raise ValueError(f"{name} with a kernel of shape {show(kernel.shape)} cannot read x of shape {show(x.shape)}")
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": channels // per_group}
    result = conv(2)(x, kernel, bias, **options)
    elements = kernel.shape[2] * kernel.shape[3]
    shared, rest = divmod(offset.shape[1], 2 * elements)
    if rest or not shared or channels % shared or offset.shape[2:] != result.shape[2:]:
        raise ValueError(
            f"{name} wants offset (N, 2 * offset_groups * {elements}, {result.shape[2]}, {result.shape[3]}) with a number of "
            f"offset_groups that divides {channels} channels, received {show(offset.shape)}"
        )
    if mask is not None and mask.shape[1:] != (shared * elements, *result.shape[2:]):
        raise ValueError(
            f"{name} wants mask (N, {shared * elements}, {result.shape[2]}, {result.shape[3]}), received {show(mask.shape)}"
        )
    for given in (offset, mask):
        if given is not None and None not in (given.shape[0], x.shape[0]) and given.shape[0] != x.shape[0]:
            raise ValueError(f"{name} wants one batch size, received {show(x.shape)} and {show(given.shape)}")
    return Spec(result.shape, common_dtype(x, kernel, offset))
