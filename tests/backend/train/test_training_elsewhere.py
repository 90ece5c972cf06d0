"""Resuming a training on another backend, and errors of resuming."""

import warnings

import numpy as np
import pytest
from interrupted import DATA, equal, fit, own_seeds, plain, stopped_after, trainer

import labdl
from labdl import dispatch, nn, train
from labdl.errors import ConfigError, StateDictError
from labdl.train import Checkpoint, Trainer

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def test_checkpoint_resumes_on_torch(backend, tmp_path):
    """Parameters, slots, schedule and data order are restored; a warning says that the random state is not."""
    torch = dispatch.get("torch")
    whole = plain(torch)
    history = fit(whole)
    stopped_after(8, plain(backend), checkpoint=Checkpoint(tmp_path, every=7))
    again = plain(torch, seed=50)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        resumed = fit(again, resume=tmp_path)
    assert any("are reseeded" in str(w.message) for w in caught) == (backend.name != "torch")
    for name, values in history.items():
        assert resumed[name] == pytest.approx(values, rel=1e-4, abs=1e-5), name
    for key, value in whole.model.state_dict().items():
        np.testing.assert_allclose(again.model.state_dict()[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


def test_portable_random_state_resumes_on_torch(backend, tmp_path):
    def dropping(backend, seed=1):
        model = nn.Sequential(nn.Flatten(), nn.Dropout(0.4), nn.Linear(4))
        return trainer(backend, seed=seed, model=model, optimizer=train.SGD(0.05), metrics=[], compiled=False)

    torch = dispatch.get("torch")
    labdl.seed(3, portable=True)
    whole = dropping(torch)
    fit(whole)
    labdl.seed(3, portable=True)
    stopped_after(8, dropping(backend), checkpoint=Checkpoint(tmp_path, every=7))
    labdl.seed(77)
    again = dropping(torch, seed=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(again, resume=tmp_path)
    for key, value in whole.model.state_dict().items():
        np.testing.assert_allclose(again.model.state_dict()[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


def test_state_of_every_optimizer_resumes_on_numpy(backend, tmp_path):
    """A checkpoint of the backend is resumed on NumPy, and that of NumPy on the backend, without loss."""
    for kind in train.OPTIMIZERS:
        first = plain(backend, compiled=False)
        first.optimizer = train.optimizer(kind)
        stopped_after(3, first)
        model = plain(backend).model.build((None, 1, 6, 6), backend="numpy")
        between = Trainer(model, optimizer=train.optimizer(kind), schedule="cosine")
        back = plain(backend)
        back.optimizer = train.optimizer(kind)
        back.model.build((None, 1, 6, 6), backend=backend.name)
        with pytest.warns(UserWarning, match="are reseeded"):
            between.load_checkpoint(first.save_checkpoint(tmp_path / kind))
        with pytest.warns(UserWarning, match="are reseeded"):
            back.load_checkpoint(between.save_checkpoint(tmp_path / kind))
        ours, theirs = back.state_dict(), first.state_dict()
        assert equal(ours["parameters"], theirs["parameters"]), kind
        assert equal(ours["optimizer"], theirs["optimizer"]), kind
        assert equal(ours["training"]["progress"], theirs["training"]["progress"]), kind


def test_mismatched_state_raises_without_changes(backend, tmp_path):
    first = plain(backend)
    fit(first, 1, checkpoint=Checkpoint(tmp_path, every=3))
    kept = first.state_dict()
    middle, other = tmp_path / "step-00000003", plain(backend, seed=50)
    other.model.build((None, 1, 6, 6), backend=backend.name, seed=50)
    before = other.model.state_dict()
    adam = trainer(backend, model=other.model)
    with pytest.raises(ConfigError, match="is of a training with sgd, the trainer has adam"):
        adam.load_checkpoint(middle)
    wide = trainer(backend, model=nn.Sequential(nn.Flatten(), nn.Linear(4)), optimizer=train.SGD(0.05, momentum=0.9))
    with pytest.raises(StateDictError, match="missing 1/kernel:0/momentum"):
        fit(wide, resume=middle)
    with pytest.raises(ConfigError, match="started with batch_size=16 and cannot be resumed with 8"):
        other.fit(DATA, batch_size=8, resume=middle, progress=False)
    more = trainer(backend, model=other.model, optimizer=first.optimizer, metrics=["accuracy", "f1"])
    with pytest.raises(
        ConfigError, match="the current epoch was started with the metrics accuracy, the trainer has accuracy, f1"
    ):
        fit(more, resume=middle)
    state = {**kept, "parameters": {**kept["parameters"], "0/bias:0": np.zeros(99)}}
    with pytest.raises(StateDictError, match="0/bias:0 has shape"):
        first.load_state_dict(state)
    assert equal(first.state_dict(), kept)
    assert before.keys() == kept["parameters"].keys()
