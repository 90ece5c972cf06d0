"""Shape rules of operators that resize and rearrange images."""

from __future__ import annotations

import math

from labdl.ops.rules.convolution import assemble, first_format, spatial
from labdl.ops.rules.elementwise import common_dtype, promoting
from labdl.spec import Spec, per_axis, show

# mode of interpolate: its number of spatial axes, None for any
MODES = {
    "nearest": None,
    "nearest_exact": None,
    "area": None,
    "linear": None,
    "cubic": None,
    "bilinear": 2,
    "trilinear": 3,
    "bicubic": 2,
}


def interpolate(
    x, size=None, scale=None, *, mode="nearest", align_corners=False, antialias=False, data_format="channels_first"
) -> Spec:
    rank = x.ndim - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"interpolate wants 1 to 3 spatial axes, received {show(x.shape)}")
    if mode not in MODES or MODES[mode] not in (None, rank):
        fitting = [m for m, r in MODES.items() if r in (None, rank)]
        raise ValueError(f"interpolate over {rank} axes has the modes {', '.join(fitting)}, received {mode!r}")
    if antialias and mode in ("nearest", "nearest_exact", "area"):
        raise ValueError(f"antialias wants a linear or cubic mode, received {mode!r}")
    channels, sizes = spatial(x, rank, data_format, "interpolate")
    return assemble(x, channels, interpolated_sizes(sizes, size, scale), data_format)


def interpolate_like(x, like, *, mode="nearest", align_corners=False, antialias=False) -> Spec:
    if like.ndim != x.ndim:
        raise ValueError(
            f"interpolate_like wants tensors of equal rank, received {show(x.shape)} and {show(like.shape)}"
        )
    interpolate(x, scale=1, mode=mode, align_corners=align_corners, antialias=antialias)  # checks the rest
    return x.with_shape([*x.shape[:2], *like.shape[2:]])


def crop_or_pad_like(x, like) -> Spec:
    if x.ndim < 3 or like.ndim != x.ndim:
        raise ValueError(
            f"crop_or_pad_like wants tensors (N, C, ...) of equal rank, received {show(x.shape)} and {show(like.shape)}"
        )
    return x.with_shape([*x.shape[:2], *like.shape[2:]])


def interpolated_sizes(sizes, size, scale) -> tuple:
    """Sizes after resizing, ``None`` where they follow from an unknown one."""
    if (size is None) == (scale is None):
        raise ValueError(f"interpolate wants either size or scale, received size={size!r}, scale={scale!r}")
    if size is not None:
        return per_axis(size, len(sizes), "size")
    result = tuple(None if n is None else math.floor(n * f) for n, f in zip(sizes, factors(scale, sizes), strict=True))
    if any(n is not None and n < 1 for n in result):
        raise ValueError(f"scale={scale!r} gives a size of 0 for sizes {show(sizes)}")
    return result


def factors(scale, sizes) -> tuple:
    """The scale of each spatial axis."""
    wanted = (scale,) * len(sizes) if isinstance(scale, int | float) else tuple(scale)
    if len(wanted) != len(sizes) or min(wanted) <= 0:
        raise ValueError(f"scale wants one positive number or {len(sizes)} of them, received {scale!r}")
    return wanted


@promoting
def grid_sample(
    x, grid, *, mode="bilinear", padding="zeros", align_corners=False, data_format="channels_first"
) -> Spec:
    rank = x.ndim - 2
    if rank not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] not in (rank, None):
        raise ValueError(
            f"grid_sample wants x of 2 or 3 spatial axes and a grid (N, ..., 2 or 3) over as many, received "
            f"{show(x.shape)} and {show(grid.shape)}"
        )
    if mode not in ("bilinear", "nearest", "bicubic") or (mode == "bicubic" and rank == 3):
        raise ValueError(f"grid_sample has the modes bilinear, nearest and, over 2 axes, bicubic, received {mode!r}")
    if None not in (x.shape[0], grid.shape[0]) and x.shape[0] != grid.shape[0]:
        raise ValueError(f"grid_sample wants a grid for each of {x.shape[0]} images, received {show(grid.shape)}")
    channels, sizes = spatial(x, rank, data_format, "grid_sample")
    if 0 in sizes:
        raise ValueError(f"grid_sample wants an image that is not empty, received shape {show(x.shape)}")
    batch = x.shape[0] if x.shape[0] is not None else grid.shape[0]
    result = assemble(x, channels, grid.shape[1:-1], data_format)
    return Spec((batch, *result.shape[1:]), common_dtype(x, grid))


def affine_grid(theta, size, *, align_corners=False) -> Spec:
    sizes = tuple(size)
    rank = len(sizes)
    if rank not in (2, 3) or theta.ndim != 3 or theta.shape[1:] != (rank, rank + 1):
        raise ValueError(
            f"affine_grid wants theta (N, 2, 3) and size (H, W), or theta (N, 3, 4) and size (D, H, W), "
            f"received {show(theta.shape)} and {size!r}"
        )
    if any(n is not None and n < 1 for n in sizes):
        raise ValueError(f"affine_grid wants sizes of 1 or more, received {size!r}")
    return theta.with_shape([theta.shape[0], *sizes, rank])


def pixel_shuffle(x, factor, *, data_format="channels_first") -> Spec:
    channels, sizes = spatial(x, 2, data_format, "pixel_shuffle")
    if factor < 1 or (channels is not None and channels % factor**2):
        raise ValueError(f"pixel_shuffle by {factor} wants a multiple of {factor**2} channels, received {channels}")
    fewer = None if channels is None else channels // factor**2
    return assemble(x, fewer, [None if n is None else n * factor for n in sizes], data_format)


def pixel_unshuffle(x, factor, *, data_format="channels_first") -> Spec:
    channels, sizes = spatial(x, 2, data_format, "pixel_unshuffle")
    if factor < 1 or any(n is not None and n % factor for n in sizes):
        raise ValueError(
            f"pixel_unshuffle by {factor} wants spatial sizes that {factor} divides, received {show(x.shape)}"
        )
    more = None if channels is None else channels * factor**2
    return assemble(x, more, [None if n is None else n // factor for n in sizes], data_format)


def channel_shuffle(x, groups, *, data_format="channels_first") -> Spec:
    if x.ndim < 2:
        raise ValueError(f"channel_shuffle wants (N, C, ...), received {show(x.shape)}")
    channels = x.shape[1 if first_format(data_format) else -1]
    if channels is None:
        raise ValueError(f"channel_shuffle wants a known number of channels, received {show(x.shape)}")
    if groups < 1 or channels % groups:
        raise ValueError(f"channel_shuffle cannot share {channels} channels among {groups} groups")
    return x
