"""Names and calls of other frameworks: they do what is meant, or say in one sentence what to write."""

import copy
import inspect
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


@pytest.mark.parametrize(("name", "advice"), habits._TABLES["method of Trainer"].items())
def test_methods_of_other_trainers(name, advice):
    trainer = Trainer(nn.Sequential(nn.Linear(3)))
    with pytest.raises(AttributeError) as caught:
        getattr(trainer, name)
    assert str(caught.value) == f"'Trainer' object has no attribute {name!r}: {advice}"
    for attribute in re.findall(r"trainer\.(?!start)(\w+)", advice):
        assert hasattr(trainer, attribute)


@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("keyword of a training", lambda name: Trainer(nn.Sequential(nn.Linear(3))).fit((X, Y), **{name: 1})),
        ("keyword of evaluate", lambda name: Trainer(nn.Sequential(nn.Linear(3))).evaluate(X, Y, **{name: 1})),
        ("setting of EarlyStopping", lambda name: train.EarlyStopping(**{name: 1})),
        ("setting of Checkpoint", lambda name: train.Checkpoint("folder", **{name: 1})),
        ("setting of an optimizer", lambda name: train.SGD(0.1, **{name: 1})),
    ],
)
def test_keywords_of_other_frameworks(where, call):
    for name, advice in habits._TABLES[where].items():
        if (where, name) == ("keyword of a training", "verbose"):  # of fit it is one
            continue
        with pytest.raises(ConfigError, match=rf"{name}'") as caught:
            call(name)
        assert str(caught.value).endswith(f"{name!r}: {advice.format(method=where.rpartition(' ')[2])}") or (
            "{method}" in advice or where.startswith("keyword")
        )
        assert len(str(caught.value)) < 420


X, Y = np.ones((6, 2), "float32"), np.arange(6) % 3


def fitted(**settings):
    model = nn.Sequential(nn.Linear(3)).build((None, 2), seed=1, backend="torch")
    keywords = {name: settings.pop(name) for name in ("fit",) if name in settings}.get("fit", {})
    trainer = Trainer(model, seed=1, **{"optimizer": train.SGD(0.1), **settings})
    return trainer.fit(X, Y, **{"progress": False, "batch_size": 2, **keywords})["loss"], model.state_dict()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"max_epochs": 2}, {"epochs": 2}),
        ({"accumulate_grad_batches": 2}, {"accumulate": 2}),
        ({"gradient_clip_val": 0.01}, {"clip_norm": 0.01}),
        ({"precision": "bf16-mixed"}, {"precision": "bfloat16"}),
        ({"precision": "16-mixed"}, {"precision": "float16"}),
        ({"precision": "mixed_float16"}, {"precision": "float16"}),
        ({"precision": "32-true"}, {}),
        ({"optimizer": "Adam"}, {"optimizer": "adam"}),
        ({"loss": "CrossEntropyLoss"}, {}),
        ({"fit": {"verbose": 0, "progress": True}}, {}),
        ({"fit": {"val_dataloaders": (X, Y)}}, {"fit": {"validation": (X, Y)}}),
        ({"optimizer": train.Adam(eps=0.1)}, {"optimizer": train.Adam(epsilon=0.1)}),
    ],
)
def test_names_of_other_frameworks_do_what_is_meant(theirs, ours):
    (losses, parameters), (expected, others) = fitted(**theirs), fitted(**ours)
    assert losses == expected
    for name, value in parameters.items():
        np.testing.assert_array_equal(value, others[name])


def test_a_name_and_its_other_name_exclude_each_other():
    with pytest.raises(ConfigError, match="max_epochs is another name of epochs: give one of them"):
        Trainer(nn.Linear(3), max_epochs=1, epochs=2)


@pytest.mark.parametrize(
    "name", ["MSELoss", "MSE", "MeanSquaredError", "mse_loss", "Huber", "huber_loss", "KLDivLoss", "LogCosh", "NLLLoss"]
)
def test_classes_of_losses_by_name(name):
    assert Trainer(nn.Linear(3), name).loss_name in train.losses.losses()


@pytest.mark.parametrize(
    "name", ["SparseCategoricalCrossentropy", "BinaryCrossentropy", "BCELoss", "Poisson", "mape", "rmse", "circle"]
)
def test_losses_that_are_not_equal_say_what_to_write(name):
    with pytest.raises(ConfigError, match=rf"received '{name}': (that of .* (probabilities|rates)|write )"):
        Trainer(nn.Linear(3), name)


def test_metrics_by_the_names_of_other_frameworks():
    names = ["Accuracy", "F1Score", "AUROC", "sparse_categorical_accuracy", "MeanIoU", "RMSE", "R2Score"]
    expected = ["accuracy", "f1", "roc_auc", "accuracy", "mean_iou", "root_mean_squared_error", "r2"]
    assert [next(iter(Trainer(nn.Linear(3), metrics=[name]).metrics)) for name in names] == expected
    with pytest.raises(ConfigError, match="received 'error_rate': write 'accuracy'"):
        Trainer(nn.Linear(3), metrics=["error_rate"])


def test_precisions_that_are_not_equal_say_what_to_write():
    with pytest.raises(ConfigError, match="received '64-true': parameters and steps are float32"):
        Trainer(nn.Linear(3), precision="64-true")
    with pytest.raises(ConfigError, match="received 'bf16-true': parameters keep their dtype"):
        Trainer(nn.Linear(3), precision="bf16-true")


def test_early_stopping_and_checkpoints_of_other_frameworks(tmp_path):
    assert train.EarlyStopping(restore_best_weights=True) == train.EarlyStopping(restore_best=True)
    assert train.Checkpoint(dirpath=tmp_path) == train.Checkpoint(tmp_path)
    with pytest.raises(TypeError, match="no_such"):
        train.EarlyStopping(no_such=1)


def test_resume_by_the_name_of_lightning(tmp_path):
    for n in (1, 2):
        trainer = Trainer(nn.Sequential(nn.Linear(3)), backend="torch")
        history = trainer.fit(X, Y, epochs=n, checkpoint=tmp_path, ckpt_path="last", progress=False)
        assert len(history["loss"]) == n


@pytest.mark.parametrize("name", habits._TABLES["method that is not called"])
def test_methods_that_no_training_calls(name):
    advice = habits._TABLES["method that is not called"][name]
    with pytest.raises(ConfigError, match="Own has methods that no training calls: for ") as caught:
        type("Own", (Trainer,), {name: lambda self: 1})
    assert str(caught.value).endswith(f"for {name}: {advice}")
    lit = type("Lit", (nn.Linear,), {name: lambda self: 1})
    with pytest.warns(UserWarning, match=f"Lit has methods that a Trainer does not call: for {name}"):
        Trainer(lit(3))


@pytest.mark.parametrize("name", habits._TABLES["moment of a callback"])
def test_moments_of_other_callbacks(name):
    with pytest.raises(ConfigError, match=f"Own has methods that no training calls: {name} is ") as caught:
        type("Own", (train.Callback,), {name: lambda self: 1})
    own = re.search(r"is (\w+)\((.*?)\)( of a subclass of Trainer)?$", str(caught.value))
    cls = Trainer if own[3] else train.Callback
    assert list(inspect.signature(getattr(cls, own[1])).parameters)[1:] == own[2].split(", ")


def test_should_stop_as_in_lightning():
    trainer = Trainer(nn.Sequential(nn.Linear(3)), backend="torch")
    with pytest.raises(ConfigError, match="while a training is active"):
        trainer.should_stop = True

    class Stop(train.Callback):
        def on_train_batch_end(self, trainer, values, batch, batch_index):
            trainer.should_stop = True

    trainer.fit(X, Y, batch_size=2, epochs=5, callbacks=[Stop()], progress=False)
    assert trainer.progress.step == 1
    assert trainer.should_stop


def test_a_line_for_each_epoch(capsys):
    trainer = Trainer(nn.Sequential(nn.Linear(3)), backend="torch")
    for keywords in ({"verbose": 2}, {"progress": "epoch"}):
        trainer.fit(X, Y, epochs=3, **keywords)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[:2] for line in lines] == [["Epoch", f"{n}/3"] for n in (1, 2, 3)]
    with pytest.raises(ConfigError, match="verbose wants 0 for nothing"):
        trainer.fit(X, Y, verbose=3)
    with pytest.raises(ConfigError, match="progress wants True, False"):
        trainer.fit(X, Y, progress="line")


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
