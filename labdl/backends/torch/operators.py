"""PyTorch's spelling of the operators that differ in name or meaning; the rest are found in torch by name."""

import torch
import torch.nn.functional as F

from labdl.backends.torch.runtime import dtype
from labdl.spec import pad_pairs, per_axis


def _operands(function):
    """torch's two-operand functions want at least one tensor, and some of them two."""

    def call(x, y):
        if not isinstance(x, torch.Tensor):
            x = torch.as_tensor(x, dtype=_scalar_dtype(x, y))
        elif not isinstance(y, torch.Tensor):
            y = torch.as_tensor(y, dtype=_scalar_dtype(y, x))
        return function(x, y)

    return call


def _scalar_dtype(value, other):
    """A Python number takes the tensor's dtype, unless it is a float beside integers."""
    return other.dtype if isinstance(value, int) or other.is_floating_point() else None


maximum, minimum, power = _operands(torch.maximum), _operands(torch.minimum), _operands(torch.pow)
equal, not_equal = _operands(torch.eq), _operands(torch.ne)
less, less_equal = _operands(torch.lt), _operands(torch.le)
greater, greater_equal = _operands(torch.gt), _operands(torch.ge)
add, subtract, multiply, divide = _operands(torch.add), _operands(torch.sub), _operands(torch.mul), _operands(torch.div)


def clip(x, low=None, high=None):
    return x if low is None and high is None else torch.clamp(x, low, high)


def where(condition, x, y):
    return torch.where(torch.as_tensor(condition), x, y)


def _reduce(function):
    def call(x, axis=None, keepdims=False):
        axis = tuple(range(x.ndim)) if axis is None else axis
        return function(x, dim=axis, keepdim=keepdims)

    return call


sum, mean, max, min = map(_reduce, (torch.sum, torch.mean, torch.amax, torch.amin))
logsumexp = _reduce(torch.logsumexp)


def _reduce_one(function):
    def call(x, axis=None, keepdims=False):
        if axis is not None:
            return function(x, dim=axis, keepdim=keepdims)
        result = function(x.reshape(-1), dim=0)
        return result.reshape((1,) * x.ndim) if keepdims else result

    return call


prod, argmax, argmin, any, all = map(_reduce_one, (torch.prod, torch.argmax, torch.argmin, torch.any, torch.all))


def var(x, axis=None, keepdims=False, correction=0):
    return torch.var(x, dim=axis, keepdim=keepdims, correction=correction)


def std(x, axis=None, keepdims=False, correction=0):
    return torch.std(x, dim=axis, keepdim=keepdims, correction=correction)


def cumulative_sum(x, axis):
    return torch.cumsum(x, axis)


def permute(x, axes):
    return x.permute(axes)


def expand_dims(x, axis=0):
    return x.unsqueeze(axis)


def squeeze(x, axis):
    return x.squeeze(axis)


def concat(xs, axis=0):
    return torch.cat(tuple(xs), axis)


def stack(xs, axis=0):
    return torch.stack(tuple(xs), axis)


def split(x, sections, axis=0):
    return torch.split(x, x.shape[axis] // sections if isinstance(sections, int) else list(sections), axis)


def flip(x, axis):
    return torch.flip(x, (axis,))


def roll(x, shift, axis):
    return torch.roll(x, shift, axis)


def pad(x, padding, value=0.0):
    return F.pad(x, [n for pair in reversed(padding) for n in pair], value=value)


def take(x, indices, axis=0):
    axis = axis % x.ndim
    indices = torch.as_tensor(indices)
    flat = torch.index_select(x, axis, indices.reshape(-1))
    return flat.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def getitem(x, index):
    return x[index]


def astype(x, name):
    return x.to(dtype(name))


def one_hot(x, classes):
    return F.one_hot(x.long(), classes).float()


def linear(x, kernel, bias=None):
    # F.linear takes (out, in) and would leave a gradient in the wrong memory order, which slows the update
    if x.ndim == 2:
        return torch.mm(x, kernel) if bias is None else torch.addmm(bias, x, kernel)
    y = torch.matmul(x, kernel)
    return y if bias is None else y + bias


def gelu(x, approximate="none"):
    return F.gelu(x, approximate=approximate)


silu, softplus, elu = F.silu, F.softplus, F.elu
leaky_relu, hardswish, hardsigmoid, softsign = F.leaky_relu, F.hardswish, F.hardsigmoid, F.softsign


def softmax(x, axis=-1):
    return torch.softmax(x, axis)


def log_softmax(x, axis=-1):
    return torch.log_softmax(x, axis)


def _padding(x, padding, window, stride, dilation):
    """The padding torch's kernel takes itself, or the input padded where it is not the same at both ends."""
    if padding == "valid":
        return x, 0
    if isinstance(padding, int):
        return x, padding
    pairs = pad_pairs(padding, x.shape[2:], window, stride, dilation)
    if [p for p in pairs if p[0] != p[1]]:
        return F.pad(x, [n for pair in reversed(pairs) for n in pair]), 0
    return x, tuple(before for before, _ in pairs)


def _channels_first(x, data_format):
    # a view in which channels come first, while the memory stays as it is: oneDNN computes on it directly
    return x.movedim(-1, 1) if data_format == "channels_last" else x


def _channels_as(y, data_format):
    return y.movedim(1, -1) if data_format == "channels_last" else y


def _conv(rank, function):
    def call(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        x = _channels_first(x, data_format)
        if not isinstance(padding, int):
            strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
            x, padding = _padding(x, padding, kernel.shape[2:], strides, dilations)
        return _channels_as(function(x, kernel, bias, stride, padding, dilation, groups), data_format)

    return call


conv1d, conv2d, conv3d = _conv(1, F.conv1d), _conv(2, F.conv2d), _conv(3, F.conv3d)


def _max_pool(rank, function):
    def call(x, kernel_size, *, stride=None, padding=0, ceil_mode=False, data_format="channels_first"):
        x = _channels_first(x, data_format)
        if not isinstance(padding, int):
            window = per_axis(kernel_size, rank, "kernel_size")
            strides = window if stride is None else per_axis(stride, rank, "stride")
            pairs = pad_pairs(padding, x.shape[2:], window, strides, (1,) * rank)
            x, padding = F.pad(x, [n for pair in reversed(pairs) for n in pair], value=-float("inf")), 0
        return _channels_as(function(x, kernel_size, stride, padding, ceil_mode=ceil_mode), data_format)

    return call


max_pool1d, max_pool2d, max_pool3d = _max_pool(1, F.max_pool1d), _max_pool(2, F.max_pool2d), _max_pool(3, F.max_pool3d)


def _avg_pool(rank, function):
    def call(x, kernel_size, *, stride=None, padding=0, ceil_mode=False, data_format="channels_first"):
        x = _channels_first(x, data_format)
        if isinstance(padding, int) or padding == "valid":
            y = function(x, kernel_size, stride, 0 if padding == "valid" else padding, ceil_mode=ceil_mode)
            return _channels_as(y, data_format)
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        pairs = pad_pairs(padding, x.shape[2:], window, strides, (1,) * rank)
        border = [n for pair in reversed(pairs) for n in pair]
        y = function(F.pad(x, border), window, strides, 0, ceil_mode=ceil_mode)
        if padding == "same":  # its border does not count: divide by the share of each window that lies inside
            inside = F.pad(torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device), border)
            y = y / function(inside, window, strides, 0, ceil_mode=ceil_mode)
        return _channels_as(y, data_format)

    return call


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1, F.avg_pool1d), _avg_pool(2, F.avg_pool2d), _avg_pool(3, F.avg_pool3d)


def batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    if axis != 1:
        x = x.movedim(axis, 1)
    y = F.batch_norm(x, mean, variance, scale, offset, training, momentum, epsilon)
    return y if axis == 1 else y.movedim(1, axis)


def layer_norm(x, scale, offset, epsilon=1e-5):
    return F.layer_norm(x, scale.shape, scale, offset, epsilon)


def dropout(x, rate, training=False):
    return F.dropout(x, rate, training)


def embedding(indices, table):
    return F.embedding(indices, table)


def causal_mask(scores):
    shape = scores.shape[-2:]
    return scores.masked_fill(
        torch.ones(shape, dtype=torch.bool, device=scores.device).tril().logical_not(), -float("inf")
    )


def scaled_dot_product_attention(query, key, value, mask=None, causal=False):
    if mask is not None and causal:
        mask = mask & torch.ones((query.shape[-2], key.shape[-2]), dtype=torch.bool, device=query.device).tril()
        causal = False
    return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None):
    size = recurrent_kernel.shape[0]
    zeros = x.new_zeros(1, x.shape[0], size)
    state = (zeros if hidden is None else hidden[None], zeros if cell is None else cell[None])
    weights = [kernel.t(), recurrent_kernel.t(), bias, torch.zeros_like(bias)]
    y, h, c = torch.lstm(x, state, weights, True, 1, 0.0, torch.is_grad_enabled(), False, True)
    return y, h[0], c[0]


def cross_entropy(logits, target, label_smoothing=0.0):
    classes = logits.shape[-1]
    return F.cross_entropy(logits.reshape(-1, classes), target.reshape(-1), label_smoothing=label_smoothing)


binary_cross_entropy, mean_squared_error = F.binary_cross_entropy_with_logits, F.mse_loss
mean_absolute_error = F.l1_loss


def huber_loss(prediction, target, delta=1.0):
    return F.huber_loss(prediction, target, delta=delta)
