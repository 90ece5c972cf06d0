"""A backend that compiles slowly computes eagerly at first, and compiles what is used for long."""

import numpy as np
import pytest

from labdl import nn
from labdl.infer import Inference

pytestmark = [pytest.mark.backends("mindspore"), pytest.mark.default_mode]

X = np.random.default_rng(0).normal(size=(23, 3)).astype("float32")


def test_predictions_are_compiled_after_a_while(backend, monkeypatch):
    import mindspore

    from labdl.backends.mindspore import training

    model = nn.Sequential(nn.Linear(8), nn.BatchNorm(), nn.Tanh(), nn.Linear(4))
    model.build((None, 3), backend=backend.name, seed=0)
    expected = Inference(model, compiled=False).infer(X)
    made, jit = [], mindspore.jit
    monkeypatch.setattr(mindspore, "jit", lambda function: made.append(function) or jit(function))
    inference = Inference(model, batch_size=10)
    for patience, compilations in ((60.0, 0), (60.0, 0), (0.0, 1), (0.0, 1)):
        monkeypatch.setattr(training, "PATIENCE", patience)
        # batches of 10, 10 and 3: the last is computed as it is
        np.testing.assert_allclose(inference.infer(X), expected, rtol=1e-5, atol=1e-6)
        assert len(made) == compilations
