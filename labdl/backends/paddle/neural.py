"""PaddlePaddle's convolutions, pooling, normalisation, attention and recurrence."""

import paddle
import paddle.nn.functional as F
from paddle import _C_ops

from labdl.spec import pad_pairs, per_axis, window_sizes


def _thawed(tensor):
    """A stand-in whose gradient nobody reads: some kernels fail, or err, when one of their inputs is frozen."""
    if not tensor.stop_gradient or not isinstance(tensor, paddle.Tensor):
        return tensor
    tensor = tensor.detach()
    tensor.stop_gradient = False
    return tensor


def linear(x, kernel, bias=None):
    if bias is not None and x.ndim == 2 and not bias.stop_gradient:  # addmm's gradient crashes on a frozen bias
        return _C_ops.addmm(bias, x, kernel, 1.0, 1.0)
    y = _C_ops.matmul(x, kernel, False, False)
    return y if bias is None else _C_ops.add(y, bias)


_FORMATS = {("channels_first", 2): "NCHW", ("channels_last", 2): "NHWC",
            ("channels_first", 3): "NCDHW", ("channels_last", 3): "NDHWC"}  # fmt: skip


def _sizes(x, data_format):
    return x.shape[2:] if data_format == "channels_first" else x.shape[1:-1]


def _flat(pairs):
    return [n for pair in pairs for n in pair]


def _conv(rank):
    plane = rank if rank > 1 else 2  # one-dimensional kernels exist only as a plane of height 1

    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        pairs = pad_pairs(padding, _sizes(x, data_format), kernel.shape[2:], strides, dilations)
        layout = _FORMATS[data_format, plane]
        if rank == 1:
            at = 2 if data_format == "channels_first" else 1
            x, kernel = x.unsqueeze(at), kernel.unsqueeze(2)
            strides, dilations, pairs = (1, *strides), (1, *dilations), ((0, 0), *pairs)
        if rank < 3:
            y = _C_ops.conv2d(x, kernel, strides, _flat(pairs), "EXPLICIT", dilations, groups, layout)
        else:
            y = _C_ops.conv3d(x, kernel, strides, _flat(pairs), "EXPLICIT", groups, dilations, layout)
        if bias is not None:
            # (C, 1, 1) takes the fast broadcast; Paddle's own (1, C, 1, 1) one that is 20 times slower
            y = _C_ops.add(y, bias if data_format == "channels_last" else bias.reshape([-1] + [1] * plane))
        return y if rank > 1 else y.squeeze(at)

    return call


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)


def _pool(rank, kind):
    plane = rank if rank > 1 else 2
    kernels = _C_ops.pool2d if plane == 2 else _C_ops.pool3d
    remembering = _C_ops.max_pool2d_with_index if plane == 2 else _C_ops.max_pool3d_with_index

    def call(x, kernel_size, *, stride=None, padding=0, ceil_mode=False, data_format="channels_first"):
        first = data_format == "channels_first"
        sizes = _sizes(x, data_format)
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        pairs = pad_pairs(padding, sizes, window, strides, (1,) * rank)
        exclusive = padding == "same"  # only this border does not count
        over = (0,) * rank
        if ceil_mode and padding != "same":
            # Paddle keeps windows that begin beyond the input: ask for PyTorch's sizes by padding what hangs over
            wanted = window_sizes(sizes, window, strides, padding, (1,) * rank, True)
            over = [(o - 1) * s + k - n - b - a
                    for o, s, k, n, (b, a) in zip(wanted, strides, window, sizes, pairs, strict=True)]  # fmt: skip
            over = [n if n > 0 else 0 for n in over]
        if kind == "avg" and not exclusive and (any(over) or [b for b, a in pairs if a != b]):
            # explicit padding counts as zeros, what hangs over does not count; Paddle miscounts an uneven border
            if any(map(any, pairs)):
                border = ((0, 0), (0, 0), *pairs) if first else ((0, 0), *pairs, (0, 0))
                x, pairs = _C_ops.pad(x, _flat(border), 0.0), ((0, 0),) * rank
            exclusive = True
        if any(over):
            pairs = tuple((b, a + e) for (b, a), e in zip(pairs, over, strict=True))
        if rank == 1:
            x = x.unsqueeze(2 if first else 1)
            window, strides, pairs = (1, *window), (1, *strides), ((0, 0), *pairs)
        if kind == "max" and first and all(b == a for b, a in pairs):
            # its gradient knows where each maximum was; pool2d's searches again and takes twice the time
            y = remembering(x, window, strides, [b for b, _ in pairs], False, False, False)[0]
        else:
            y = kernels(x, window, strides, _flat(pairs), False, exclusive, _FORMATS[data_format, plane], kind, False,
                        False, "EXPLICIT")  # fmt: skip
        return y if rank > 1 else y.squeeze(2 if first else 1)

    return call


max_pool1d, max_pool2d, max_pool3d = _pool(1, "max"), _pool(2, "max"), _pool(3, "max")
avg_pool1d, avg_pool2d, avg_pool3d = _pool(1, "avg"), _pool(2, "avg"), _pool(3, "avg")


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    last = x.ndim - 1
    axis %= x.ndim
    if axis not in (1, last):
        return batch_norm(x.moveaxis(axis, 1), scale, offset, mean, variance, training=training, momentum=momentum,
                          epsilon=epsilon).moveaxis(1, axis)  # fmt: skip
    layout = "NCHW" if axis == 1 else "NHWC"
    if scale.stop_gradient != offset.stop_gradient:  # neither would get a gradient
        scale, offset = _thawed(scale), _thawed(offset)
    count = x.size // x.shape[axis]
    if not training or count == 1:
        return F.batch_norm(x, mean, variance, scale, offset, training, 1 - momentum, epsilon, layout)
    # Paddle mixes in the biased variance; scaled before and after, it is the unbiased one
    moving = _C_ops.scale(variance, (count - 1) / count, 0.0, True)
    y = F.batch_norm(x, mean, moving, scale, offset, True, 1 - momentum, epsilon, layout)
    _C_ops.assign_out_(_C_ops.scale(moving, count / (count - 1), 0.0, True), variance)
    return y


def layer_norm(x, scale, offset, epsilon=1e-5):
    if not x.stop_gradient:  # the gradient of x forgets a frozen scale
        scale = _thawed(scale)
    return F.layer_norm(x, scale.shape, scale.flatten(), offset.flatten(), epsilon)


def dropout(x, rate, training=False):
    return F.dropout(x, rate, training=training)


def embedding(indices, table):
    return F.embedding(indices, table)


def _lower(rows, columns):
    return paddle.tril(paddle.ones([rows, columns], "bool"))


def causal_mask(scores):
    return paddle.where(_lower(*scores.shape[-2:]), scores, paddle.full([], -float("inf"), scores.dtype))


def scaled_dot_product_attention(query, key, value, mask=None, causal=False):
    scores = paddle.matmul(query * query.shape[-1] ** -0.5, key, transpose_y=True)
    if causal:
        scores = causal_mask(scores)
    if mask is not None:
        scores = paddle.where(mask, scores, paddle.full([], -float("inf"), scores.dtype))
    return paddle.matmul(F.softmax(scores, -1), value)


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    size, features = recurrent_kernel.shape[0], kernel.shape[0]
    zeros = paddle.zeros([1, x.shape[0], size], x.dtype)
    states = [zeros if s is None else s.unsqueeze(0) for s in (hidden, cell)]
    if not all(t.stop_gradient for t in (x, kernel, recurrent_kernel, bias, *states)):
        kernel, recurrent_kernel, bias = _thawed(kernel), _thawed(recurrent_kernel), _thawed(bias)
    weights = [kernel.t(), recurrent_kernel.t(), bias, paddle.zeros_like(bias)]
    y, _, (h, c) = _C_ops.rnn(x.transpose([1, 0, 2]), states, weights, None, paddle.empty([0], "uint8"), 0.0, False,
                              features, size, 1, "LSTM", 0, not paddle.is_grad_enabled())  # fmt: skip
    return y.transpose([1, 0, 2]), h.squeeze(0), c.squeeze(0)
