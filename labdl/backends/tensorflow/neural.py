"""TensorFlow's spelling of neural operators that differ in name or meaning; the rest are found in TensorFlow by name."""

import math

import tensorflow as tf

from labdl.backends.tensorflow import layout, recurrent, spatial
from labdl.backends.tensorflow.algebra import matmul
from labdl.backends.tensorflow.promotion import floating as _floating
from labdl.backends.tensorflow.promotion import sizes as _sizes

conv1d, conv2d, conv3d = spatial.conv1d, spatial.conv2d, spatial.conv3d
max_pool1d, max_pool2d, max_pool3d = spatial.max_pool1d, spatial.max_pool2d, spatial.max_pool3d
avg_pool1d, avg_pool2d, avg_pool3d = spatial.avg_pool1d, spatial.avg_pool2d, spatial.avg_pool3d
batch_norm, lstm = spatial.batch_norm, recurrent.lstm


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
