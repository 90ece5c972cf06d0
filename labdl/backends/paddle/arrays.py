"""PaddlePaddle's spelling of array operators that differ in name or meaning; the rest are found in paddle by name."""

import operator

import paddle
import paddle.nn.functional as F
from paddle import _C_ops

from labdl.backends.paddle.runtime import TENSORS, dtype_name
from labdl.spec import promote


def _matched(*values):
    """Operands as tensors of one dtype: Paddle neither promotes integers nor takes numbers and arrays everywhere."""
    known = [dtype_name(v) for v in values if isinstance(v, TENSORS)]
    common = promote(*known) if known else None
    tensors = []
    for v in values:
        if isinstance(v, bool | int | float):  # a number takes the tensor's dtype, unless it is a float beside integers
            if common is None:
                common = dtype_name(paddle.to_tensor(v))
            elif isinstance(v, float) and "float" not in common and "complex" not in common:
                common = "float32"
        elif not isinstance(v, TENSORS):
            v = paddle.to_tensor(v)
            common = dtype_name(v) if common is None else promote(common, dtype_name(v))
        tensors.append(v)
    return [v.astype(common) if isinstance(v, TENSORS) else paddle.full([], v, common) for v in tensors]


def _operands(function):
    """Operands of one dtype go straight to the kernel."""

    def call(x, y):
        if not (isinstance(x, TENSORS) and isinstance(y, TENSORS) and x.dtype == y.dtype):
            x, y = _matched(x, y)
        return function(x, y)

    return call


def _infix(function):
    """Paddle's infix operators take numbers too, at no cost."""
    general = _operands(function)

    def call(x, y):
        return function(x, y) if type(y) in (int, float) and isinstance(x, TENSORS) else general(x, y)

    return call


add, subtract, multiply = _infix(operator.add), _infix(operator.sub), _infix(operator.mul)
divide, floor_divide, remainder = _infix(operator.truediv), _infix(operator.floordiv), _infix(operator.mod)
equal, not_equal, less = _infix(operator.eq), _infix(operator.ne), _infix(operator.lt)
less_equal, greater, greater_equal = _infix(operator.le), _infix(operator.gt), _infix(operator.ge)
maximum, minimum = _operands(_C_ops.maximum), _operands(_C_ops.minimum)
_power = _operands(paddle.pow)


def pow(x, y):
    if isinstance(y, int) and y < 0 and "int" in dtype_name(x):  # Paddle's kernel would never return
        raise ValueError(f"integers have no negative integer powers, received {y}: convert with astype(x, 'float32')")
    if isinstance(y, int | float) and "float" in dtype_name(x):
        return paddle.pow(x, y)
    return _power(x, y)


negative = operator.neg


def clip(x, low=None, high=None):
    return x if low is None and high is None else paddle.clip(x, low, high)


def where(condition, x, y):
    condition = condition if isinstance(condition, TENSORS) else paddle.to_tensor(condition)
    return paddle.where(condition, *_matched(x, y))


@_operands
def matmul(x, y):
    if x.ndim != y.ndim and x.ndim > 2 and y.ndim > 2:  # the gradient's kernel fails when batches differ in rank
        rank = x.ndim if x.ndim > y.ndim else y.ndim
        x, y = (t.reshape([1] * (rank - t.ndim) + t.shape) if t.ndim < rank else t for t in (x, y))
    return _C_ops.matmul(x, y, False, False)


def _reduce(function):
    def call(x, axis=None, keepdims=False):
        return function(x, axis, keepdim=keepdims)

    return call


# amax and amin share the gradient between equal elements, max and min give it to each of them in full
sum, mean, max, min = map(_reduce, (paddle.sum, paddle.mean, paddle.amax, paddle.amin))
logsumexp, prod, any, all = map(_reduce, (paddle.logsumexp, paddle.prod, paddle.any, paddle.all))


def _reduce_one(function):
    def call(x, axis=None, keepdims=False):
        if axis is not None:
            return function(x, axis, keepdim=keepdims)
        result = function(x.flatten(), 0)
        return result.reshape([1] * x.ndim) if keepdims else result

    return call


argmax, argmin = _reduce_one(paddle.argmax), _reduce_one(paddle.argmin)


def var(x, axis=None, keepdims=False, correction=0):
    centre = paddle.mean(x, axis, keepdim=True)
    squares = paddle.mean(paddle.square(x - centre), axis, keepdim=keepdims)
    if not correction:
        return squares
    count = x.size // centre.size
    return squares * (count / (count - correction) if count > correction else float("nan"))


def std(x, axis=None, keepdims=False, correction=0):
    return paddle.sqrt(var(x, axis, keepdims, correction))


def cumulative_sum(x, axis):
    return paddle.cumsum(x, axis)


def reshape(x, shape):
    shape = [shape] if isinstance(shape, int) else list(shape)
    if 0 in shape and 0 in x.shape:  # to Paddle a 0 means "as before"
        return paddle.zeros([0 if n == -1 else n for n in shape], x.dtype)
    return _C_ops.reshape(x, shape)


def permute_dims(x, axes):
    return paddle.transpose(x, [a % x.ndim for a in axes])


def expand_dims(x, axis=0):
    return paddle.unsqueeze(x, axis)


def squeeze(x, axis):
    return paddle.squeeze(x, axis)


def _of_one_dtype(xs):
    return xs if len({x.dtype for x in xs}) == 1 else _matched(*xs)


def concat(xs, axis=0):
    return paddle.concat(_of_one_dtype(list(xs)), axis)


def stack(xs, axis=0):
    return paddle.stack(_of_one_dtype(list(xs)), axis)


def split(x, sections, axis=0):
    return tuple(paddle.split(x, sections if isinstance(sections, int) else list(sections), axis))


def roll(x, shift, axis):
    return paddle.roll(x, shift, axis)


def pad(x, padding, value=0.0):
    return _C_ops.pad(x, [n for pair in padding for n in pair], float(value))


def take(x, indices, axis=0):
    axis = axis % x.ndim
    indices = indices if isinstance(indices, TENSORS) else paddle.to_tensor(indices)
    flat = paddle.index_select(x, indices.flatten(), axis)
    return flat.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])


def getitem(x, index):
    return x[index]


def astype(x, name):
    return x.astype(name)


def one_hot(x, classes):
    return F.one_hot(x, classes)


relu = _C_ops.relu


def gelu(x, approximate="none"):
    return F.gelu(x, approximate == "tanh")


silu, softplus, elu, softsign, leaky_relu = F.silu, F.softplus, F.elu, F.softsign, F.leaky_relu
hardswish, hardsigmoid, hardtanh = F.hardswish, F.hardsigmoid, F.hardtanh


def softmax(x, axis=-1):
    return F.softmax(x, axis)


def log_softmax(x, axis=-1):
    return F.log_softmax(x, axis)


def cross_entropy(logits, target, label_smoothing=0.0):
    if label_smoothing:
        return F.cross_entropy(logits, target, label_smoothing=label_smoothing)
    # soft_label, use_softmax, numeric_stable_mode, ignore_index, axis
    losses = _C_ops.cross_entropy_with_softmax(logits, paddle.unsqueeze(target, -1), False, True, True, -100, -1)[1]
    return _C_ops.mean_all(losses)


def binary_cross_entropy(logits, target):
    if target.stop_gradient:
        return F.binary_cross_entropy_with_logits(logits, target)
    return paddle.mean(F.softplus(logits) - logits * target)  # the kernel gives its target no gradient


mean_squared_error, mean_absolute_error = F.mse_loss, F.l1_loss


def huber_loss(prediction, target, delta=1.0):
    return F.smooth_l1_loss(prediction, target, delta=delta)
