"""The mean of a loss over what counts, in parts of a batch, batches of an evaluation and one large batch alike.

References are one large batch, and PyTorch's losses in float64.
"""

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from labdl import nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, Step, Trainer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

RNG = np.random.default_rng(0)
COUNT, LENGTH, FEATURES, CLASSES = 32, 3, 4, 5
X = RNG.normal(size=(COUNT, LENGTH, FEATURES)).astype("float32")
Y = RNG.integers(0, CLASSES, (COUNT, LENGTH))
SPARSE = np.where(RNG.random(Y.shape) < np.linspace(0, 0.95, COUNT)[:, None], -100, Y)  # more of each part
SPARSE[8:16] = -100  # a part in which nothing counts
WEIGHTS = (0.5, 3.0, 1.0, 0.1, 7.0)
LOSSES = {
    "ignored": (lambda: nn.CrossEntropyLoss(), SPARSE, {}),
    "weighted": (lambda: nn.CrossEntropyLoss(class_weights=WEIGHTS), Y, {}),
    "weighted, ignored and smooth": (lambda: nn.CrossEntropyLoss(0.1, class_weights=WEIGHTS), SPARSE, {}),
    "ignored class": (lambda: nn.CrossEntropyLoss(ignore_index=2), Y, {}),
    "class without weight": (lambda: nn.CrossEntropyLoss(class_weights=(0.0, 1.0, 2.0, 0.0, 1.0)), Y, {}),
    "of samples": (lambda: nn.CrossEntropyLoss(), SPARSE, {"class_weight": dict(enumerate(WEIGHTS))}),
    "sum": (lambda: nn.CrossEntropyLoss(class_weights=WEIGHTS, reduction="sum"), SPARSE, {}),
    "nothing ignored": (lambda: nn.CrossEntropyLoss(), Y, {}),
    "soft": (lambda: nn.CrossEntropyLoss(class_weights=WEIGHTS), np.eye(CLASSES, dtype="float32")[Y], {}),
}
CASES = pytest.mark.parametrize("case", LOSSES)


def trainer(backend, loss, cls=Trainer, last=None, length=LENGTH, **options):
    layers = [nn.Linear(6), nn.Tanh(), nn.Linear(CLASSES), *([last] if last else [])]
    model = nn.Sequential(*layers).build((None, length, FEATURES), backend=backend.name, seed=0)
    rate = 0.01 if getattr(loss, "reduction", "mean") == "sum" else 0.5
    return cls(model, loss, SGD(rate), backend=backend.name, seed=0, **options)


def trained(backend, loss, y, size, accumulate=1, x=X, fit=None, **options):
    """The losses of the steps, and the parameters after them, of a training on all samples in one step."""
    t = trainer(backend, loss, accumulate=accumulate, **options)
    assert size * accumulate >= len(x)
    events = t.events((x, y), batch_size=size, shuffle=False, epochs=2, **(fit or {}))
    losses = [event.values["loss"] for event in events if isinstance(event, Step)]
    return losses, t.model.state_dict()


def compare(actual, expected):
    np.testing.assert_allclose(actual[0], expected[0], rtol=2e-6)
    for name, value in expected[1].items():
        np.testing.assert_allclose(actual[1][name], value, rtol=1e-6, atol=1e-6, err_msg=name)


def reference(logits, target, weights=None, ignored=-100, smooth=0.0, reduction="mean"):
    scores = torch.tensor(np.asarray(logits, "float64")).reshape(-1, CLASSES)
    weight = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    labels = torch.tensor(np.asarray(target).reshape(-1))
    options = {"ignore_index": ignored, "label_smoothing": smooth, "reduction": reduction}
    return float(functional.cross_entropy(scores, labels, weight, **options))


# -- accumulation


@CASES
def test_accumulated_parts_match_one_batch(backend, case):
    loss, y, fit = LOSSES[case]
    compare(trained(backend, loss(), y, 8, 4, fit=fit), trained(backend, loss(), y, 32, fit=fit))


@pytest.mark.sample(False)
@pytest.mark.parametrize("case", ["weighted, ignored and smooth", "of samples"])
def test_accumulated_parts_match_one_batch_when_compiled(backend, case):
    loss, y, fit = LOSSES[case]
    expected = trained(backend, loss(), y, 32, fit=fit, compiled=False)
    compare(trained(backend, loss(), y, 8, 4, fit=fit, compiled=True), expected)


def test_accumulation_with_log_probabilities_and_a_smaller_last_part(backend):
    def run(size, parts):
        loss = nn.NLLLoss(class_weights=WEIGHTS)
        return trained(backend, loss, SPARSE[:27], size, parts, x=X[:27], last=nn.LogSoftmax())

    compare(run(8, 4), run(27, 1))


def test_accumulation_with_a_forward_of_the_user(backend):
    class Mine(Trainer):
        def forward(self, x):
            return self.model(x) * 2.0

    runs = [trained(backend, "cross_entropy", SPARSE, size, k, cls=Mine) for size, k in ((8, 4), (32, 1))]
    compare(*runs)


@pytest.mark.sample(False)
@settings(max_examples=8, deadline=None)
@given(
    length=st.integers(1, 4),
    count=st.integers(3, 20),
    parts=st.integers(2, 5),
    share=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    weights=st.none() | st.lists(st.sampled_from([0.0, 0.2, 1.0, 5.0]), min_size=CLASSES, max_size=CLASSES),
    seed=st.integers(0, 1000),
)
def test_accumulation_for_any_share_of_ignored_targets(backend, length, count, parts, share, weights, seed):
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(count, length, FEATURES)).astype("float32")
    y = np.where(draws.random((count, length)) < share, -100, draws.integers(0, CLASSES, (count, length)))
    weights = None if weights is None else tuple(weights)
    runs = []
    for size, k in ((math.ceil(count / parts), parts), (count, 1)):
        loss = nn.CrossEntropyLoss(class_weights=weights)
        t = trainer(backend, loss, accumulate=k, compiled=False, length=length)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # where nothing counts
            history = t.fit(x, y, batch_size=size, shuffle=False, progress=False)
        runs.append((history["loss"], t.model.state_dict()))
    compare(*runs)


def test_parts_of_a_loss_of_the_user_count_by_their_samples(backend):
    def loss(output, target):
        return ops.cross_entropy(output, target)

    y = SPARSE[:24].copy()
    y[8:16, 0] = 1
    scores = backend.to_numpy(trainer(backend, loss).model(backend.tensor(X[:24])))
    ends = ((0, 10), (10, 20), (20, 24))
    expected = sum(reference(scores[a:b], y[a:b]) * (b - a) / 24 for a, b in ends)
    losses, _ = trained(backend, loss, y, 10, 3, x=X[:24])
    assert losses[0] == pytest.approx(expected, rel=1e-5)


def test_loss_layer_of_the_user_may_say_what_its_mean_divides_by(backend):
    class Masked(nn.Module):
        reduction = "mean"

        def forward(self, output, target):
            counted = ops.astype(target >= 0, "float32")
            return ops.sum((output[..., 0] - target) ** 2 * counted) / ops.sum(counted)

        def normalizer(self, target, axes):
            assert axes == 3
            return np.count_nonzero(target >= 0)

    y = np.where(SPARSE < 0, -1, SPARSE).astype("float32") / 10
    compare(trained(backend, Masked(), y, 8, 4), trained(backend, Masked(), y, 32))


# -- batches in which nothing counts


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("options", [{}, {"gradient_norm": True, "keep_gradients": True}, {"precision": "float16"}])
def test_step_in_which_nothing_counts_changes_nothing(backend, accumulate, options):
    if options.get("precision") and backend.name != "torch":
        pytest.skip("half precision is tried with one backend")
    y = SPARSE.copy()
    y[:16] = -100
    t = trainer(backend, nn.CrossEntropyLoss(class_weights=WEIGHTS), accumulate=accumulate, **options)
    first, second = X[:16], X[16:]
    t.fit(second, y[16:], batch_size=16 // accumulate, progress=False)
    before = t.model.state_dict()
    with pytest.warns(UserWarning, match="nothing in this batch counts"):
        values = t.train_one_batch(first, y[:16])
    assert values == {"loss": 0.0, **({"gradient_norm": 0.0} if "gradient_norm" in options else {})}
    after = t.model.state_dict()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
    assert t.train_one_batch(second, y[16:])["loss"] > 0
    assert options.get("precision") or not np.array_equal(t.model.state_dict()["0/kernel:0"], before["0/kernel:0"])


def test_batch_in_which_nothing_counts_does_not_end_a_training(backend):
    y = SPARSE.copy()
    y[:16] = -100
    with pytest.warns(UserWarning, match="nothing in this batch counts"):
        history = trainer(backend, "cross_entropy").fit(X, y, epochs=2, batch_size=8, shuffle=False, progress=False)
    assert history["loss"][0] > history["loss"][1] > 0


@pytest.mark.parametrize("accumulate", [1, 2])
def test_batch_normalization_goes_on_after_a_step_in_which_nothing_counts(backend, accumulate):
    layers = [nn.Linear(6), nn.BatchNorm(), nn.Linear(CLASSES)]
    model = nn.Sequential(*layers).build((None, LENGTH, FEATURES), backend=backend.name, seed=0)
    t = Trainer(model, "cross_entropy", SGD(0.1), backend=backend.name, seed=0, accumulate=accumulate)
    t.train_one_batch(X, SPARSE)
    before = model.state_dict()
    with pytest.warns(UserWarning, match="nothing in this batch counts"):
        t.train_one_batch(X + 1, np.full_like(Y, -100))
    after = model.state_dict()
    moved = {name for name, value in after.items() if not np.array_equal(value, before[name])}
    assert moved == {name for name in after if "moving" in name or "running" in name}
    assert t.train_one_batch(X, SPARSE)["loss"] > 0
    assert all(np.isfinite(value).all() for value in model.state_dict().values())


# -- evaluation


@CASES
@pytest.mark.parametrize("size", [5, 8])
def test_evaluation_in_batches_matches_one_batch(backend, case, size):
    loss, y, _ = LOSSES[case]
    t = trainer(backend, loss())
    expected = t.evaluate(X, y, batch_size=COUNT)["loss"]
    assert t.evaluate(X, y, batch_size=size)["loss"] == pytest.approx(expected, rel=1e-6)
    if y.ndim == 2:
        scores = backend.to_numpy(t.model(backend.tensor(X)))
        own = t.loss_function
        options = {"ignored": own.ignore_index, "smooth": own.label_smoothing, "reduction": own.reduction}
        assert expected == pytest.approx(reference(scores, y, own.class_weights, **options), rel=1e-5)


def test_validation_of_a_training_counts_what_counts(backend):
    t = trainer(backend, nn.CrossEntropyLoss(class_weights=WEIGHTS))
    x, y = np.tile(X, (12, 1, 1)), np.tile(SPARSE, (12, 1))
    y[:256, 1:] = -100  # the first batch of the validation counts less
    history = t.fit(X, Y, validation=(x, y), batch_size=16, progress=False)
    scores = backend.to_numpy(t.model(backend.tensor(x)))
    assert history["val_loss"][0] == pytest.approx(reference(scores, y, WEIGHTS), rel=1e-5)


def test_evaluation_in_which_nothing_counts(backend):
    assert math.isnan(trainer(backend, "cross_entropy").evaluate(X, np.full_like(Y, -100), batch_size=8)["loss"])


# -- losses of several outputs, of which each has its own divisor


class TwoOutputs(nn.Module):
    def __init__(self):
        self.a, self.b, self.c = nn.Linear(CLASSES), nn.Linear(CLASSES), nn.Linear(2)

    def forward(self, x):
        return {"a": self.a(x), "b": self.b(x), "c": self.c(x)}


class OwnForward(Trainer):
    def forward(self, x):
        return {name: output * 2.0 for name, output in self.model(x).items()}


TARGETS = {"a": SPARSE, "b": Y, "c": RNG.normal(size=(COUNT, LENGTH, 2)).astype("float32")}


def outputs_trainer(backend, cls=Trainer, **options):
    model = TwoOutputs().build((None, LENGTH, FEATURES), backend=backend.name, seed=0)
    loss: Any = {
        "a": "cross_entropy",
        "b": nn.CrossEntropyLoss(class_weights=WEIGHTS),
        "c": nn.MeanSquaredErrorLoss(reduction="sum"),
    }
    settings: dict[str, Any] = {"loss_weights": {"a": 0.5, "c": 0.01}, "backend": backend.name, "seed": 0, **options}
    return cls(model, loss, SGD(0.5), **settings)


@pytest.mark.parametrize("cls", [Trainer, OwnForward])
def test_accumulated_losses_of_several_outputs_match_one_batch(backend, cls):
    results = []
    for size, parts in ((32, 1), (8, 4), (12, 3)):
        t = outputs_trainer(backend, cls, accumulate=parts)
        history = t.fit(X, TARGETS, batch_size=size, shuffle=False, epochs=2, progress=False)
        results.append(([history[name] for name in sorted(history)], t.model.state_dict()))
    compare(results[1], results[0])
    compare(results[2], results[0])


def test_validation_of_several_outputs_in_batches_matches_one_batch(backend):
    t = outputs_trainer(backend)
    expected = t.evaluate(X, TARGETS, batch_size=COUNT)
    for size in (8, 5):
        values = t.evaluate(X, TARGETS, batch_size=size)
        assert values == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("accumulate", [1, 4])
def test_an_output_of_which_nothing_counts_has_the_loss_0(backend, accumulate):
    t = outputs_trainer(backend, accumulate=accumulate)
    before = t.model.state_dict()
    targets = {**TARGETS, "a": np.full_like(SPARSE, -100)}
    history = t.fit(X, targets, batch_size=32 // accumulate, validation=(X, targets), progress=False)
    assert history["loss_a"] == [0.0]
    assert math.isnan(history["val_loss_a"][0])
    assert math.isfinite(history["val_loss"][0])
    after = t.model.state_dict()
    for name, value in after.items():
        assert np.isfinite(value).all()
        assert np.array_equal(value, before[name]) == name.startswith("a/"), name


@pytest.mark.sample(False)
def test_a_loss_of_pytorch_trains_as_its_own_and_on_pytorch_alone(backend):
    x, y = X[:, 0], Y[:, 0]
    if backend.name != "torch":
        model = nn.Sequential(nn.Linear(CLASSES)).build((None, FEATURES), backend=backend.name)
        with pytest.raises(
            ConfigError, match=f"CrossEntropyLoss is one of torch, and the model trains on {backend.name}"
        ):
            Trainer(model, torch.nn.CrossEntropyLoss(), SGD(0.5)).fit(x, y, progress=False)
        return
    runs = []
    for loss in (torch.nn.CrossEntropyLoss(), nn.CrossEntropyLoss()):
        model = nn.Sequential(nn.Linear(CLASSES)).build((None, FEATURES), backend="torch", seed=0)
        t = Trainer(model, loss, SGD(0.5), seed=0)
        runs.append((list(t.fit(x, y, shuffle=False, progress=False)["loss"]), t.model.state_dict()))
    compare(*runs)
