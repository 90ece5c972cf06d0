"""Optimizers by name, JSON Schema of their settings, and invalid settings."""

import json
import re

import numpy as np
import pytest

from labdl import dispatch, nn
from labdl.errors import ConfigError
from labdl.train import OPTIMIZERS, SGD, Adam, AdamW, BoundOptimizer, CosineDecay, Lion, optimizer
from labdl.train.optimizers.groups import GroupResolver


def test_defaults_match_torch():
    import torch

    words = {"lr": "learning_rate", "eps": "epsilon", "alpha": "rho"}
    for kind in ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop"):
        theirs = getattr(torch.optim, kind)([torch.zeros(1)]).defaults
        theirs |= dict(zip(("beta_1", "beta_2"), theirs.get("betas", ()), strict=False))
        ours = OPTIMIZERS[kind.lower()].make().settings()
        shared = {k: v for k, v in ((words.get(k, k), v) for k, v in theirs.items()) if k in ours}
        assert len(shared) >= 3
        shared |= {"learning_rate": 0.01} if kind == "SGD" else {}  # torch's 0.001 is small for plain descent
        assert {k: ours[k] for k in shared} == {
            k: float(v) if not isinstance(v, bool) else v for k, v in shared.items()
        }


def test_optimizers_by_name():
    assert isinstance(optimizer("lamb"), OPTIMIZERS["lamb"].cls)
    assert optimizer("nesterov", learning_rate=0.3) == SGD(0.3, momentum=0.9, nesterov=True)
    assert optimizer(SGD(0.1), momentum=0.5) == SGD(0.1, momentum=0.5)
    with pytest.raises(ConfigError, match=r"optimizer wants one of adam, .*, received 'tiger'"):
        optimizer("tiger")
    with pytest.raises(ConfigError, match=r"SGD has the settings learning_rate, .*, received 'speed'"):
        optimizer("sgd", speed=1)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_settings_are_validated_and_have_a_schema(name):
    cls = OPTIMIZERS[name].cls
    form = cls.schema()["schema"]["properties"]
    assert set(form) == set(OPTIMIZERS[name].make().settings())
    assert form["learning_rate"] == {
        "default": cls().learning_rate,
        "minimum": 0,
        "title": "Learning Rate",
        "type": "number",
    }
    assert len(cls.schema()["summary"]) > 20
    for wrong in (-0.1, "fast", None, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match=f"{cls.__name__}: learning_rate wants a number at least 0, received"):
            cls(learning_rate=wrong)
    for momentum in {"momentum", "beta_1", "rho"} & set(form):
        with pytest.raises(
            ConfigError, match=f"{cls.__name__}: {momentum} wants a number at least 0 and below 1, received 1"
        ):
            cls(**{momentum: 1.0})
    assert optimizer(cls.kind, **cls().settings()) == cls()


def test_invalid_groups_raise():
    with pytest.raises(ConfigError, match="groups wants a dictionary from patterns to settings"):
        Adam(groups=["*/bias:0"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"Adam has the settings learning_rate, .*received 'decay'"):
        Adam(groups=[("*/bias:0", {"decay": 0.0})])
    with pytest.raises(ConfigError, match="weight_decay wants a number at least 0, received -1"):
        Adam(groups=[("*/bias:0", {"weight_decay": -1})])
    with pytest.raises(ConfigError, match="groups names 'tail/\\*', which no parameter matches"):
        BoundOptimizer(
            Adam(groups=[("tail/*", {"weight_decay": 0.0})]), dispatch.get("numpy"), {"w:0": nn.Parameter((2,))}
        )


def patterns(rule, *names):
    return BoundOptimizer(rule, dispatch.get("numpy"), {name: parameter(name) for name in names})


def parameter(name):
    made = nn.Parameter((2,) if name.endswith("bias:0") else (2, 2))
    made.value = dispatch.get("numpy").variable(np.zeros(made.shape, "float32"))
    return made


@pytest.mark.parametrize(
    ("pattern", "suggestion"),
    [
        ("encoder.*", ": did you mean 'encoder/\\*'\\?"),
        ("encodr/*", ": did you mean 'encoder/\\*'"),
        ("bias", ": did you mean '\\*bias\\*'\\?"),
        ("tail/*", "; there are encoder/0/kernel:0, encoder/0/bias:0, head/kernel:0$"),
    ],
)
def test_pattern_that_matches_nothing_suggests_similar_names(pattern, suggestion):
    with pytest.raises(ConfigError, match=f"Adam: groups names {re.escape(repr(pattern))}.*{suggestion}"):
        patterns(Adam(groups={pattern: {"lr": 0.1}}), "encoder/0/kernel:0", "encoder/0/bias:0", "head/kernel:0")


def test_groups_are_dictionaries_or_pairs():
    pairs = Adam(groups=[("head/*", {"learning_rate": 0.1}), ("*/bias:0", {"weight_decay": 0.0})])
    assert Adam(groups={"head/*": {"lr": 0.1}, "*/bias:0": {"weight_decay": 0.0}}) == pairs
    assert pairs.replace({"beta_1": 0.5}) == Adam(beta_1=0.5, groups=pairs.groups)
    assert optimizer(pairs, lr=0.2).groups == pairs.groups
    assert optimizer("adam", groups={"head/*": {"lr": 0.1}}).groups == pairs.groups[:1]


def test_a_group_has_settings_a_schedule_or_an_optimizer():
    rule = Adam(groups={"head/*": {"lr": 0.1, "schedule": "cosine"}, "embedding/*": SGD(0.3), "tail/*": "lion"})
    assert rule.label == "adam + sgd + lion"
    assert rule.record()["groups"] == {
        "head/*": {"learning_rate": 0.1, "schedule": {"name": "cosine_decay", **CosineDecay().settings()}},
        "embedding/*": {"name": "sgd", **SGD(0.3).settings()},
        "tail/*": {"name": "lion", **Lion().settings()},
    }
    json.dumps(rule.record(), allow_nan=False)
    for wrong, words in (
        ({"lr": 0.1, "learning_rate": 0.1}, "lr is another name of learning_rate"),
        ({"schedule": "cosinus"}, "schedule wants one of"),
        ({"schedule": "plateau"}, "the schedule of a group wants a function of the step, ReduceOnPlateau depends"),
        (SGD(groups={"a": {"lr": 1.0}}), "the SGD of a group has groups of its own: add them to those of Adam"),
        (3, "groups wants for each pattern settings such as .* or an optimizer, received 3"),
        ("adm", "optimizer wants one of .*did you mean 'adam'"),
        ({"name": "sgd", "beta_1": 0.5}, "SGD has the settings .*received 'beta_1'"),
    ):
        with pytest.raises(ConfigError, match=words):
            Adam(groups={"head/*": wrong})


def test_optimizers_by_pattern():
    assert optimizer({"name": "sgd", "lr": 0.5}) == SGD(0.5)
    both = Adam(0.1, groups={"embedding/*": SGD(0.3)})
    assert optimizer({"embedding/*": SGD(0.3), "*": Adam(0.1)}) == both
    assert optimizer({"embedding/*": {"name": "sgd", "lr": 0.3}, "*": {"name": "adam", "lr": 0.1}}) == Adam(
        0.1, groups={"embedding/*": {"name": "sgd", "learning_rate": 0.3}}
    )
    with pytest.raises(ConfigError, match=r"wants '\*' among its patterns, .*received 'embedding/\*', 'head/\*'"):
        optimizer({"embedding/*": SGD(), "head/*": Adam()})
    with pytest.raises(ConfigError, match=r"wants a name in its dictionary, .* or optimizers by patterns"):
        optimizer({"lr": 0.3})


def test_groups_resolve_for_each_parameter():
    names = ["embedding/weight:0", "encoder/0/kernel:0", "encoder/0/bias:0", "norm/gamma:0", "head/kernel:0"]
    rule = AdamW(
        0.1,
        decay_norm_and_bias=False,
        groups={"encoder/*": {"lr": 0.01}, "embedding/*": SGD(0.3, momentum=0.5), "head/*": {"weight_decay": 0.5}},
    )
    find = GroupResolver(rule)
    found = {name: find(name, parameter(name).shape)[0] for name in names}
    assert found["embedding/weight:0"] == SGD(0.3, momentum=0.5)
    assert found["encoder/0/kernel:0"] == AdamW(0.01, decay_norm_and_bias=False)
    assert found["encoder/0/bias:0"] == AdamW(0.01, weight_decay=0.0, decay_norm_and_bias=False)
    assert found["norm/gamma:0"] == AdamW(0.1, weight_decay=0.0, decay_norm_and_bias=False)
    assert found["head/kernel:0"] == AdamW(0.1, weight_decay=0.5, decay_norm_and_bias=False)
    # a group that sets the decay of a bias means it
    again = GroupResolver(AdamW(decay_norm_and_bias=False, groups={"*": {"weight_decay": 0.5}}))
    assert again("encoder/0/bias:0", (2,))[0].weight_decay == 0.5


def test_rates_of_groups_follow_by_ratio_or_stand_alone():
    bound = patterns(SGD(0.1, groups={"head/*": {"lr": 0.01}}), "body/kernel:0", "head/kernel:0")
    bound.learning_rate = 0.05
    assert bound.learning_rates == pytest.approx({"body/kernel:0": 0.05, "head/kernel:0": 0.005})
    bound = patterns(SGD(0.0, groups={"head/*": {"lr": 0.01}}), "body/kernel:0", "head/kernel:0")
    bound.learning_rate = 0.05  # no ratio to 0
    assert bound.learning_rates == {"body/kernel:0": 0.05, "head/kernel:0": 0.01}


def test_a_schedule_is_that_of_the_trainer():
    message = r"Adam: learning_rate wants a number, received a CosineDecay: write Trainer\(…, optimizer="
    with pytest.raises(ConfigError, match=message):
        Adam(learning_rate=CosineDecay())
    message = (
        r"CosineDecay: steps wants an integer, received 0.01: the learning rate to begin with is that of the optimizer"
    )
    with pytest.raises(ConfigError, match=message):
        CosineDecay(0.01, 100)
