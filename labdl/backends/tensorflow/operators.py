"""TensorFlow's spelling of the operators that differ in name or meaning; the rest are found in TensorFlow by name."""

import functools
import math

import tensorflow as tf

from labdl.backends.tensorflow import layout, recurrent, spatial
from labdl.spec import promote

conv1d, conv2d, conv3d = spatial.conv1d, spatial.conv2d, spatial.conv3d
max_pool1d, max_pool2d, max_pool3d = spatial.max_pool1d, spatial.max_pool2d, spatial.max_pool3d
avg_pool1d, avg_pool2d, avg_pool3d = spatial.avg_pool1d, spatial.avg_pool2d, spatial.avg_pool3d
batch_norm, lstm = spatial.batch_norm, recurrent.lstm

_TENSORS = (tf.Tensor, tf.Variable)


def _operands(function):
    function = layout.binary(function)

    def call(x, y):
        return function(*_common(x, y))

    return call


def _common(x, y):
    """Operands of one dtype, as TensorFlow wants them; a number takes the tensor's, unless a float meets integers."""
    if not isinstance(x, _TENSORS):
        x = _beside(x, y)
    elif not isinstance(y, _TENSORS):
        y = _beside(y, x)
    if x.dtype != y.dtype:
        common = promote(x.dtype.name, y.dtype.name)
        return tf.cast(x, common), tf.cast(y, common)
    return x, y


def _beside(value, tensor):
    if isinstance(value, int) or tensor.dtype.is_floating:
        return tf.constant(value, tensor.dtype)
    return tf.constant(value)


maximum, minimum, power = map(_operands, (tf.maximum, tf.minimum, tf.pow))
equal, not_equal = _operands(tf.equal), _operands(tf.not_equal)
less, less_equal, greater, greater_equal = map(_operands, (tf.less, tf.less_equal, tf.greater, tf.greater_equal))
add, subtract, multiply = _operands(tf.add), _operands(tf.subtract), _operands(tf.multiply)
floor_divide, remainder = _operands(tf.math.floordiv), _operands(tf.math.floormod)


@_operands
def divide(x, y):
    return tf.divide(x, y) if x.dtype.is_floating else tf.divide(tf.cast(x, tf.float32), tf.cast(y, tf.float32))


def _floating(function):
    """An element's function with a floating-point result: TensorFlow's take no integers."""
    function = layout.elementwise(function)

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        return function(x if x.dtype.is_floating else tf.cast(x, tf.float32), *args, **kwargs)

    return call


exp, expm1, log, log1p, sqrt = map(_floating, (tf.exp, tf.math.expm1, tf.math.log, tf.math.log1p, tf.sqrt))
rsqrt, reciprocal, erf = map(_floating, (tf.math.rsqrt, tf.math.reciprocal, tf.math.erf))
sin, cos, tan, asin, acos, atan = map(_floating, (tf.sin, tf.cos, tf.tan, tf.asin, tf.acos, tf.atan))
sinh, cosh, tanh = map(_floating, (tf.sinh, tf.cosh, tf.tanh))
sigmoid, silu, softplus, softsign = map(_floating, (tf.sigmoid, tf.nn.silu, tf.math.softplus, tf.nn.softsign))
negative, abs, square = map(layout.elementwise, (tf.negative, tf.abs, tf.square))
relu = layout.elementwise(tf.nn.relu)
isfinite, isnan = tf.math.is_finite, tf.math.is_nan


@_floating
def log2(x):
    return tf.math.log(x) * (1 / math.log(2))


@layout.elementwise
def clip(x, low=None, high=None):
    if low is not None and high is not None:
        return tf.clip_by_value(x, low, high)
    return x if low is high is None else tf.minimum(x, high) if low is None else tf.maximum(x, low)


def where(condition, x, y):
    return tf.where(condition, *_common(x, y))


def _reduce(function):
    @layout.reduction
    def call(x, axis, keepdims):
        return function(x, axis, keepdims)

    return call


sum, mean, max, min = map(_reduce, (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min))
prod, logsumexp, any, all = map(_reduce, (tf.reduce_prod, tf.reduce_logsumexp, tf.reduce_any, tf.reduce_all))


@layout.reduction
def var(x, axis, keepdims, correction=0):
    spread = tf.math.reduce_variance(x, axis, keepdims)
    if correction:
        count = tf.cast(tf.size(x), x.dtype) / tf.cast(tf.size(spread), x.dtype)
        spread = spread * (count / (count - correction))
    return spread


def std(x, axis=None, keepdims=False, correction=0):
    return tf.sqrt(var(x, axis, keepdims, correction=correction))


def _position(function):
    def call(x, axis=None, keepdims=False):
        if axis is not None:
            at = function(x, axis, tf.int64)
            return tf.expand_dims(at, axis) if keepdims else at
        at = function(tf.reshape(x, (-1,)), 0, tf.int64)
        return tf.reshape(at, (1,) * x.shape.rank) if keepdims else at

    return call


argmax, argmin = _position(tf.argmax), _position(tf.argmin)


cumulative_sum = tf.cumsum


def _sizes(x) -> list:
    """The shape with numbers where they are known and scalar tensors where not."""
    known = x.shape.as_list()
    if None not in known:
        return known
    shape = tf.shape(x)
    return [shape[i] if n is None else n for i, n in enumerate(known)]


def reshape(x, shape):
    return tf.reshape(x, [shape] if isinstance(shape, int) else [-1 if n is None else n for n in shape])


def permute(x, axes):
    return tf.transpose(x, [a % len(axes) for a in axes])


def squeeze(x, axis):
    return tf.squeeze(x, list(axis) if isinstance(axis, tuple) else axis)


def concat(xs, axis=0):
    xs = _alike(xs)
    rank = xs[0].shape.rank
    if [x for x in xs if layout.made_last(x)]:
        return layout.channels_first(tf.concat([layout.channels_last(x) for x in xs], layout.place(axis, rank)))
    return tf.concat(xs, axis)


def stack(xs, axis=0):
    return tf.stack(_alike(xs), axis)


def _alike(xs):
    """Tensors of one dtype."""
    xs = [x if isinstance(x, _TENSORS) else tf.constant(x) for x in xs]
    common = promote(*(x.dtype.name for x in xs))
    return [tf.cast(x, common) for x in xs]


def split(x, sections, axis=0):
    return tuple(tf.split(x, sections if isinstance(sections, int) else list(sections), axis))


def flip(x, axis):
    return tf.reverse(x, [axis])


def pad(x, padding, value=0.0):
    if layout.made_last(x):
        first, second, *rest = padding
        return layout.channels_first(tf.pad(layout.channels_last(x), [first, *rest, second], constant_values=value))
    return tf.pad(x, padding, constant_values=value)


def take(x, indices, axis=0):
    return tf.gather(x, indices, axis=axis)


def getitem(x, index):
    return x[index]


@layout.elementwise
def astype(x, dtype):
    return tf.cast(x, dtype)


def matmul(x, y):
    if x.dtype != y.dtype:
        x, y = _alike((x, y))
    if x.shape.rank == 1:
        return tf.squeeze(matmul(x[None], y), -2 if y.shape.rank > 1 else -1)
    if y.shape.rank == 1:
        return tf.linalg.matvec(x, y)
    if y.shape.rank == 2 and x.shape.rank > 2:  # one product of matrices, for it and for its gradients
        *outer, inner = _sizes(x)
        return tf.reshape(tf.matmul(tf.reshape(x, (-1, inner)), y), [*outer, y.shape[-1]])
    return tf.matmul(x, y)


def linear(x, kernel, bias=None):
    y = matmul(x, kernel)
    if bias is None:
        return y
    return tf.nn.bias_add(y, bias) if y.shape.rank > 1 else y + bias


@_floating
def gelu(x, approximate="none"):
    return tf.nn.gelu(x, approximate == "tanh")


@_floating
def leaky_relu(x, negative_slope=0.01):
    return tf.nn.leaky_relu(x, negative_slope)


@_floating
def elu(x, alpha=1.0):
    y = tf.nn.elu(x)
    return y if alpha == 1 else tf.where(x > 0, x, alpha * y)


@_floating
def hardsigmoid(x):
    return tf.nn.relu6(x + 3) * (1 / 6)


@_floating
def hardswish(x):
    return x * tf.nn.relu6(x + 3) * (1 / 6)


log_softmax = tf.nn.log_softmax


def layer_norm(x, scale, offset, epsilon=1e-5):
    axes = list(range(-scale.shape.rank, 0))
    centred = x - tf.reduce_mean(x, axes, True)
    return centred * tf.math.rsqrt(tf.reduce_mean(tf.square(centred), axes, True) + epsilon) * scale + offset


@layout.elementwise
def dropout(x, rate, training=False):
    if not training or rate == 0:
        return x
    drawn = tf.random.get_global_generator().uniform(tf.shape(x), dtype=x.dtype)
    return x * tf.where(drawn >= rate, tf.constant(1 / (1 - rate), x.dtype), tf.constant(0, x.dtype))


def embedding(indices, table):
    return tf.gather(table, indices)


def causal_mask(scores):
    return tf.where(_lower(scores), scores, tf.constant(-math.inf, scores.dtype))


def _lower(scores):
    queries, keys = _sizes(scores)[-2:]
    return tf.range(queries)[:, None] >= tf.range(keys)


def scaled_dot_product_attention(query, key, value, mask=None, causal=False):
    scores = tf.matmul(query, key, transpose_b=True) * (1 / math.sqrt(query.shape[-1]))
    if causal:
        scores = causal_mask(scores)
    if mask is not None:
        scores = tf.where(mask, scores, tf.constant(-math.inf, scores.dtype))
    return tf.matmul(tf.nn.softmax(scores), value)


def cross_entropy(logits, target, label_smoothing=0.0):
    classes = logits.shape[-1]
    if not label_smoothing:
        target = target if target.dtype in (tf.int32, tf.int64) else tf.cast(target, tf.int64)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
    smooth = tf.one_hot(target, classes, 1 - label_smoothing + label_smoothing / classes, label_smoothing / classes)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.cast(smooth, logits.dtype), logits))


def binary_cross_entropy(logits, target):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(target, logits))


def mean_squared_error(prediction, target):
    return tf.reduce_mean(tf.math.squared_difference(prediction, target))
