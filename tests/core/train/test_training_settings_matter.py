"""Two values of a setting of a metric or an optimizer give different numbers, or it stands in a list with the reason."""

import dataclasses
import typing

import numpy as np
import pytest
from metric_inputs import (
    CLASSES,
    INPUTS,
    IS,
    LABEL_SCORES,
    LABELS,
    SOFT,
    TOKENS,
    TRUE_TOKENS,
    VARIANTS,
    YES,
    numbers_in,
)
from variations import is_equal, literals, variations

from labdl import dispatch, nn
from labdl.settings import form_fields
from labdl.train import OPTIMIZERS, BoundOptimizer
from labdl.train.metrics import METRICS

_rng = np.random.default_rng(0)
BINARY = (YES, IS)
MAPS = (_rng.normal(size=(4, 3, 3, 3)), _rng.integers(0, 3, (4, 3, 3)))
PICTURES = tuple(_rng.uniform(size=(2, 12, 12, 12)) for _ in range(2))
MARKED = (["a, b. c d"], ["a b c d"])
LONG = (["a b c d e f", "a b"], ["A b c", "a b c d"])
# outputs and targets that show what the metric's own do not, and settings beside
METRIC_BASES = {
    **{
        (name, "threshold"): (BINARY, {})
        for name, cls in METRICS.items()
        if "threshold" in form_fields(cls) and name != "pck"
    },
    **{(name, "threshold"): ((LABEL_SCORES, LABELS), {}) for name in ("pixel_accuracy", "mean_iou", "dice")},
    **{(name, "axis"): (MAPS, {}) for name in ("pixel_accuracy", "mean_iou", "dice")},
    **{
        (f"{word}_calibration_error", "from_logits"): ((SOFT, CLASSES), {"from_logits": False})
        for word in ("expected", "maximum")
    },
    ("ssim", "data_format"): (PICTURES, {}),
    **{
        (name, "padding"): ((TOKENS, TRUE_TOKENS), {})
        for name in ("word_error_rate", "character_error_rate", "edit_distance")
    },
    **{(name, "padding"): ((TOKENS, TRUE_TOKENS), {}) for name in ("bleu", "rouge1", "rouge2", "rouge_l")},
    **{(name, "measure"): (LONG, {}) for name in ("rouge1", "rouge2", "rouge_l")},
    **{(name, "tokenizer"): (MARKED, {}) for name in ("rouge1", "rouge2", "rouge_l")},
    ("exact_match", "padding"): ((np.array([[1, 0, 2]]), np.array([[1, 2, 0]])), {"padding": 9}),
    ("chrf", "lowercase"): (LONG, {}),
    ("entity_f1", "names"): ((TOKENS, TRUE_TOKENS), {"names": ("B-X", "I-X", "O", "B-Y")}),
}
OTHER_OUTPUTS = "outputs of another form, which tests of detection have"
FORM = "it says which of two forms the outputs have; the other is refused"
REASONS = {
    **{
        (name, setting): OTHER_OUTPUTS
        for name in ("mean_average_precision", "box_recall")
        for setting in ("masks", "keypoints", "sigmas")
    },
    **{(name, "multilabel"): FORM for name, cls in METRICS.items() if "multilabel" in form_fields(cls)},
    ("panoptic_quality", "ignore_index"): "the maps of the sample have that number",
    ("asgd", "start"): "the average begins after that many steps",
}


def other_values(settings, name):
    hint = typing.get_type_hints(type(settings), include_extras=True)[name]
    for value in variations(getattr(settings, name), literals(hint)):
        try:
            yield dataclasses.replace(settings, **{name: value})
        except Exception:  # most values are refused, each by an error of its own
            continue


def matters(subjects, name, observe) -> bool:
    for subject in subjects:
        expected = observe(subject)
        for other in other_values(subject, name):
            try:
                values = observe(other)
            except Exception:  # it does not fit the sample
                continue
            if not is_equal(values, expected):
                return True
    return False


@pytest.mark.parametrize("kind", [name for name in INPUTS if form_fields(METRICS[name])])
def test_every_setting_of_a_metric_changes_its_value(kind):
    cls = METRICS[kind]
    for name in form_fields(cls):
        if (kind, name) in REASONS:
            continue
        pair, own = METRIC_BASES.get((kind, name), (INPUTS[kind], {}))

        def observe(metric, pair=pair):
            metric = dataclasses.replace(metric)
            metric.update(*pair)
            return [np.asarray(numbers_in(metric.compute()))]

        bases = [cls(**own)] if own or (kind, name) in METRIC_BASES else [cls(), cls(**VARIANTS.get(kind, {}))]
        assert matters(bases, name, observe), f"{kind}: {name} changes nothing"


def updates(settings):
    """The parameters after a few updates."""
    layer = nn.Linear(2).build((None, 3), backend="numpy", seed=0)
    optimizer = BoundOptimizer(settings, dispatch.get("numpy"), layer.get_parameters())
    draws = np.random.default_rng(1)
    for _ in range(6):
        optimizer.apply({n: draws.normal(size=p.shape).astype("float32") for n, p in optimizer.parameters.items()})
    return [np.array(p.value) for p in layer.parameters()]


ONE_OF_EACH = {named.cls: name for name, named in OPTIMIZERS.items()}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("cls", ONE_OF_EACH, ids=lambda cls: cls.__name__)
def test_every_setting_of_an_optimizer_changes_the_updates(cls):
    plain = cls()
    more = {
        "momentum": 0.5,
        "weight_decay": 0.1,
        "centered": True,
        "amsgrad": True,
        "averaged": True,
        "learning_rate": 40.0,
    }
    bases = [plain, *(dataclasses.replace(plain, **{k: v}) for k, v in more.items() if k in form_fields(cls))]
    for name in form_fields(cls):
        if (ONE_OF_EACH[cls], name) not in REASONS:
            assert matters(bases, name, updates), f"{cls.__name__}: {name} changes nothing"


def test_lists_name_settings_that_exist():
    settings = {(name, f) for name, cls in METRICS.items() for f in form_fields(cls)}
    settings |= {(name, f) for name, named in OPTIMIZERS.items() for f in form_fields(named.cls)}
    assert settings >= REASONS.keys() | METRIC_BASES.keys()
