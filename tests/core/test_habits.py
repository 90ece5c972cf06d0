"""Names and calls of other frameworks: they do what is meant, or say in one sentence what to write."""

import copy
import pickle
import re

import numpy as np
import pytest

import labdl
from labdl import habits, models, nn, ops, train
from labdl.errors import BackendError, ConfigError, ModelError, TensorMethodError
from labdl.graph.tracing.trace import trace
from labdl.infer import predict
from labdl.spec import Spec
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


@pytest.mark.parametrize("name", habits._TABLES["parameter"])
def test_missing_attribute_of_a_parameter_says_what_to_write(name):
    [parameter, _] = nn.Linear(3).build((None, 2), backend="numpy").parameters()
    with pytest.raises(AttributeError, match=f"'Parameter' object has no attribute '{name}': .*(parameter|model).*"):
        getattr(parameter, name)


def test_what_is_attended_to_is_no_mask():
    x = np.zeros((4, 4, 4), "float32")
    attention = nn.MultiHeadAttention(4).build((None, 4, 4), backend="numpy")
    for inputs in ((x, x, x), (np.ones_like(x), x, x)):
        with pytest.raises(
            ValueError, match=r"received as mask what it attends to: write attention\(x\) for self-attention"
        ):
            attention(*inputs)


def test_classes_on_axis_1_have_a_loss():
    logits, target = np.zeros((2, 3, 8, 8), "float32"), np.zeros((2, 8, 8), "int64")
    with pytest.raises(ValueError, match=r"classes are on the last axis; .* write nn.CrossEntropyLoss\(axis=1\)"):
        ops.cross_entropy(labdl.tensor(logits, backend="numpy"), labdl.tensor(target, backend="numpy"))
    assert float(nn.CrossEntropyLoss(axis=1)(logits, target)) == pytest.approx(np.log(3))


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


def uses(forward):
    """A model whose forward does something with its input before a layer."""
    return type(
        "Own", (nn.Module,), {"__init__": lambda self: setattr(self, "layer", nn.Linear(3)), "forward": forward}
    )()


# names that tensors of one of the frameworks have, and labdl.ops has not
METHODS = ("sigmoid_", "addmm", "get_shape", "set_shape", "asnumpy", "backward", "is_cuda", *habits._TABLES["tensor"])


@pytest.mark.parametrize("name", [*METHODS, "mean", "sum", "reshape", "flatten", "softmax", "masked_fill", "split"])
def test_method_of_a_native_tensor_in_a_forward_says_what_to_write(name):
    for read in (lambda x: getattr(x, name), lambda x: getattr(x + 1, name)):
        model = uses(lambda self, x, read=read: self.layer(read(x)))
        for attempt in (lambda m=model: m.build((None, 4), backend="torch"), lambda m=model: trace(m, (None, 4))):
            with pytest.raises(TensorMethodError, match=rf"the forward uses x\.{name}, which .*: .*[a-z]") as caught:
                attempt()
            assert len(str(caught.value)) < 220


@pytest.mark.parametrize("name", [name for name, advice in habits._TABLES["tensor"].items() if "ops." in advice])
def test_advice_for_methods_names_operators_that_exist(name):
    for operator in re.findall(r"ops\.(\w+)\(", habits._TABLES["tensor"][name]):
        assert operator in ops.OPERATORS or operator in dir(ops)


def test_specs_keep_the_protocols_of_attributes():
    spec = Spec((2, 3))
    assert spec.size == 6
    assert not hasattr(spec, "view")
    assert getattr(spec, "no_such_name", 1) == 1
    assert copy.deepcopy(spec).equals(spec)
    assert pickle.loads(pickle.dumps(spec)).equals(spec)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("built", [True, False])
def test_inputs_in_a_dictionary(backend, built):
    model = uses(lambda self, a, b=None: self.layer(a if b is None else a - b))
    a, b = np.ones((2, 4), "float32"), np.full((2, 4), 3.0)
    if built:
        model.build((None, 4), (None, 4), backend=backend)
    outputs = model({"b": b, "a": a})
    expected = model({"a": a.tolist(), "b": b.tolist()})
    assert np.array_equal(ops.to_numpy(outputs), ops.to_numpy(expected))
    assert np.allclose(ops.to_numpy(outputs), predict(model, {"b": b, "a": a}), atol=1e-6)
    assert np.allclose(ops.to_numpy(outputs), predict(model, ({"b": b, "a": a}, None)), atol=1e-6)
    with pytest.raises(ModelError, match=r"a dictionary with 'a', 'c', the forward of the model takes 'a', 'b'"):
        model({"a": a, "c": b})
    with pytest.raises(ConfigError, match=r"a dictionary with 'c', the forward of the model takes 'a', 'b'"):
        predict(model, {"c": b})
    with pytest.raises(ModelError, match="and others by name"):
        model({"a": a}, b=b)


def test_callbacks_of_other_frameworks():
    class Theirs:
        def on_epoch_end(self, epoch, logs=None):
            pass

    trainer = Trainer(nn.Sequential(nn.Linear(1)), "mse")
    for callback in (Theirs(), Theirs):
        with pytest.raises(ConfigError, match=r"Theirs is a callback of another kind: derive"):
            trainer.fit(np.ones((4, 2), "float32"), np.ones((4, 1), "float32"), callbacks=[callback])
