"""Checkpoints as trainings in a framework's own code write them, opened on that framework and on NumPy."""

import argparse
import pathlib

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import StateDictError
from labdl.saving.native.checkpoints import convert_checkpoint, load_checkpoint
from labdl.saving.native.formats import paddle as file_format

pytestmark = pytest.mark.filterwarnings("ignore:When training, we now always track global mean")  # of Paddle
X = np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3)
REST = {"epoch": 3, "best": np.float64(0.5), "args": argparse.Namespace(path=pathlib.PurePosixPath("a"), names={"a"})}


class Net(nn.Module):
    def __init__(self):
        self.features = nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Dropout(0.5))
        self.head = nn.Linear(2)

    def forward(self, x):
        return self.head(self.features(x))


def check(path, expected, backend, **options):
    for place in (backend.name, "numpy"):
        model = Net().build((None, 3), backend=place).eval()
        load_checkpoint(model, path, **options)
        found = labdl.to_numpy(model(labdl.tensor(X, backend=place)))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def torch_files(folder):
    import torch

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
            self.head = torch.nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.features(x))

    net, x = Plain(), torch.from_numpy(X)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    torch.nn.DataParallel(net)(x).square().sum().backward()
    optimizer.step()
    state = torch.nn.DataParallel(net).state_dict()
    torch.save({"state_dict": state, "optimizer": optimizer.state_dict(), **REST}, folder / "training.pt")
    return ["training.pt"], net.eval()(x).detach().numpy()


def paddle_files(folder):
    import paddle

    class Plain(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.features = paddle.nn.Sequential(
                paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout(0.5)
            )
            self.head = paddle.nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.features(x))

    net, x = Plain(), paddle.to_tensor(X)
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    net(x).square().sum().backward()
    optimizer.step()
    state = net.state_dict()
    for name in ("net", "model", "state_dict"):
        training = {name: state, "optimizer": optimizer.state_dict(), "rng": paddle.get_rng_state()[0].current_seed()}
        paddle.save({**training, **REST}, str(folder / f"{name}.pdparams"))
    paddle.save({f"_layers.{name}": value for name, value in state.items()}, str(folder / "parallel.pdparams"))
    paddle.save({"model": state}, str(folder / "old.pdparams"), protocol=2)
    net.eval()
    return [f"{name}.pdparams" for name in ("net", "model", "state_dict", "parallel", "old")], net(x).numpy()


def tensorflow_files(folder):
    import keras

    class Plain(keras.Model):
        def __init__(self):
            super().__init__()
            parts = [keras.layers.Dense(4), keras.layers.BatchNormalization(epsilon=1e-5), keras.layers.Dropout(0.5)]
            self.features, self.head = keras.Sequential(parts), keras.layers.Dense(2)

        def call(self, x, training=False):
            return self.head(self.features(x, training=training))

    net = Plain()
    net.compile("adam", "mse", metrics=["mae"])
    net.fit(X, X[:, :2], epochs=2, verbose=0)
    net.save(folder / "net.keras")
    net.save_weights(folder / "net.weights.h5")
    return ["net.keras", "net.weights.h5"], net.predict(X, verbose=0)


def mindspore_files(folder):
    import mindspore as ms

    class Plain(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.features = ms.nn.SequentialCell(ms.nn.Dense(3, 4), ms.nn.BatchNorm1d(4), ms.nn.Dropout(p=0.5))
            self.head = ms.nn.Dense(4, 2)

        def construct(self, x):
            return self.head(self.features(x))

    net = Plain()
    names = []
    for kind in (ms.nn.Momentum, ms.nn.Adam):
        options = {"momentum": 0.9} if kind is ms.nn.Momentum else {}
        optimizer = kind(net.trainable_params(), learning_rate=0.0, **options)
        step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, ms.nn.MSELoss()), optimizer)
        names.append(f"{kind.__name__}.ckpt")
        ms.save_checkpoint(step, str(folder / names[-1]), append_dict={"epoch_num": 3, "step_num": 7})
    assert {"moments.head.weight", "learning_rate", "epoch_num"} <= ms.load_checkpoint(str(folder / names[0])).keys()
    net.set_train(False)
    return names, net(ms.Tensor(X)).asnumpy()


WRITERS = {"torch": torch_files, "paddle": paddle_files, "tensorflow": tensorflow_files, "mindspore": mindspore_files}


@pytest.mark.sample(backends=1)
def test_files_of_trainings_open(backend, tmp_path):
    names, expected = WRITERS[backend.name](tmp_path)
    for name in names:
        check(tmp_path / name, expected, backend)
        target = ".pt" if backend.name == "paddle" else ".pdparams"
        model = Net().build((None, 3), backend="numpy")
        check(convert_checkpoint(model, tmp_path / name, tmp_path / f"again{target}"), expected, backend)


def test_a_choice_in_a_file_of_paddle(backend, tmp_path):
    if backend.name != "paddle":
        return
    import paddle

    (first, *_), expected = paddle_files(tmp_path)
    state = paddle.load(str(tmp_path / first))["net"]
    other = {name: value + 1 for name, value in state.items()}
    paddle.save({"net": state, "ema": other}, str(tmp_path / "both.pdparams"))
    with pytest.raises(StateDictError, match=r"net\., ema\.: choose one by its prefix"):
        check(tmp_path / "both.pdparams", expected, backend)
    check(tmp_path / "both.pdparams", expected, backend, prefix="net.")


@pytest.mark.sample(False)
@pytest.mark.filterwarnings("ignore:.*HDF5 file:UserWarning")
def test_whole_models_of_keras_in_hdf5(backend, tmp_path):
    if backend.name != "tensorflow":
        return
    import keras

    def layers():
        return [keras.layers.Dense(4), keras.layers.BatchNormalization(epsilon=1e-5), keras.layers.Dropout(0.5)]

    nested = keras.Sequential([keras.Input((3,)), keras.Sequential(layers()), keras.layers.Dense(2)])
    flat = keras.Sequential([keras.Input((3,)), *layers(), keras.layers.Dense(2)])
    x = keras.Input((3,))
    value = x
    for layer in (*layers(), keras.layers.Dense(2)):
        value = layer(value)
    for number, net in enumerate((nested, flat, keras.Model(x, value))):
        net.compile("adam", "mse", metrics=["mae"])
        net.fit(X, X[:, :2], epochs=2, verbose=0)
        net.save(tmp_path / f"{number}.h5")
        check(tmp_path / f"{number}.h5", net.predict(X, verbose=0), backend)
    other = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(2, use_bias=False)])
    other.save(tmp_path / "other.h5")
    with pytest.raises(
        StateDictError, match=r"older format.*they have \(kernel, bias\), \(kernel\), the model .*\.keras"
    ):
        load_checkpoint(Net().build((None, 3), backend="numpy"), tmp_path / "other.h5")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_files_of_paddle_in_other_precision(dtype, backend, tmp_path):
    if backend.name != "paddle":
        return
    import paddle

    layer = paddle.nn.Linear(3, 2)
    paddle.save({name: value.astype(dtype) for name, value in layer.state_dict().items()}, str(tmp_path / "a.pdparams"))
    expected = {
        f"{name}:0": value.astype(dtype).astype("float32").numpy() for name, value in layer.state_dict().items()
    }
    for place in ("paddle", "numpy"):
        model = nn.Linear(2).build((None, 3), backend=place)
        load_checkpoint(model, tmp_path / "a.pdparams")
        for name, own in (("weight:0", "kernel:0"), ("bias:0", "bias:0")):
            np.testing.assert_array_equal(model.state_dict()[own], expected[name])
    file_format.write(tmp_path / "again.pdparams", file_format.read(tmp_path / "a.pdparams"))
    for name, value in paddle.load(str(tmp_path / "again.pdparams")).items():
        assert dtype in str(value.dtype).lower()
        np.testing.assert_array_equal(value.astype("float32").numpy(), expected[f"{name}:0"])


def test_an_archive_of_a_functional_model_of_keras(backend, tmp_path):
    if backend.name != "tensorflow":
        return
    import keras

    inside = keras.Sequential([keras.layers.Dense(4), keras.layers.BatchNormalization(epsilon=1e-5)])
    x = keras.Input((3,))
    functional = keras.Model(x, keras.layers.Dense(2)(inside(x)))
    functional.save(tmp_path / "functional.keras")
    flat = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.ReLU(), keras.layers.Dense(2)])
    flat.save(tmp_path / "flat.keras")
    for name, native, model in (
        ("functional", functional, nn.Sequential(nn.Sequential(nn.Linear(4), nn.BatchNorm()), nn.Linear(2))),
        ("flat", flat, nn.Sequential(nn.Linear(4), nn.ReLU(), nn.Linear(2))),
    ):
        load_checkpoint(model.build((None, 3), backend="tensorflow").eval(), tmp_path / f"{name}.keras")
        found = labdl.to_numpy(model(labdl.tensor(X, backend="tensorflow")))
        np.testing.assert_allclose(found, native.predict(X, verbose=0), rtol=1e-5, atol=1e-6)
