"""A training on one framework takes the data sets and loaders of the others."""

import numpy as np
import pytest
from torch.utils.data import DataLoader

from labdl import data, nn
from labdl.train import SGD, Trainer

X = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
ARRAYS = data.ArrayDataset(X, (X.sum(1) > 0).astype("int64"))


def loader_of(library):
    native = ARRAYS.to_native(library)
    if library == "torch":
        return DataLoader(native, 8)
    if library == "paddle":
        import paddle

        return paddle.io.DataLoader(native, batch_size=8)
    return native.batch(8)


@pytest.mark.parametrize("library", ["torch", "tensorflow", "paddle", "mindspore"])
@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_loaders_of_any_framework_train_on_another(backend, library):
    def train(dataset, **options):
        trainer = Trainer(nn.Sequential(nn.Linear(2)), "cross_entropy", SGD(0.1), seed=0, backend=backend)
        return trainer.fit(dataset, epochs=1, progress=False, **options)

    expected = train(ARRAYS, batch_size=8, shuffle=False)
    assert dict(train(loader_of(library))) == dict(expected)
