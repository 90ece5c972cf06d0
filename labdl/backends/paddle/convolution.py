"""PaddlePaddle's convolutions."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false

from labdl.backends.paddle import kernels
from labdl.backends.paddle.dtype_fallback import any_precision
from labdl.spec import crop_pairs, pad_pairs, per_axis

FORMATS = {
    ("channels_first", 2): "NCHW",
    ("channels_last", 2): "NHWC",
    ("channels_first", 3): "NCDHW",
    ("channels_last", 3): "NDHWC",
}


def spatial_sizes(x, data_format):
    return x.shape[2:] if data_format == "channels_first" else x.shape[1:-1]


def flat(pairs):
    return [n for pair in pairs for n in pair]


def check_fit(sizes, window, dilations, pairs):
    """Check sizes, which Paddle would accept if negative; sizes below 0 are unknown. What is said is the rule's."""
    for n, k, d, (before, after) in zip(sizes, window, dilations, pairs, strict=True):
        if 0 <= n <= d * (k - 1) - before - after:
            raise ValueError("the window does not fit")


def pads_of_all_axes(pairs, data_format):
    """Padding of all axes from that of the spatial ones."""
    return ((0, 0), (0, 0), *pairs) if data_format == "channels_first" else ((0, 0), *pairs, (0, 0))


def _with_bias(y, bias, plane, data_format):
    if bias is None:
        return y
    # (C, 1, 1) broadcasts 20 times as fast as Paddle's own (1, C, 1, 1)
    return kernels.add(y, bias if data_format == "channels_last" else kernels.reshape(bias, [-1] + [1] * plane))


def _conv(rank):
    plane = rank if rank > 1 else 2  # one axis is computed as two, the first of size 1

    @any_precision
    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        sizes, window = spatial_sizes(x, data_format), kernel.shape[2:]
        pairs = pad_pairs(padding, sizes, window, strides, dilations)
        check_fit(sizes, window, dilations, pairs)
        layout = FORMATS[data_format, plane]
        if rank == 1:
            at = 2 if data_format == "channels_first" else 1
            x, kernel = x.unsqueeze(at), kernel.unsqueeze(2)
            strides, dilations, pairs = (1, *strides), (1, *dilations), ((0, 0), *pairs)
        if rank < 3:
            y = kernels.conv2d(x, kernel, strides, flat(pairs), "EXPLICIT", dilations, groups, layout)
        else:
            y = kernels.conv3d(x, kernel, strides, flat(pairs), "EXPLICIT", groups, dilations, layout)
        y = _with_bias(y, bias, plane, data_format)
        return y if rank > 1 else y.squeeze(at)

    return call


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)


def _conv_transpose(rank):
    plane = rank if rank > 1 else 2
    native = kernels.conv2d_transpose if plane == 2 else kernels.conv3d_transpose

    @any_precision
    def call(
        x,
        kernel,
        bias=None,
        *,
        stride=1,
        padding=0,
        output_padding=0,
        dilation=1,
        groups=1,
        data_format="channels_first",
    ):
        """Paddle's "same" differs, and its padding must be symmetric."""
        if rank == 3 and data_format == "channels_last":  # the kernel confuses the axes
            x = kernels.transpose(x, [0, 4, 1, 2, 3])
            y = call(
                x,
                kernel,
                bias,
                stride=stride,
                padding=padding,
                output_padding=output_padding,
                dilation=dilation,
                groups=groups,
            )
            return kernels.transpose(y, [0, 2, 3, 4, 1])
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        crops = crop_pairs(padding, kernel.shape[2:], strides, dilations, output_padding)
        for n, k, s, d, (before, after) in zip(
            spatial_sizes(x, data_format), kernel.shape[2:], strides, dilations, crops, strict=True
        ):
            if n >= 0 and (n - 1) * s + d * (k - 1) < before + after:
                raise ValueError("nothing is left")  # the shape rule gives the message
        if x.shape[1 if data_format == "channels_first" else -1] != kernel.shape[0] or kernel.shape[0] % groups:
            raise ValueError("the channels do not fit")  # Paddle divides by 0
        layout = FORMATS[data_format, plane]
        if rank == 1:
            at = 2 if data_format == "channels_first" else 1
            x, kernel = x.unsqueeze(at), kernel.unsqueeze(2)
            strides, dilations, crops = (1, *strides), (1, *dilations), ((0, 0), *crops)
        cut = [n for before, after in crops for n in (before, max(after, 0))]
        beyond = [(0, max(-after, 0)) for _, after in crops]
        y = native(x, kernel, strides, cut, [], [], "EXPLICIT", groups, dilations, layout)
        if any(map(any, beyond)):
            y = kernels.pad(y, flat(pads_of_all_axes(beyond, data_format)), 0.0)
        y = _with_bias(y, bias, plane, data_format)
        return y if rank > 1 else y.squeeze(at)

    return call


conv_transpose1d, conv_transpose2d, conv_transpose3d = _conv_transpose(1), _conv_transpose(2), _conv_transpose(3)
