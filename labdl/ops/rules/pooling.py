"""Shape rules of pooling."""

from __future__ import annotations

from labdl.ops.rules.convolution import assemble, spatial
from labdl.spec import Spec, pad_pairs, per_axis, show, window_sizes


def pool(rank: int, kind: str):
    what = f"{kind}_pool{rank}d"

    def rule(
        x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False, data_format="channels_first", **options
    ):
        channels, sizes = _with_channels(x, rank, data_format, what)
        window, dilations = per_axis(kernel_size, rank, "kernel_size"), per_axis(dilation, rank, "dilation")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        if padding not in ("same", "valid"):
            pairs = pad_pairs(padding, sizes, window, strides, dilations)
            for (before, after), k, d in zip(pairs, window, dilations, strict=True):
                if max(before, after) > (d * (k - 1) + 1) // 2:
                    raise ValueError(f"padding of a pooling window may be at most half of it, received {padding!r}")
        return assemble(x, channels, window_sizes(sizes, window, strides, padding, dilations, ceil_mode), data_format)

    return rule


def _with_channels(x, rank: int, data_format: str, what: str):
    channels, sizes = spatial(x, rank, data_format, what)
    if channels == 0:
        raise ValueError(f"{what} wants at least one channel, received {show(x.shape)}")
    return channels, sizes


def lp_pool(rank: int):
    def rule(x, p, kernel_size, *, stride=None, ceil_mode=False, data_format="channels_first"):
        if not p > 0:
            raise ValueError(f"lp_pool{rank}d wants p above 0, received {p}")
        return pool(rank, "lp")(x, kernel_size, stride=stride, ceil_mode=ceil_mode, data_format=data_format)

    return rule


def pool_with_indices(rank: int):
    def rule(x, kernel_size, *, stride=None, padding=0, dilation=1, ceil_mode=False):
        pooled = pool(rank, "max")(
            x, kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode
        )
        return pooled, Spec(pooled.shape, "int64")

    return rule


def max_unpool(rank: int):
    what = f"max_unpool{rank}d"

    def rule(x, indices, kernel_size, *, stride=None, padding=0, size=None):
        channels, sizes = spatial(x, rank, "channels_first", what)
        pairs = zip(x.shape, indices.shape, strict=False)
        if indices.ndim != x.ndim or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ValueError(
                f"{what} wants one index for each element: {show(x.shape)}, received {show(indices.shape)}"
            )
        return assemble(x, channels, unpooled_sizes(sizes, kernel_size, stride, padding, size), "channels_first")

    return rule


def unpooled_sizes(sizes, kernel_size, stride, padding, size=None) -> tuple:
    """Spatial sizes before pooling: as given, or the smallest that pool to ``sizes``."""
    rank = len(sizes)
    window = per_axis(kernel_size, rank, "kernel_size")
    strides = window if stride is None else per_axis(stride, rank, "stride")
    pads = per_axis(padding, rank, "padding", 0)
    if size is not None:
        return per_axis(size, rank, "size")
    return tuple(
        None if n is None else (n - 1) * s - 2 * p + k for n, k, s, p in zip(sizes, window, strides, pads, strict=True)
    )


def adaptive_pool(rank: int, kind: str):
    what = f"adaptive_{kind}_pool{rank}d"

    def rule(x, output_size, *, data_format="channels_first"):
        channels, sizes = _with_channels(x, rank, data_format, what)
        return assemble(x, channels, adaptive_sizes(sizes, output_size), data_format)

    return rule


def adaptive_sizes(sizes, output_size) -> tuple:
    """The output sizes; ``None`` keeps a size."""
    wanted = (output_size,) * len(sizes) if output_size is None or isinstance(output_size, int) else tuple(output_size)
    if len(wanted) != len(sizes) or any(m is not None and m < 1 for m in wanted):
        raise ValueError(
            f"output_size wants one size or {len(sizes)} of them, 1 or more or None, received {output_size!r}"
        )
    if 0 in sizes:
        raise ValueError(f"adaptive pooling has no window in sizes {show(sizes)}")
    return tuple(n if m is None else m for n, m in zip(sizes, wanted, strict=True))
