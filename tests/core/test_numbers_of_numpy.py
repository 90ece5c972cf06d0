"""NumPy's scalars are numbers wherever a person gives a setting, and files hold them as such."""

import numpy as np
import pytest

import labdl
from labdl import nn, train


@nn.layer({"sizes": [1, 2]}, namespace="tests")
class Scales(nn.Module):
    """Factors of the columns."""

    sizes: list[int]

    def forward(self, x):
        return x * float(self.sizes[0])


CASES = {
    "a layer": (lambda n, f: nn.Dropout(f(0.25)), "rate", 0.25),
    "a size": (lambda n, f: nn.Linear(n(3)), "out_features", 3),
    "a pair": (lambda n, f: nn.Conv2d(3, (n(3), 2)), "kernel_size", (3, 2)),
    "a list": (lambda n, f: Scales([n(3), 2]), "sizes", (3, 2)),
    "a loss": (lambda n, f: nn.HuberLoss(delta=f(0.5)), "delta", 0.5),
    "an optimizer": (lambda n, f: train.Adam(f(0.25)), "learning_rate", 0.25),
    "a schedule": (lambda n, f: train.StepDecay(n(3)), "every", 3),
    "stopping": (lambda n, f: train.EarlyStopping(patience=n(3)), "patience", 3),
    "a checkpoint": (lambda n, f: train.Checkpoint("folder", keep=n(3)), "keep", 3),
}


@pytest.mark.parametrize("whole", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("name", CASES)
def test_settings_of_numpy_are_numbers(name, whole):
    make, field, expected = CASES[name]
    value = getattr(make(whole, np.float32), field)
    assert value == expected
    assert type(value) is type(expected)
    assert all(type(v) is int for v in value) if isinstance(value, tuple) else True


def test_models_with_them_are_saved_and_loaded(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.dense = nn.Dropout(np.float32(0.25)), nn.Linear(np.int64(4))
            self.scales = Scales([np.int64(2)])

        def forward(self, x):
            return self.scales(self.dense(self.drop(x)))

    model = Model().build((None, 3), backend="numpy", seed=0).eval()
    labdl.save(model, tmp_path / "net")
    x = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(labdl.load(tmp_path / "net", backend="numpy").eval()(x), model(x))


def test_models_of_the_zoo_take_them():
    assert labdl.models.create("textcnn", classes=np.int64(3)).head.out_features == 3
