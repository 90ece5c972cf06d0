"""The models as a Keras 3 user writes them, trained by train_on_batch on the framework of KERAS_BACKEND."""

import keras
from keras import layers


def _mlp():
    return [layers.Dense(256, "relu"), layers.Dense(10)]


def _cnn():
    return [
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(10),
    ]


def _block(x):
    mixed = layers.MultiHeadAttention(4, 32, dropout=0.1)(x, x)
    x = layers.LayerNormalization()(x + layers.Dropout(0.1)(mixed))
    wide = layers.Dropout(0.1)(layers.Dense(512, "relu")(x))
    x = layers.LayerNormalization()(x + layers.Dropout(0.1)(layers.Dense(128)(wide)))
    return layers.Dense(10)(layers.Flatten()(x))


def _lstm():
    return [layers.LSTM(128, return_sequences=True), layers.Flatten(), layers.Dense(10)]


def step(name: str, x, y):
    if name == "cnn":  # the data set of such a user is channels-last from the start
        x = x.transpose(0, 2, 3, 1).copy()
    inputs = keras.Input(x.shape[1:])
    if name == "block":
        model = keras.Model(inputs, _block(inputs))
    else:
        model = keras.Sequential([inputs, *{"mlp": _mlp, "cnn": _cnn, "lstm": _lstm}[name]()])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss=loss)
    return lambda: float(model.train_on_batch(x, y))
