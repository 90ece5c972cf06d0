"""Every loss on one backend against PyTorch's function, or its formula: values, gradients, reductions."""

import itertools
import math

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.nn.schema import LAYERS, fields
from labdl.train import losses as all_losses

LOSSES = [name for name, cls in LAYERS.items() if cls.layer_category == "loss"]
rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(3, 5, 4))
SHARE, OTHER = rng.uniform(0.05, 0.95, (2, 5, 4))
SIGNS, ONE_SIGN = np.sign(Y), np.sign(Y[:, 0])
CLASSES, SOME = np.array([0, 2, 1, 3, 2]), np.array([0, 2, -100, 3, 2])
WIDE, WIDE_CLASSES = rng.normal(size=(2, 3, 4)), rng.integers(0, 4, (2, 3))
WIDE_CHANNELS = np.moveaxis(WIDE, -1, 1).copy()
WIDE_PROBABILITIES = np.exp(WIDE_CHANNELS) / np.exp(WIDE_CHANNELS).sum(1, keepdims=True)
WEIGHTS = (0.5, 1.0, 2.0, 1.5)
PROBABILITIES = np.exp(Y) / np.exp(Y).sum(-1, keepdims=True)
LOGS = X - np.log(np.exp(X).sum(-1, keepdims=True))
COUNTS = np.round(5 * SHARE)
BOXES, TRUE_BOXES = (np.concatenate([v[:, :2], v[:, :2] + np.abs(v[:, 2:]) + 0.5], -1) for v in (X, X + 0.4 * Y))
LENGTHS = (np.array([6, 5, 4]), np.array([3, 2, 0]))
STEPS, LABELS = rng.normal(size=(3, 6, 5)), rng.integers(1, 5, (3, 3))
GRID = rng.normal(size=(3, 6, 4, 5))


def oracles():
    """For each loss cases of settings, inputs, and the reference: torch's function, or one that gives each loss."""
    import torch
    import torch.nn.functional as F

    weights = torch.tensor(WEIGHTS, dtype=torch.float64)

    def native(function, **options):
        return lambda *inputs, reduction: function(*inputs, reduction=reduction, **options)

    def last(function, **options):
        """Torch has the classes on axis 1."""
        return lambda x, y, reduction: function(x.movedim(-1, 1), y, reduction=reduction, **options)

    def each(function):
        def run(*inputs, reduction):
            return {"mean": torch.mean, "sum": torch.sum, "none": lambda v: v}[reduction](function(*inputs))

        return run

    def focal(x, y, alpha=0.25, gamma=2.0):
        p = torch.sigmoid(x)
        right = -alpha * y * (1 - p) ** 0 * torch.log(p) - (1 - alpha) * (1 - y) * torch.log(1 - p)
        return right * (p + y - 2 * p * y) ** gamma

    def tversky(alpha, beta, gamma=1.0, factor=1.0):
        def losses(p, y):
            overlap, wrong, missed = ((a * b).sum(-1) for a, b in ((p, y), (p, 1 - y), (1 - p, y)))
            share = (factor * overlap + 1e-5) / (factor * (overlap + alpha * wrong + beta * missed) + 1e-5)
            return (1 - share) ** (1 / gamma)

        return losses

    def boxes(kind):
        def losses(a, b):
            sides = [v[:, 2:] - v[:, :2] for v in (a, b)]
            shared = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(-1)
            union = sides[0].prod(-1) + sides[1].prod(-1) - shared
            hull = torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])
            if kind == "g":
                return 1 - shared / union + (hull.prod(-1) - union) / hull.prod(-1)
            away = ((a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) ** 2).sum(-1) / 4 / (hull**2).sum(-1)
            if kind == "d":
                return 1 - shared / union + away
            turns = [torch.atan(s[:, 0] / s[:, 1]) for s in sides]
            aspect = 4 / math.pi**2 * (turns[0] - turns[1]) ** 2
            factor = (aspect / (1 - shared / union + aspect)).detach()  # a constant, says the paper
            return 1 - shared / union + away + factor * aspect

        return losses

    def contrastive(a, b, y, margin):
        distance = (a - b + 1e-6).norm(dim=-1)
        return torch.where(y > 0, distance**2, (margin - distance).clamp(min=0) ** 2) / 2

    def info(temperature, symmetric):
        def losses(a, b):
            logits, own = F.normalize(a) @ F.normalize(b).T / temperature, torch.arange(len(a))
            one = F.cross_entropy(logits, own, reduction="none")
            return (one + F.cross_entropy(logits.T, own, reduction="none")) / 2 if symmetric else one

        return losses

    def ctc(x, y, steps, labels, reduction):
        logs = F.log_softmax(x, -1).movedim(0, 1)
        return F.ctc_loss(logs, y, steps, labels, 0, reduction)

    def transducer(x, y, steps, labels):
        """All alignments one by one: the blanks and labels in every order, a blank at the end."""
        logs, losses = F.log_softmax(x, -1), []
        for n, (t_end, u_end) in enumerate(zip(steps.tolist(), labels.tolist(), strict=True)):
            paths = []
            for places in itertools.combinations(range(t_end + u_end - 1), u_end):
                t = u = 0
                log = torch.zeros((), dtype=x.dtype)
                for place in range(t_end + u_end):
                    if place in places:
                        log, u = log + logs[n, t, u, y[n, u]], u + 1
                    else:
                        log, t = log + logs[n, t, u, 0], t + 1
                paths.append(log)
            losses.append(-torch.logsumexp(torch.stack(paths), 0))
        return torch.stack(losses)

    def softened(x, y, t=3.0):
        teacher = F.softmax(y / t, -1)
        return t * t * (teacher * (F.log_softmax(y / t, -1) - F.log_softmax(x / t, -1))).sum(-1)

    triplet = {"margin": 3.0, "p": 3.0, "swap": True}
    return {
        "CrossEntropyLoss": [
            ({}, (X, CLASSES), native(F.cross_entropy)),
            ({"label_smoothing": 0.2}, (X, SOME), native(F.cross_entropy, label_smoothing=0.2)),
            (
                {"class_weights": WEIGHTS, "ignore_index": 3, "label_smoothing": 0.1},
                (X, CLASSES),
                native(F.cross_entropy, weight=weights, ignore_index=3, label_smoothing=0.1),
            ),
            ({"class_weights": WEIGHTS}, (X, PROBABILITIES), native(F.cross_entropy, weight=weights)),
            ({}, (WIDE, WIDE_CLASSES), last(F.cross_entropy)),
            (
                {"axis": 1, "class_weights": WEIGHTS, "ignore_index": 3},
                (WIDE_CHANNELS, WIDE_CLASSES),
                native(F.cross_entropy, weight=weights, ignore_index=3),
            ),
            ({"axis": 1}, (WIDE_CHANNELS, WIDE_PROBABILITIES), native(F.cross_entropy)),
        ],
        "BinaryCrossEntropyLoss": [
            ({}, (5 * X, SHARE), native(F.binary_cross_entropy_with_logits)),
            ({"positive_weights": WEIGHTS}, (X, SHARE), native(F.binary_cross_entropy_with_logits, pos_weight=weights)),
            (
                {"positive_weights": (3.0,)},
                (X, SHARE),
                native(F.binary_cross_entropy_with_logits, pos_weight=torch.tensor(3.0)),
            ),
            ({"from_logits": False}, (SHARE, OTHER), native(F.binary_cross_entropy)),
        ],
        "NLLLoss": [
            ({}, (LOGS, SOME), native(F.nll_loss)),
            (
                {"class_weights": WEIGHTS, "ignore_index": 2},
                (LOGS, CLASSES),
                native(F.nll_loss, weight=weights, ignore_index=2),
            ),
            ({}, (WIDE, WIDE_CLASSES), last(F.nll_loss)),
        ],
        "FocalLoss": [
            ({}, (X, np.round(SHARE)), each(focal)),
            ({"alpha": 0.6, "gamma": 1.5}, (X, np.round(SHARE)), each(lambda x, y: focal(x, y, 0.6, 1.5))),
            ({"alpha": -1.0, "gamma": 0.0}, (X, SHARE), native(F.binary_cross_entropy_with_logits)),
        ],
        "MultiMarginLoss": [
            ({}, (X, CLASSES), native(F.multi_margin_loss)),
            (
                {"p": 2, "margin": 0.5, "class_weights": WEIGHTS},
                (X, CLASSES),
                native(F.multi_margin_loss, p=2, margin=0.5, weight=weights),
            ),
        ],
        "MultilabelMarginLoss": [
            (
                {},
                (X, np.array([[0, 1, -1, 2], [2, -1, 1, 0], [-1, 0, 1, 3], [0, 1, 2, 3], [3, -1, -1, -1]])),
                native(F.multilabel_margin_loss),
            ),
        ],
        "MultilabelSoftMarginLoss": [
            ({}, (X, SHARE), native(F.multilabel_soft_margin_loss)),
            ({"class_weights": WEIGHTS}, (X, SHARE), native(F.multilabel_soft_margin_loss, weight=weights)),
        ],
        "SoftMarginLoss": [({}, (X, SIGNS), native(F.soft_margin_loss))],
        "HingeLoss": [({}, (X, SIGNS), each(lambda x, y: (1 - x * y).clamp(min=0)))],
        "SquaredHingeLoss": [({}, (X, SIGNS), each(lambda x, y: (1 - x * y).clamp(min=0) ** 2))],
        "DistillationLoss": [({"temperature": 3.0}, (X, Y), each(softened))],
        "MeanSquaredErrorLoss": [({}, (X, Y), native(F.mse_loss))],
        "MeanAbsoluteErrorLoss": [({}, (X, Y), native(F.l1_loss))],
        "HuberLoss": [({"delta": d}, (X, Y), native(F.huber_loss, delta=d)) for d in (1.0, 0.3)],
        "SmoothL1Loss": [({"beta": b}, (X, Y), native(F.smooth_l1_loss, beta=b)) for b in (1.0, 0.3, 0.0)],
        "LogCoshLoss": [({}, (X, Y), each(lambda x, y: torch.log(torch.cosh(x - y))))],
        "QuantileLoss": [
            ({"quantile": q}, (X, Y), each(lambda x, y, q=q: torch.where(y > x, q * (y - x), (1 - q) * (x - y))))
            for q in (0.5, 0.9)
        ],
        "MeanSquaredLogarithmicErrorLoss": [
            ({}, (X, SHARE), each(lambda x, y: (torch.log(x.clamp(min=0) + 1) - torch.log(y + 1)) ** 2)),
        ],
        "KLDivergenceLoss": [
            ({}, (LOGS, PROBABILITIES), native(F.kl_div)),
            ({"log_target": True}, (LOGS, np.log(PROBABILITIES)), native(F.kl_div, log_target=True)),
        ],
        "PoissonNLLLoss": [
            ({}, (X, COUNTS), native(F.poisson_nll_loss)),
            (
                {"log_input": False, "full": True, "epsilon": 1e-3},
                (SHARE, COUNTS),
                native(F.poisson_nll_loss, log_input=False, full=True, eps=1e-3),
            ),
        ],
        "GaussianNLLLoss": [
            ({}, (X, Y, SHARE), native(F.gaussian_nll_loss)),
            ({"full": True, "epsilon": 0.3}, (X, Y, SHARE), native(F.gaussian_nll_loss, full=True, eps=0.3)),
        ],
        "HingeEmbeddingLoss": [({"margin": 0.4}, (X, SIGNS), native(F.hinge_embedding_loss, margin=0.4))],
        "CosineEmbeddingLoss": [({"margin": 0.2}, (X, Y, ONE_SIGN), native(F.cosine_embedding_loss, margin=0.2))],
        "CosineSimilarityLoss": [({}, (X, Y), each(lambda x, y: 1 - F.cosine_similarity(x, y, -1)))],
        "MarginRankingLoss": [({"margin": 0.2}, (X, Y, SIGNS), native(F.margin_ranking_loss, margin=0.2))],
        "TripletMarginLoss": [
            ({}, (X, Y, Z), native(F.triplet_margin_loss)),
            ({**triplet, "epsilon": 0.1}, (X, Y, Z), native(F.triplet_margin_loss, **triplet, eps=0.1)),
        ],
        "ContrastiveLoss": [({"margin": 2.5}, (X, Y, ONE_SIGN), each(lambda a, b, y: contrastive(a, b, y, 2.5)))],
        "InfoNCELoss": [
            ({"temperature": t, "symmetric": s}, (X, Y), each(info(t, s))) for t, s in ((0.5, True), (0.2, False))
        ],
        "DiceLoss": [
            ({}, (SHARE, OTHER), each(lambda p, y: 1 - (2 * (p * y).sum(-1) + 1e-5) / ((p + y).sum(-1) + 1e-5)))
        ],
        "TverskyLoss": [
            ({"alpha": 0.3, "beta": 0.7}, (SHARE, OTHER), each(tversky(0.3, 0.7))),
            ({"gamma": 4 / 3}, (SHARE, OTHER), each(tversky(0.5, 0.5, 4 / 3))),
        ],
        "JaccardLoss": [({}, (SHARE, OTHER), each(tversky(1, 1)))],
        "GIoULoss": [({}, (BOXES, TRUE_BOXES), each(boxes("g")))],
        "DIoULoss": [({}, (BOXES, TRUE_BOXES), each(boxes("d")))],
        "CIoULoss": [({}, (BOXES, TRUE_BOXES), each(boxes("c")))],
        "CTCLoss": [({}, (STEPS, LABELS, *LENGTHS), ctc)],
        "RNNTLoss": [({}, (GRID, LABELS, *LENGTHS), each(transducer))],
    }


def narrow(array):
    return array.astype("float32") if array.dtype == np.float64 else array


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.filterwarnings("ignore:reduction")
def test_values_and_gradients_are_the_references(name, reduction, backend):
    import torch

    for settings, arrays, reference in oracles()[name]:
        theirs = [torch.tensor(narrow(a).astype("float64") if a.dtype == np.float64 else a) for a in arrays]
        theirs[0].requires_grad_()
        expected = reference(*theirs, reduction=reduction)
        shares = np.linspace(0.5, 1.5, expected.numel()).reshape(expected.shape)
        (expected * torch.tensor(shares)).sum().backward()
        loss = LAYERS[name](**settings, reduction=reduction)
        ours = [backend.tensor(narrow(a)) for a in arrays]
        result = loss(*ours)
        assert isinstance(result, backend.tensor_types())
        # a difference of two logarithms, times temperature²
        atol = 2e-4 if name == "DistillationLoss" else 2e-6
        np.testing.assert_allclose(labdl.to_numpy(result), expected.detach().numpy(), rtol=2e-5, atol=atol)
        scale = backend.tensor(shares.astype("float32"))
        _, (slope,) = backend.gradients(lambda x: ops.sum(ops.multiply(loss(x, *ours[1:]), scale)), ours[:1])  # noqa: B023
        np.testing.assert_allclose(labdl.to_numpy(slope), theirs[0].grad.numpy(), rtol=1e-4, atol=1e-5)


def test_every_loss_has_a_reference():
    assert set(oracles()) == set(LOSSES)
    assert all("reduction" in fields(LAYERS[name]) for name in LOSSES)


def test_kl_divergence_of_a_batch(backend):
    import torch

    expected = torch.nn.functional.kl_div(torch.tensor(LOGS), torch.tensor(PROBABILITIES), reduction="batchmean")
    actual = nn.KLDivergenceLoss(reduction="batchmean")(*(backend.tensor(narrow(a)) for a in (LOGS, PROBABILITIES)))
    assert float(labdl.to_numpy(actual)) == pytest.approx(float(expected), rel=1e-5)


def test_impossible_targets_of_ctc(backend):
    logits = np.zeros((2, 3, 4), "float32")
    rest = [backend.tensor(np.array(v)) for v in ([[1, 1, 2], [1, 2, 3]], [3, 3], [3, 3])]
    for zero, first in ((False, np.inf), (True, 0.0)):
        losses = nn.CTCLoss(zero_infinity=zero, reduction="none")(backend.tensor(logits), *rest)
        np.testing.assert_allclose(labdl.to_numpy(losses), [first, 3 * math.log(4)], rtol=1e-5)


# -- in training


@pytest.fixture
def pairs():
    draws = np.random.default_rng(0)
    return draws.normal(size=(40, 3)).astype("float32"), draws.integers(0, 2, (40, 2)).astype("float32")


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize(
    "name",
    [
        n
        for n, cls in all_losses.losses().items()
        if cls.__name__
        not in (
            "CrossEntropyLoss",
            "NLLLoss",
            "MultiMarginLoss",
            "MultilabelMarginLoss",
            "GIoULoss",
            "DIoULoss",
            "CIoULoss",
            "InfoNCELoss",
        )
    ],
)
def test_every_loss_of_output_and_target_trains_by_its_name(name, backend, pairs):
    x, y = pairs
    signs = ("hinge" in name or "margin" in name) and name != "multilabel_soft_margin"
    y = 2 * y - 1 if signs else y
    last = {"kl_divergence": nn.LogSoftmax() if hasattr(nn, "LogSoftmax") else nn.Sigmoid()}.get(name)
    if name in ("dice", "tversky", "jaccard", "mean_squared_logarithmic_error"):
        last = nn.Sigmoid()
    model = nn.Sequential(nn.Linear(8), nn.Tanh(), nn.Linear(2), *([last] if last else []))
    trainer = labdl.Trainer(model, loss=name, optimizer=labdl.train.Adam(0.02), backend=backend.name, seed=0)
    losses = trainer.fit(x, y, epochs=4, progress=False)["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("compiled", [None, False])
def test_a_loss_with_settings_trains(backend, pairs, compiled):
    """Weights of classes are a buffer, which is on the backend before a compiler sees it."""
    x, y = pairs[0], (pairs[0][:, 0] > 0).astype("int64")
    loss = nn.CrossEntropyLoss(label_smoothing=0.1, class_weights=(1.0, 3.0))
    trainer = labdl.Trainer(
        nn.Sequential(nn.Linear(2)),
        loss=loss,
        optimizer=labdl.train.Adam(0.02),
        backend=backend.name,
        seed=0,
        compiled=compiled,
    )
    history = trainer.fit(x, y, epochs=3, progress=False)["loss"]
    assert history[-1] < history[0]
    assert trainer.loss_name == "cross_entropy"
    output = labdl.predict(trainer.model, x)
    expected = nn.CrossEntropyLoss(label_smoothing=0.1, class_weights=(1.0, 3.0))(output, y)
    assert trainer.evaluate((x, y))["loss"] == pytest.approx(float(expected), rel=1e-4)


def test_losses_that_do_not_fit(backend, pairs):
    def trainer(loss, outputs=2):
        model = nn.Sequential(nn.Linear(outputs)).build((None, 3), backend=backend.name)
        return labdl.Trainer(model, loss=loss)

    with pytest.raises(ConfigError, match=r"loss wants one of cross_entropy, .*mean_squared_error.* received 'best'"):
        trainer("best")
    with pytest.raises(ConfigError, match=r"triplet_margin takes anchor, positive, negative, .* output and target"):
        trainer("triplet_margin")
    with pytest.raises(ConfigError, match=r"reduction='none' gives a loss for each sample, training wants one number"):
        trainer(nn.HuberLoss(reduction="none"))
    with pytest.raises(ModelError, match=r"CrossEntropyLoss: .*weight wants one number for each of the 4 classes"):
        trainer(nn.CrossEntropyLoss(class_weights=(1.0, 2.0)), 4).fit(pairs[0], np.zeros(40, int), progress=False)
    with pytest.raises(ModelError, match=r"JaccardLoss wants output and target with the same number of axes"):
        nn.JaccardLoss().build((None, 3), (None,), backend=backend.name)
    with pytest.raises(ModelError, match=r"positive_weights wants from_logits=True"):
        nn.BinaryCrossEntropyLoss(from_logits=False, positive_weights=(1.0,)).build(
            (None, 1), (None, 1), backend="numpy"
        )
