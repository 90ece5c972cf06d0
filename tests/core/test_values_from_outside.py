"""Settings, indices and weights that people give are refused by a sentence before anything is computed with them."""

import functools
import math

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.data.transforms.transform import TRANSFORMS
from labdl.errors import ConfigError, LabDLError
from labdl.nn.schema import LAYERS
from labdl.settings import form_fields
from labdl.train import SCHEDULES, Trainer
from labdl.train.metrics import METRICS

# settings that are elements of tensors
ANY_FLOAT = {
    ("Input", "default"),
    ("Constant", "value"),
    ("Pad", "value"),
    ("AddNoise", "array"),
    ("Convolve", "array"),
}
REGISTRIES = {"layer": LAYERS, "metric": METRICS, "schedule": SCHEDULES, "transform": TRANSFORMS}
CASES = [(cls, name) for registry in REGISTRIES.values() for cls in registry.values() for name in form_fields(cls)]
BAD = (math.nan, (math.nan, 1.0), "no such thing", object(), -(10**30), b"1")


def example_of(cls):
    return cls.layer_example.params if hasattr(cls, "layer_example") else getattr(cls, "example", {})


def refusal(cls, settings):
    """The sentence that refuses settings, None if they are taken."""
    try:
        cls(**settings)
    except LabDLError as error:
        return str(error)
    except TypeError as error:
        if "missing" not in str(error):  # a class without an example, which needs other settings
            raise
        return ""
    return None


@pytest.mark.sample(every=5)
@pytest.mark.parametrize(("cls", "name"), CASES, ids=[f"{cls.__name__}-{name}" for cls, name in CASES])
def test_values_that_no_setting_takes(cls, name):
    for value in BAD:
        sentence = refusal(cls, {**example_of(cls), name: value})
        assert sentence is None or len(sentence) < 600
        if value is BAD[0] or value is BAD[1]:
            assert sentence is not None or (cls.__name__, name) in ANY_FLOAT


@pytest.mark.parametrize("value", [{5: 1.0}, ["a", 1.0], [-1.0, 1.0], [math.nan, 1.0], [], "a"])
def test_weights_of_losses(value):
    for make in (lambda: nn.CrossEntropyLoss(class_weights=value), lambda: nn.CrossEntropyLoss(weight=value)):
        with pytest.raises(ConfigError, match="class_weights"):
            make()


TWO = np.array([[0], [2]] * 3)
OPERATORS = {
    "cross_entropy": (ops.cross_entropy, 2, TWO[:, 0], "have classes from 0 to 2"),
    "partial": (functools.partial(ops.cross_entropy, ignore_index=2), 2, TWO[:, 0] - 1, "have classes from -1 to 1"),
    "nll_loss": (ops.nll_loss, 2, TWO[:, 0], "have classes from 0 to 2"),
    "binary_cross_entropy": (ops.binary_cross_entropy, 1, TWO * 127.5, "write y / 255"),
    "probabilities": (ops.binary_cross_entropy_probabilities, 1, TWO * 127.5, "write y / 255"),
    "hinge_loss": (ops.hinge_loss, 1, TWO / 2, "write 2 \\* y - 1"),
    "poisson_nll_loss": (ops.poisson_nll_loss, 1, TWO - 1, "choose a loss of numbers"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_targets_of_an_operator_as_loss(name):
    loss, units, y, sentence = OPERATORS[name]
    trainer = Trainer(nn.Sequential(nn.Linear(units)).build((None, 4), backend="torch"), loss)
    with pytest.raises(ConfigError, match=sentence):
        trainer.fit(np.ones((6, 4), "float32"), y, progress=False)


@pytest.mark.parametrize("index", [-1, 5, 2**40])
def test_indices_beyond_a_table_in_calls_and_predictions(index):
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(2)).build(labdl.spec.Spec((None, 2), "int64"), backend="torch")
    for compute in (model, functools.partial(labdl.predict, model), lambda x: model(x.tolist())):
        with pytest.raises(ConfigError, match=r"the layer .* has rows for 0 to 4"):
            compute(np.array([[0, index]]))
        assert compute(np.array([[0, 4]])).shape[0] == 1
