"""Converts Keras models (3.15.1, TensorFlow 2.21) with tf2onnx 1.17.0: ``python make_tensorflow.py``."""

import sys

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from keras import layers
from recording import path, record


def dense():
    x = keras.Input((6,))
    y = layers.BatchNormalization()(layers.Dense(5, "relu")(x))
    return keras.Model(x, layers.Dense(3, "softmax")(y))


def cnn():
    x = keras.Input((8, 8, 2))
    y = layers.MaxPooling2D()(layers.Conv2D(4, 3, padding="same", activation="relu")(x))
    y = layers.DepthwiseConv2D(3, padding="same")(y)
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, strides=2, padding="same", use_bias=False)(y))
    return keras.Model(x, layers.Dense(3)(layers.GlobalAveragePooling2D()(y)))


def decoder():
    x = keras.Input((4,))
    y = layers.Reshape((3, 3, 4))(layers.Dense(36, "relu")(x))
    y = layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="relu")(y)
    return keras.Model(x, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(layers.UpSampling2D()(y)))


def text():
    x = keras.Input((6,), dtype="int32")
    return keras.Model(x, layers.Dense(2)(layers.GlobalAveragePooling1D()(layers.Embedding(9, 4)(x))))


def attention():
    x = keras.Input((5, 8))
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    return keras.Model(x, layers.Dense(8, "silu")(y))


MODELS = {
    "dense": (dense, (6,)),
    "cnn": (cnn, (8, 8, 2)),
    "decoder": (decoder, (4,)),
    "text": (text, (6,)),
    "attention": (attention, (5, 8)),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        make, shape = MODELS[name]
        keras.utils.set_random_seed(0)
        model = make()
        dtype = "int32" if name == "text" else "float32"
        function = tf.function(lambda x, model=model: model(x, training=False))
        signature = [tf.TensorSpec((None, *shape), dtype, name="x")]
        made, _ = tf2onnx.convert.from_function(function, signature, opset=18)
        path("tf2onnx", name).write_bytes(made.SerializeToString())
        draw = np.random.default_rng(0)
        cases = []
        for batch in (2, 3):
            x = draw.integers(0, 9, (batch, *shape)) if name == "text" else draw.standard_normal((batch, *shape))
            x = x.astype(dtype)
            cases.append(([x], [model(x, training=False).numpy()]))
        record("tf2onnx", name, cases)
