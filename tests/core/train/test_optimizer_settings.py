"""Optimizers by name, JSON Schema of their settings, and invalid settings."""

import pytest

from labdl import dispatch, nn
from labdl.errors import ConfigError
from labdl.train import OPTIMIZERS, SGD, Adam, BoundOptimizer, optimizer


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
    with pytest.raises(ConfigError, match="groups wants pairs of a pattern and settings"):
        Adam(groups=["*/bias:0"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"Adam has the settings learning_rate, .*received 'decay'"):
        Adam(groups=[("*/bias:0", {"decay": 0.0})])
    with pytest.raises(ConfigError, match="weight_decay wants a number at least 0, received -1"):
        Adam(groups=[("*/bias:0", {"weight_decay": -1})])
    with pytest.raises(ConfigError, match="groups names 'tail/\\*', which no parameter matches"):
        BoundOptimizer(
            Adam(groups=[("tail/*", {"weight_decay": 0.0})]), dispatch.get("numpy"), {"w:0": nn.Parameter((2,))}
        )
