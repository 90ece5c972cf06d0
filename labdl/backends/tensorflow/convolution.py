"""Convolution and transposed convolution: TensorFlow's kernels with PyTorch's semantics."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false, reportCallIssue=false, reportOptionalOperand=false, reportReturnType=false

import functools
import itertools
import math

import tensorflow as tf

from labdl.backends.tensorflow.dtypes import promote_operands, sizes
from labdl.backends.tensorflow.spatial import as_planar, padded, spatial
from labdl.spec import crop_pairs, pad_pairs, per_axis, window_sizes

_CONV = {2: tf.nn.conv2d, 3: tf.nn.conv3d}
_TRANSPOSE = {2: tf.nn.conv2d_transpose, 3: tf.nn.conv3d_transpose}


def _alike(function):
    """Promote x, kernel and bias to one dtype."""

    @functools.wraps(function)
    def call(x, kernel, bias=None, **options):
        if x.dtype is not kernel.dtype or (bias is not None and bias.dtype is not x.dtype):
            x, kernel, *rest = promote_operands(*(v for v in (x, kernel, bias) if v is not None))
            bias = rest[0] if rest else None
        return function(x, kernel, bias, **options)

    return call


def _native_kernel(kernel, rank):
    kernel = tf.transpose(kernel, (*range(2, 2 + rank), 1, 0))
    return tf.expand_dims(kernel, 0) if rank == 1 else kernel


def _conv(rank):
    def compute(x, kernel, bias, *, stride=1, padding=0, dilation=1, groups=1):
        window = kernel.shape[2:]
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = padding
        if padding != "same":
            pairs = pad_pairs(padding, (None,) * rank, window, strides, dilations)
            if all(
                s == 1 and b == a and b + a == d * (k - 1)
                for s, d, k, (b, a) in zip(strides, dilations, window, pairs, strict=True)
            ):
                pairs = "same"
        if 0 in (*x.shape, *kernel.shape):
            return _nothing(x, kernel, strides, padding, dilations)
        x, border = padded(x, pairs, rank)
        if rank == 1:
            strides, dilations = strides * 2, (1, *dilations)  # depthwise kernels need equal strides on both axes
        places = None if groups > 1 else _few_places(x, kernel, strides, dilations, border)
        if places is None:
            y = _convolve(x, border, _native_kernel(kernel, rank), strides, dilations, groups)
        else:
            y = _product(x, kernel, strides, dilations, border, places)
        return y if bias is None else tf.nn.bias_add(y, bias)

    return _alike(spatial(rank, compute))


_VECTOR = 8  # channels that a kernel of oneDNN computes at once
_LARGE = 2**16  # elements of a kernel whose transpose takes longer than the operations of `_product`


def _few_places(x, kernel, strides, dilations, border) -> tuple[int, ...] | None:
    """Sizes of the result if a matrix product of windows is cheaper than transposing the kernel, else None.

    The convolutions need the kernel's axes in reverse order. In the last layers of networks, and for single images, the
    transposes take a third as long as the convolution with its gradients; measured, a product takes up to half the time of
    both if there are at most a quarter as many positions as outputs.
    """
    outputs, channels, *window = kernel.shape
    shape, taps = x.shape.as_list(), math.prod(window)
    if outputs * channels * taps < _LARGE or None in shape or shape[-1] != channels:
        return None
    pairs = _border(x, kernel, strides, dilations, border)
    places = window_sizes(shape[1:-1], _window(kernel, len(strides)), strides, pairs, dilations)
    return places if shape[0] * math.prod(places) * min(taps, 4) <= outputs else None


def _window(kernel, rank) -> tuple[int, ...]:
    """Of a kernel over one axis the window over two, the first of size 1."""
    inner = tuple(kernel.shape[2:])
    return (1,) * (rank - len(inner)) + inner


def _border(x, kernel, strides, dilations, border):
    rank = len(strides)
    sizes = "same" if border == "SAME" else ((0, 0),) * rank
    return pad_pairs(sizes, x.shape[1:-1], _window(kernel, rank), strides, dilations)


def _product(x, kernel, strides, dilations, border, places):
    """Convolution as one matrix product, without transposing the kernel."""
    pairs = _border(x, kernel, strides, dilations, border)
    if [p for p in pairs if p != (0, 0)]:
        x = tf.pad(x, [(0, 0), *pairs, (0, 0)])
    seen = []
    for tap in itertools.product(*map(range, _window(kernel, len(strides)))):
        parts = (
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, places, strides, strict=True)
        )
        seen.append(x[(slice(None), *parts)])
    outputs, channels, *_ = kernel.shape
    rows = tf.reshape(tf.stack(seen, -1), [-1, channels * len(seen)])
    return tf.reshape(tf.matmul(rows, tf.reshape(kernel, [outputs, -1]), transpose_b=True), [-1, *places, outputs])


def _nothing(x, kernel, strides, padding, dilations):
    """The result of an empty input, for which oneDNN returns a wrong number of channels."""
    rank = len(strides)
    inner = window_sizes(x.shape[-1 - rank : -1], kernel.shape[2:], strides, padding, dilations)
    return tf.zeros(((x.shape[0], *(1,) * (rank == 1), *inner, kernel.shape[0])), x.dtype)


def _convolve(x, border, kernel, strides, dilations, groups):
    rank = len(strides)
    dilated = max(dilations) > 1
    if groups > 1:
        if x.shape[-1] != kernel.shape[-2] * groups or kernel.shape[-1] % groups:
            raise ValueError(f"{groups} groups do not fit {x.shape[-1]} channels")  # oneDNN would divide by zero
        if rank == 2 and kernel.shape[-2] == 1 and len(set(strides)) == 1 and not dilated:
            # its gradients take half the time of those of the grouped kernel
            kernel = tf.reshape(kernel, (*kernel.shape[:2], groups, kernel.shape[-1] // groups))
            return tf.raw_ops.DepthwiseConv2dNative(input=x, filter=kernel, strides=(1, *strides, 1), padding=border)
        if rank == 3 or not _grouped_gradients(x.dtype):
            parts = zip(tf.split(x, groups, -1), tf.split(kernel, groups, -1), strict=True)
            return tf.concat([_convolve(a, border, k, strides, dilations, 1) for a, k in parts], -1)
    if dilated and not _dilated_gradients(x.dtype):
        if border == "SAME":
            pairs = pad_pairs("same", x.shape[1:-1], kernel.shape[:rank], strides, dilations)
            x = tf.pad(x, [(0, 0), *pairs, (0, 0)])
        y = tf.nn.convolution(x, kernel, 1, "VALID", dilations=list(dilations))  # by space_to_batch: stride 1 only
        return y[(slice(None), *(slice(None, None, s) for s in strides))]
    if max(strides) > 1 and max(kernel.shape[:rank]) == 1 and x.shape[-1] is not None and x.shape[-1] % _VECTOR:
        # the gradient of oneDNN's strided 1 x 1 kernel writes behind its memory
        x, strides = x[(slice(None), *(slice(None, None, s) for s in strides))], (1,) * rank
    return _CONV[rank](x, kernel, [1, *strides, 1], border, dilations=[1, *dilations, 1])


@functools.cache
def _grouped_gradients(dtype) -> bool:
    return _has_gradient((1, 3, 3, 2), (1, 1, 1, 2), 1, dtype)


@functools.cache
def _dilated_gradients(dtype) -> bool:
    return _has_gradient((1, 3, 3, 1), (2, 2, 1, 1), 2, dtype)


def _has_gradient(shape, kernel, dilation, dtype) -> bool:
    """Gradients of grouped and dilated convolutions: on CPUs by oneDNN only, which not every build and dtype has."""
    with tf.init_scope():
        x, weights = tf.zeros(shape, dtype), tf.zeros(kernel, dtype)
        y = tf.nn.conv2d(x, weights, 1, "VALID", dilations=dilation)
        try:
            tf.raw_ops.Conv2DBackpropInput(
                input_sizes=shape,
                filter=weights,
                out_backprop=y,
                strides=(1, 1, 1, 1),
                padding="VALID",
                dilations=(1, dilation, dilation, 1),
            )
        except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError):
            return False
    return True


conv1d, conv2d, conv3d = map(_conv, (1, 2, 3))


def _conv_transpose(rank):
    def compute(x, kernel, bias, *, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
        window = kernel.shape[2:]
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        crops = crop_pairs(padding, window, strides, dilations, output_padding)
        if x.shape[-1] != kernel.shape[0] or kernel.shape[0] % groups:
            raise ValueError(f"{groups} groups do not fit {x.shape[-1]} channels and a kernel of {kernel.shape}")
        kernel = _native_kernel(kernel, rank)
        strides, dilations = as_planar(rank, strides, dilations)
        crops = ((0, 0), *crops) if rank == 1 else crops
        if max(dilations) > 1 and not (rank < 3 and _dilated_gradients(x.dtype)):
            kernel, dilations = _spread(kernel, dilations), (1,) * len(dilations)
        y = _transpose(x, kernel, strides, dilations, [(b, max(a, 0)) for b, a in crops], groups)
        if [a for _, a in crops if a < 0]:
            y = tf.pad(y, [(0, 0), *((0, max(-a, 0)) for _, a in crops), (0, 0)])
        return y if bias is None else tf.nn.bias_add(y, bias)

    return _alike(spatial(rank, compute))


def _spread(kernel, dilations):
    """The kernel with zeros between its elements, where there is no kernel for dilation."""
    for axis, d in enumerate(dilations):
        if d > 1 and kernel.shape[axis] > 1:
            parts = tf.expand_dims(kernel, axis + 1)
            wide = tf.pad(parts, [(0, (d - 1) * (a == axis + 1)) for a in range(parts.shape.rank)])
            before, size, after = kernel.shape[:axis], kernel.shape[axis], kernel.shape[axis + 1 :]
            whole = tf.reshape(wide, (*before, size * d, *after))
            kernel = whole[(*(slice(None),) * axis, slice(0, size * d - d + 1))]
    return kernel


def _transpose(x, kernel, strides, dilations, crops, groups):
    rank = len(strides)
    if groups > 1 and (rank == 3 or not _grouped_gradients(x.dtype)):
        parts = zip(tf.split(x, groups, -1), tf.split(kernel, groups, -1), strict=True)
        return tf.concat([_transpose(a, k, strides, dilations, crops, 1) for a, k in parts], -1)
    count, *inner = sizes(x)[:-1]
    full = [
        (n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(inner, strides, dilations, kernel.shape[:rank], strict=True)
    ]
    channels = kernel.shape[-2] * groups
    cropped = [c for c in crops if c != (0, 0)]
    if rank == 2 and cropped and groups == max(dilations) == 1:
        shape = [count, *(n - b - a for n, (b, a) in zip(full, crops, strict=True)), channels]
        return tf.nn.conv2d_transpose(x, kernel, shape, [1, *strides, 1], [(0, 0), *crops, (0, 0)])
    y = _TRANSPOSE[rank](x, kernel, [count, *full, channels], [1, *strides, 1], "VALID", dilations=[1, *dilations, 1])
    if cropped:  # oneDNN, which alone supports groups and dilation, does not support explicit padding
        y = y[(slice(None), *(slice(b, n - a) for n, (b, a) in zip(full, crops, strict=True)))]
    return y


conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_conv_transpose, (1, 2, 3))
