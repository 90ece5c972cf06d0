"""Every setting of every configuration of labdl.standard with values of wrong types: accepted with a meaning, or refused.

A constructor that accepts a value must make an object that computes; all others raise an error that names the setting.
"""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labdl import data, nn, ops, standard
from labdl.data import transforms as T
from labdl.errors import ConfigError, GradientError, LabDLError, UpdateError
from labdl.infer import POSTPROCESSORS
from labdl.ops.operator import Sample
from labdl.train import OPTIMIZERS, config

NAN, HUGE = float("nan"), 10**400
VALUES = {
    "integer": 3,
    "negative": -1,
    "huge integer": HUGE,
    "real": 0.5,
    "huge real": 1e308,
    "nan": NAN,
    "infinity": -float("inf"),
    "true": True,
    "string": "x",
    "empty string": "",
    "number in a string": "3",
    "list": [1, "a", None],
    "strings": ["x", "y"],
    "empty list": [],
    "none": None,
    "dictionary": {"a": {"b": 3}},
    "empty dictionary": {},
    "bytes": b"\xff",
    "object": object(),
    "class": nn.Linear,
    "complex": 3j,
}
_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4) | st.binary(max_size=2)
)
ANYTHING = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("name"), inner, max_size=2)
    ),
    max_leaves=5,
)
SEARCH = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

X = np.random.default_rng(0).standard_normal((6, 4)).astype("float32")
Y = (X[:, 0] > 0).astype("int64")


@dataclass
class Setting:
    """A setting of a constructor: what makes an object with a value of it, and what the object is used for."""

    name: str
    construct: Callable
    use: Callable
    names: tuple[str, ...] = ()  # others by which the message may call it

    def check(self, value) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                thing = self.construct(value)
            except LabDLError as error:
                message = str(error)
                assert any(name in message for name in (self.name, *self.names)), f"{message!r} has no {self.name!r}"
                assert len(message) < 6000
                return
            model.cache_clear()  # the thing may change it
            with contextlib.suppress(GradientError, UpdateError):  # of numbers in float32
                self.use(thing)


def failures_of(setting: Setting) -> list[str]:
    """For each value that is neither refused in a sentence nor of use, the setting, the value and the error."""
    failures = []
    for name, value in VALUES.items():
        try:
            setting.check(value)
        except Exception as error:
            failures.append(f"{setting.name}, {name}: {type(error).__name__}: {str(error)[:200]}")
    return failures


# -- constructors


@functools.cache  # building takes longer than refusing a value
def model():
    return nn.Linear(2).build((None, 4), seed=0)


def dataset():
    return data.ArrayDataset(X, Y)


def trainer_settings():
    others = {"train_dataset": (X, Y), "compiled": False, "batch_size": 3}

    def use(trainer):
        standard.train_one_batch(trainer, {"X": X[:3], "Y": Y[:3]})
        for part in (trainer.settings.train_dataset, trainer.settings.val_dataset):
            if part is not None:
                assert len(part) > 0
        if trainer.settings.val_dataset is not None:
            trainer.evaluate(trainer.settings.val_dataset)

    for name in config.names():
        yield Setting(name, lambda v, n=name: standard.construct_trainer(model(), {**others, n: v}), use)


def optimizer_settings():
    def use(optimizer):
        standard.forward(optimizer.model.train(), (standard.initialize(X),))
        standard.backward(optimizer.model, None)
        standard.update_learnable_parameter(optimizer.model, optimizer)

    def make(**settings):
        return lambda v: standard.construct_optimizer(model(), {"optimizer_method": "sgd", **settings, **v})

    yield Setting("optimizer_method", lambda v: make()({"optimizer_method": v}), use)
    for method, named in OPTIMIZERS.items():
        for name in ["base_learningrate", *inspect.signature(named.cls).parameters]:
            yield Setting(name, lambda v, n=name, m=method: make(optimizer_method=m)({n: v}), use)


def sampler_settings():
    needed = {
        "WeightedRandomSampler": {"weights": [1.0] * 6},
        "SubsetSampler": {"indices": [0, 1]},
        "SubsetRandomSampler": {"indices": [0, 1]},
        "PKSampler": {"p": 2, "k": 2},
        "BucketSampler": {"lengths": [1, 2, 3, 4, 5, 6]},
        "DistributedSampler": {"rank": 0, "world": 2},
        "DistributedBatchSampler": {"rank": 0, "world": 2, "batch_size": 2},
    }

    def use(sampler):
        for _ in range(3):
            standard.iterate_batch(sampler.loader.dataset, sampler)

    def make(base, name):
        return lambda v: standard.construct_sampler({**base, name: v}, dataset())

    for name in ("batch_size", "shuffle", "repeat", "drop_last_batch", "seed", "sampler"):
        yield Setting(name, make({"repeat": True} if name != "repeat" else {}, name), use)
    for sampler in data.samplers.__all__:
        if sampler == "Sampler":
            continue
        own = inspect.signature(getattr(data.samplers, sampler)).parameters
        base = {"sampler": sampler, "repeat": True, **{k: v for k, v in needed.get(sampler, {}).items() if k in own}}
        for name in own:
            yield Setting(name, make(base, name), use)


def inference_settings():
    def use(infer):
        if not (infer.preprocessing or infer.postprocessing.steps):  # functions of the user
            standard.infer_samples(infer, X)

    for name in ("preproc", "postproc", "backend", "batch_size", "compiled"):
        yield Setting(
            name,
            lambda v, n=name: standard.construct_inference(model(), {n: v}),
            use,
            {"preproc": ("preprocess",), "postproc": ("postprocess",)}.get(name, ()),
        )


def call_settings():
    """Settings of one call, of each post-processor."""
    for kind, cls in POSTPROCESSORS.items():
        for name in inspect.signature(cls).parameters:
            yield Setting(
                name,
                lambda v, n=name, k=kind: standard.construct_inference(model(), {"postproc": {"name": k, n: v}}),
                lambda infer: None,
                tuple(inspect.signature(cls).parameters),
            )


def evaluator_settings():
    infer = standard.construct_inference(model(), {})

    def use(evaluator):
        if evaluator.dataset is None:
            standard.evalvate(evaluator, (X, Y))
        else:
            standard.evalvate(evaluator)

    for name in ("default_dataset", "eval_metric", "loss", "batch_size"):
        yield Setting(
            name,
            lambda v, n=name: standard.construct_evalvater(infer, {"default_dataset": (X, Y), n: v}),
            use,
        )
    evaluator = standard.construct_evalvater(infer, {"default_dataset": (X, Y)})
    yield Setting("eval_metric", lambda v: standard.evalvate(evaluator, None, {"eval_metric": v}), lambda found: None)


ARRAYS = [
    np.abs(np.random.default_rng(1).standard_normal((2, 4, 4, 4, 4)[:axes])).astype("float32") % 1 for axes in range(6)
]
ARRAYS += [(array * 4).astype("int64") for array in ARRAYS] + [array > 0.5 for array in ARRAYS]
ARRAYS += [np.ones((size,) * axes, dtype) for dtype in ("float32", "int64") for size in (1, 3, 4) for axes in range(5)]
ARRAYS += [np.full((2, 3, 4)[:axes], "a") for axes in (1, 2, 3)] + [
    ARRAYS[2].astype("complex64"),
    np.ones((6, 6), bool),
]


def use_operator(operator):
    """Compute with the operator, of arrays of which one at least must fit."""
    first = None
    for array in ARRAYS:
        for inputs in (array, [array, array]):
            try:
                standard.operate(operator, {"inputs": inputs})
            except (ValueError, IndexError):  # the array does not fit
                return
            except Exception as error:
                first = first or error
            else:
                return
    raise AssertionError(f"no array fits: {type(first).__name__}: {first}")


def concrete(value):
    if isinstance(value, Sample):
        return value.draw(np.random.default_rng(0))
    return type(value)(map(concrete, value)) if isinstance(value, list | tuple) else value


def operator_settings():
    yield Setting("name", lambda v: standard.construct_operator({"name": v}), use_operator)
    yield Setting("on", lambda v: standard.construct_operator({"name": "relu", "on": v}), lambda operator: None)
    for name, entry in ops.OPERATORS.items():
        if hasattr(entry, "host") or name == "tensor_like":  # those of users, and that of constants in composites
            continue
        args, kwargs = entry.samples[0]
        bound = entry.signature.bind(*args, **kwargs).arguments
        first, *others = list(entry.signature.parameters)
        base = {k: concrete(v) for k, v in bound.items() if k != first}

        def construct(v, n, base=base, name=name):
            return standard.construct_operator({"name": name, **base, n: v})

        data_ = concrete(bound[first]) if first in bound else X

        def use(operator, data_=data_):
            try:
                standard.operate(operator, {"inputs": data_})
            except Exception:
                use_operator(operator)

        for other in others:
            yield Setting(other, lambda v, n=other, c=construct: c(v, n), use, (name,))


def transform_settings():
    for name, cls in T.TRANSFORMS.items():
        if cls.category == "custom":
            continue
        for other in inspect.signature(cls).parameters:
            yield Setting(
                other,
                lambda v, n=other, k=name, c=cls: standard.construct_operator({"name": k, **c.example, n: v}),
                lambda op: None,
                tuple(inspect.signature(cls).parameters),
            )
    yield Setting(
        "rng", lambda v: standard.construct_operator({"name": "RandomCrop", "size": 2, "rng": v}), lambda op: None
    )


CONSTRUCTORS = {
    name: list(make())
    for name, make in {
        "construct_trainer": trainer_settings,
        "construct_optimizer": optimizer_settings,
        "construct_sampler": sampler_settings,
        "construct_inference": inference_settings,
        "post-processing": call_settings,
        "construct_evalvater": evaluator_settings,
        "construct_operator": operator_settings,
        "transforms": transform_settings,
    }.items()
}


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_values_of_wrong_types(name):
    failures = [failure for setting in CONSTRUCTORS[name] for failure in failures_of(setting)]
    assert not failures, "\n".join(failures)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_any_value(name):
    chosen = CONSTRUCTORS[name]

    @SEARCH
    @given(st.integers(0, len(chosen) - 1), ANYTHING)
    def search(at, value):
        chosen[at].check(value)

    search()


@pytest.mark.parametrize(
    ("construct", "sentence"),
    [
        (lambda: standard.construct_trainer(model(), {"metrics": 3}), "metrics wants a list of names.*received 3"),
        (
            lambda: standard.construct_evalvater(standard.construct_inference(model(), {}), {"eval_metric": 3}),
            "eval_metric.*received 3",
        ),
        (
            lambda: standard.construct_evalvater(standard.construct_inference(model(), {}), {"default_dataset": 3}),
            "default_dataset wants a data set.*received 3",
        ),
        (
            lambda: standard.construct_evalvater(
                standard.construct_inference(model(), {}), {"default_dataset": [[None, None]]}
            ),
            "default_dataset wants .* rows.*received \\[\\[None",
        ),
        (lambda: standard.construct_operator({"name": "clip", "min": "a"}), "clip.*min.*received 'a'"),
        (
            lambda: standard.construct_optimizer(model(), {"optimizer_method": "SGD", "base_learningrate": "a"}),
            "base_learningrate.*received 'a'",
        ),
    ],
)
def test_messages(construct, sentence):
    with pytest.raises(ConfigError, match=sentence):
        construct()
