"""Linear layers, dropout, embedding and attention in TensorFlow's words; other neural operators have their own files."""

import math

import tensorflow as tf

from labdl.backends.tensorflow import layout
from labdl.backends.tensorflow.dtypes import promote_operands, sizes
from labdl.backends.tensorflow.linear_algebra import matmul


def linear(x, kernel, bias=None):
    y = matmul(*layout.rows(x, kernel))
    if bias is None:
        return y
    if y.dtype is not bias.dtype:
        y, bias = promote_operands(y, bias)
    return tf.nn.bias_add(y, bias) if y.shape.rank > 1 else y + bias


def dropout(x, rate, training=False):
    if not training or rate == 0:
        return x
    wide = x.dtype if x.dtype in (tf.float32, tf.float64) else tf.float32
    drawn = tf.random.get_global_generator().uniform(tf.shape(x), dtype=wide)
    kept = tf.constant(1 / (1 - rate) if rate < 1 else 0, x.dtype)
    return x * tf.where(drawn >= rate, kept, tf.constant(0, x.dtype))


def embedding(indices, table):
    return tf.gather(table, indices)


def _lower(scores):
    queries, keys = sizes(scores)[-2:]
    return tf.range(queries)[:, None] >= tf.range(keys)


def causal_mask(scores):
    return tf.where(_lower(scores), scores, tf.constant(-math.inf, scores.dtype))


def scaled_dot_product_attention(query, key, value, mask=None, causal=False, *, scale=None, rate=0.0, training=False):
    """Not in TensorFlow."""
    query, key, value = promote_operands(query, key, value)
    key, value = (_repeat_heads(t, query) for t in (key, value))
    scores = tf.matmul(query, key, transpose_b=True) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if causal:
        scores = causal_mask(scores)
    if mask is None:
        return tf.matmul(dropout(tf.nn.softmax(scores), rate, training), value)
    if mask.dtype is tf.bool:
        scores = tf.where(mask, scores, tf.constant(-math.inf, scores.dtype))
    else:
        scores += tf.cast(mask, scores.dtype)
    some = tf.reduce_max(scores, -1, True) > -math.inf
    zero = tf.constant(0, scores.dtype)
    weights = tf.where(some, tf.nn.softmax(tf.where(some, scores, zero)), zero)
    return tf.matmul(dropout(weights, rate, training), value)


def _repeat_heads(heads, query):
    """Heads (axis -3) as many as the query has."""
    if min(heads.shape.rank, query.shape.rank) < 4:
        return heads
    count, wanted = heads.shape[-3], query.shape[-3]
    shared = None in (count, wanted) or count in (1, wanted) or wanted == 1
    return heads if shared else tf.repeat(heads, wanted // count, -3)
