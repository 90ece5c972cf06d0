"""The networks of the checkpoint tests in plain Keras, and their files, written by ``python tensorflow_nets.py``."""

import functools
import sys

import keras
import numpy as np
import tensorflow as tf
from inputs import HERE, SHAPES, drawn, inputs_of
from keras import layers


def last(x):
    return tf.transpose(x, (0, *range(2, len(x.shape)), 1))


def first(x):
    return tf.transpose(x, (0, len(x.shape) - 1, *range(1, len(x.shape) - 1)))


class Image(keras.Model):
    def __init__(self):
        super().__init__()
        self.mix = layers.SeparableConv2D(5, 3)
        self.stem = keras.Sequential(
            [
                layers.Conv2D(4, (3, 2)),
                layers.BatchNormalization(epsilon=1e-5),
                layers.PReLU(shared_axes=[1, 2]),
                layers.DepthwiseConv2D(2, depth_multiplier=2),
                layers.GroupNormalization(2, epsilon=1e-5),
                layers.Conv2D(6, 1, groups=2, use_bias=False),
                layers.GroupNormalization(-1, epsilon=1e-5),
                layers.Conv2DTranspose(4, 2, strides=2),
            ]
        )
        self.head = layers.Dense(3)

    def call(self, x):
        return self.head(tf.reduce_mean(self.mix(self.stem(last(x))), (1, 2)))


class Signal(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv1D(4, 3)
        self.up = layers.Conv1DTranspose(5, 3, strides=2)
        self.each = layers.DepthwiseConv1D(2, depth_multiplier=2)
        self.mix = layers.SeparableConv1D(3, 2, depth_multiplier=2)

    def call(self, x):
        return first(self.mix(self.each(self.up(self.conv(last(x))))))


class Volume(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv3D(3, 2)
        self.up = layers.Conv3DTranspose(2, 2, strides=2)

    def call(self, x):
        return first(self.up(self.conv(last(x))))


class Sequence(keras.Model):
    def __init__(self):
        super().__init__()
        self.words = layers.Embedding(11, 6)
        self.lstm = keras.Sequential([layers.Bidirectional(layers.LSTM(4, return_sequences=True)) for _ in range(2)])
        self.gru = layers.Bidirectional(layers.GRU(3, return_sequences=True))
        self.rnn = layers.SimpleRNN(5, return_sequences=True)
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.head = layers.Dense(2)

    def call(self, x):
        return self.head(self.norm(self.rnn(self.gru(self.lstm(self.words(x))))))


class Attention(keras.Model):
    def __init__(self):
        super().__init__()
        self.own = layers.MultiHeadAttention(2, 3)
        self.scale = layers.RMSNormalization(epsilon=1e-6)
        self.other = layers.MultiHeadAttention(3, 2)

    def call(self, x, context):
        return self.other(self.scale(self.own(x, x)), context)


class FeedForward(layers.Layer):
    def __init__(self, hidden, out):
        super().__init__()
        self.expand, self.contract = layers.Dense(hidden, "relu"), layers.Dense(out)

    def call(self, x):
        return self.contract(self.expand(x))


class TransformerEncoderLayer(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention, self.attention_norm = layers.MultiHeadAttention(2, 3), layers.LayerNormalization(epsilon=1e-5)
        self.mlp, self.mlp_norm = FeedForward(7, 6), layers.LayerNormalization(epsilon=1e-5)

    def call(self, x):
        x = self.attention_norm(x + self.attention(x, x))
        return self.mlp_norm(x + self.mlp(x))


class TransformerDecoderLayer(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention, self.attention_norm = layers.MultiHeadAttention(2, 3), layers.LayerNormalization(epsilon=1e-5)
        self.cross_attention, self.cross_norm = layers.MultiHeadAttention(2, 3), layers.LayerNormalization(epsilon=1e-5)
        self.mlp, self.mlp_norm = FeedForward(7, 6), layers.LayerNormalization(epsilon=1e-5)

    def call(self, x, context):
        x = self.attention_norm(x + self.attention(x, x))
        x = self.cross_norm(x + self.cross_attention(x, context))
        return self.mlp_norm(x + self.mlp(x))


class TransformerEncoder(layers.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = [TransformerEncoderLayer() for _ in range(2)]
        self.norm = layers.LayerNormalization(epsilon=1e-5)

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Transformer(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = TransformerEncoder(), TransformerDecoderLayer()

    def call(self, x, context):
        return self.decoder(x, self.encoder(context))


class Bilinear(layers.Layer):
    def build(self, x_shape, y_shape):
        self.kernel = self.add_weight(shape=(5, x_shape[-1], y_shape[-1]), name="kernel")
        self.bias = self.add_weight(shape=(5,), name="bias")

    def call(self, x, y):
        return tf.einsum("ni,oij,nj->no", x, self.kernel, y) + self.bias


class Pairs(keras.Model):
    def __init__(self):
        super().__init__()
        self.both = Bilinear()

    def call(self, x, y):
        return self.both(x, y)


class Cells(keras.Model):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = layers.LSTMCell(4), layers.GRUCell(5), layers.SimpleRNNCell(2)

    def call(self, x):
        zeros = [tf.zeros((x.shape[0], size)) for size in (4, 5, 2)]
        x, _ = self.lstm(x, [zeros[0], zeros[0]])
        x, _ = self.gru(x, [zeros[1]])
        return self.rnn(x, [zeros[2]])[0]


class Parts(keras.Model):
    def __init__(self):
        super().__init__()
        self.scale = self.add_weight(shape=(3,), name="scale")
        self.blocks = [layers.Dense(4), layers.Dense(4)]
        self.heads = {"low": layers.Dense(2), "high": layers.Dense(2)}
        self.shift = self.add_weight(shape=(4,), name="shift", trainable=False)

    def call(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return self.heads["low"](x + self.shift) - self.heads["high"](x)


class Dense(tf.Module):
    def __init__(self, into, out):
        super().__init__()
        self.kernel, self.bias = tf.Variable(tf.zeros((into, out))), tf.Variable(tf.zeros((out,)))

    def __call__(self, x):
        return x @ self.kernel + self.bias


class PlainParts(tf.Module):
    """Parts in TensorFlow without Keras, whose checkpoints leave layers in lists out."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = tf.Variable(tf.zeros(3)), tf.Variable(tf.zeros(4), trainable=False)
        self.blocks = [Dense(3, 4), Dense(4, 4)]
        self.heads = {"low": Dense(4, 2), "high": Dense(4, 2)}

    __call__ = Parts.call


NETS = dict(zip(SHAPES, (Image, Signal, Volume, Sequence, Attention, Transformer, Pairs, Cells, Parts), strict=True))
OBJECTS = ("image", "sequence", "attention", "cells", "parts")  # what has files of tf.train.Checkpoint


@functools.cache
def made(name, objects=False):
    """A network that is built, which takes Keras a second."""
    net = PlainParts() if name == "parts" and objects else NETS[name]()
    run(net, name)
    return net


def run(net, name):
    return net(*map(tf.constant, inputs_of(name))).numpy()


def load(name, path):
    net = made(name, objects=name == "parts" and path.suffix != ".h5")
    for variable in net.variables:
        variable.assign(tf.zeros_like(variable))
    if path.suffix == ".h5":
        net.load_weights(path)
    else:
        tf.train.Checkpoint(model=net).read(str(path)).expect_partial()
    return net


def write(name, folder):
    net = made(name)
    for variable, values in zip(net.variables, _values(net), strict=True):
        variable.assign(values)
    net.save_weights(folder / f"{name}.weights.h5")
    output = run(net, name)
    if name in OBJECTS:
        if name == "parts":
            net = _plain_of(net)
            assert np.allclose(run(net, name), output)
        tf.train.Checkpoint(model=net).write(str(folder / name))
    return output


def _plain_of(net):
    plain = PlainParts()
    for mine, other in (
        (plain.scale, net.scale),
        (plain.shift, net.shift),
        *(
            (getattr(a, word), getattr(b, word))
            for word in ("kernel", "bias")
            for a, b in zip([*plain.blocks, *plain.heads.values()], [*net.blocks, *net.heads.values()], strict=True)
        ),
    ):
        mine.assign(other)
    return plain


def _values(net):
    rng = np.random.default_rng(4)
    return [v.numpy() if "seed" in v.path else drawn(v.shape, rng, v.path) for v in net.variables]


if __name__ == "__main__":
    (HERE / "tensorflow").mkdir(exist_ok=True)
    np.savez(
        HERE / "tensorflow" / "outputs.npz", **{name: write(name, HERE / "tensorflow") for name in sys.argv[1:] or NETS}
    )
