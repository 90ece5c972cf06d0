"""Stochastic weight averaging against torch.optim.swa_utils, which runs beside each backend."""

import numpy as np
import pytest
import torch
from interrupted import BATCH, DATA, comparable, equal, own_seeds

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, SWA, Callback, Checkpoint, Step, Trainer

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


class Net(nn.Module):
    def __init__(self):
        self.conv = nn.Conv2d(3, padding="same")
        self.norm = nn.BatchNorm()
        self.flatten = nn.Flatten()
        self.head = nn.Linear(4)

    def forward(self, x):
        return self.head(self.flatten(ops.relu(self.norm(self.conv(x)))))


def trainer(backend, **settings):
    return Trainer(Net(), optimizer=SGD(0.1), backend=backend.name, seed=1, **settings)


class Keep(Callback):
    def __init__(self):
        self.states = []

    def on_train_epoch_end(self, trainer, values):
        self.states.append(trainer.model.state_dict())


@pytest.mark.parametrize(("settings", "averaged"), [({"start": 2}, [2, 3, 4]), ({"start": 0.2, "every": 2}, [1, 3])])
def test_average_and_statistics_are_those_of_torch(backend, settings, averaged):
    keep, subject = Keep(), trainer(backend, average=SWA(**settings))
    subject.fit(DATA, epochs=5, batch_size=BATCH, callbacks=[keep], progress=False)
    plain = Keep()
    trainer(backend).fit(DATA, epochs=5, batch_size=BATCH, callbacks=[plain], progress=False)
    assert equal(keep.states, plain.states), "the training itself is unchanged"
    modules = [torch.nn.Conv2d(1, 3, 3, padding="same"), torch.nn.BatchNorm2d(3), torch.nn.ReLU()]
    native = torch.nn.Sequential(*modules, torch.nn.Flatten(), torch.nn.Linear(3 * 36, 4))
    reference = torch.optim.swa_utils.AveragedModel(native)
    names = ["conv", "norm", None, None, "head"]
    for number in averaged:
        state, ours = native.state_dict(), keep.states[number]
        for at, name in enumerate(names):
            if name == "conv":
                state[f"{at}.weight"] = torch.tensor(np.ascontiguousarray(ours["conv/kernel:0"].transpose(3, 2, 0, 1)))
            elif name == "head":
                state[f"{at}.weight"] = torch.tensor(np.ascontiguousarray(ours["head/kernel:0"].T))
            elif name == "norm":
                state[f"{at}.weight"] = torch.tensor(ours["norm/gamma:0"])
            if name:
                state[f"{at}.bias"] = torch.tensor(ours[f"{name}/{'beta' if name == 'norm' else 'bias'}:0"])
        native.load_state_dict(state)
        reference.update_parameters(native)
    loader = labdl.data.Loader(labdl.data.ArrayDataset(*DATA), BATCH, shuffle=True, seed=1)
    torch.optim.swa_utils.update_bn([torch.tensor(x) for x, _ in loader], reference)
    found, wanted = subject.model.state_dict(), {k: v.numpy() for k, v in reference.module.state_dict().items()}
    np.testing.assert_allclose(found["head/kernel:0"].T, wanted["4.weight"], atol=1e-6)
    np.testing.assert_allclose(found["norm/gamma:0"], wanted["1.weight"], atol=1e-6)
    np.testing.assert_allclose(found["norm/moving_mean:0"], wanted["1.running_mean"], atol=1e-5)
    np.testing.assert_allclose(found["norm/moving_variance:0"], wanted["1.running_var"], rtol=1e-4)
    assert subject.model.norm.momentum == 0.1
    with torch.no_grad():
        expected = reference.eval()(torch.tensor(DATA[0])).numpy()
    np.testing.assert_allclose(labdl.predict(subject.model, DATA[0]), expected, atol=1e-4)


@pytest.mark.parametrize("at", [12, 15, 17])
def test_swa_resumes_exactly(backend, tmp_path, at):
    options = {"epochs": 5, "batch_size": BATCH, "progress": False}
    whole = trainer(backend, average=SWA(2))
    whole.fit(DATA, **options)
    stop = [lambda event: isinstance(event, Step) and event.step == at]
    first = trainer(backend, average=SWA(2))
    list(first.events(DATA, epochs=5, batch_size=BATCH, checkpoint=Checkpoint(tmp_path, every=at), callbacks=stop))
    again = trainer(backend, average=SWA(2))
    again.fit(DATA, resume=tmp_path / f"step-{at:08d}", **options)
    assert equal(again.model.state_dict(), whole.model.state_dict())
    assert equal(comparable(again)["training"]["features"], comparable(whole)["training"]["features"])


def test_settings(backend):
    assert trainer(backend, average={"name": "swa", "start": 3}).settings.average == SWA(3)
    before = trainer(backend, average=SWA(9))
    before.fit(DATA, epochs=1, batch_size=BATCH, progress=False)
    other = trainer(backend)
    other.fit(DATA, epochs=1, batch_size=BATCH, progress=False)
    assert equal(before.model.state_dict(), other.model.state_dict()), "no epoch was averaged"
    with pytest.raises(
        ConfigError, match="SWA: start wants an integer at least 0 or a number at least 0 and at most 1"
    ):
        SWA(-1)
