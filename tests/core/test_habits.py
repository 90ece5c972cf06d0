"""Names and calls of other frameworks: they do what is meant, or say in one sentence what to write."""

import copy
import pickle

import pytest

import labdl
from labdl import habits, models, nn, ops, train
from labdl.errors import BackendError, ConfigError, ModelError
from labdl.train import Trainer

MODULES = {"labdl": labdl, "labdl.ops": ops, "labdl.nn": nn, "labdl.train": train}
NAMES = [(where, name) for where in MODULES for name in habits._TABLES[where]]


@pytest.mark.parametrize(("where", "name"), NAMES)
def test_missing_name_of_a_module_says_what_to_write(where, name):
    assert name not in dir(MODULES[where])
    with pytest.raises(AttributeError, match=f"{name}.*: .*[a-z]") as caught:
        getattr(MODULES[where], name)
    assert len(str(caught.value)) < 220
    assert not hasattr(MODULES[where], "no_such_name")


@pytest.mark.parametrize("name", habits._TABLES["model"])
def test_missing_method_of_a_model_says_what_to_write(name):
    model = nn.Sequential(nn.Linear(3))
    with pytest.raises(AttributeError, match=f"'Sequential' object has no attribute '{name}': write "):
        getattr(model, name)
    assert not hasattr(model, name)
    copy.deepcopy(model)
    pickle.loads(pickle.dumps(nn.Sequential))
    own = type("Own", (nn.Module,), {name: lambda self: 1})()
    assert getattr(own, name)() == 1
    setattr(model, name, nn.Linear(2))
    assert isinstance(getattr(model, name), nn.Linear)


def test_sequential_of_a_list_and_models_by_name():
    assert len(nn.Sequential([nn.Linear(3), nn.ReLU()])) == 2
    assert type(models.resnet18(classes=3)) is type(models.create("resnet18", classes=3))
    with pytest.raises(AttributeError, match="did you mean 'resnet18'"):
        models.resnet181  # noqa: B018


@pytest.mark.parametrize(("name", "advice"), habits._TABLES["setting of Trainer"].items())
def test_settings_of_other_trainers(name, advice):
    with pytest.raises(ConfigError) as caught:
        Trainer(nn.Sequential(nn.Linear(3)), **{name: 1})
    assert str(caught.value) == f"Trainer has no setting {name!r}: {advice}"


def test_other_names_of_backends_and_shapes():
    model = nn.Sequential(nn.Linear(3))
    with pytest.raises(ConfigError, match="received 'pytorch': write 'torch'"):
        Trainer(model, backend="pytorch")
    with pytest.raises(BackendError, match=r"unknown backend 'tf'.*: write 'tensorflow'"):
        model.build((None, 4), backend="tf")
    with pytest.raises(ModelError, match=r"received the number 4: write build\(\(None, 4\)\)"):
        model.build(4)
    with pytest.raises(ModelError, match=r"write build\(\(None, 3, 8, 8\)\)"):
        model.build(None, 3, 8, 8)


def test_settings_of_other_zoos():
    with pytest.raises(ConfigError, match=r"has no setting 'pretrained'.*weights="):
        models.create("resnet18", pretrained=True)
    assert models.create("resnet18", num_classes=3).build(backend="torch").output_specs.shape[-1] == 3
