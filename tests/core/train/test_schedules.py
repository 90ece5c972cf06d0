"""Learning rate schedules: rates compared with torch.optim.lr_scheduler, names, settings, plans."""

import inspect
import math

import pytest

from labdl import train
from labdl.errors import ConfigError
from labdl.train import SCHEDULES, schedule
from labdl.train.schedules import ReduceOnPlateau

BASE, STEPS = 0.1, 50

# schedules, and those of torch with their settings
CASES = {
    "constant": (train.Constant(factor=0.3, steps=7), "ConstantLR", {"factor": 0.3, "total_iters": 7}),
    "linear": (
        train.Linear(20, start=0.25, end=0.9),
        "LinearLR",
        {"start_factor": 0.25, "end_factor": 0.9, "total_iters": 20},
    ),
    "step": (train.StepDecay(every=7, factor=0.5), "StepLR", {"step_size": 7, "gamma": 0.5}),
    "multi step": (train.MultiStep((3, 10, 10, 31), 0.3), "MultiStepLR", {"milestones": [3, 10, 10, 31], "gamma": 0.3}),
    "exponential": (train.ExponentialDecay(0.9), "ExponentialLR", {"gamma": 0.9}),
    "polynomial": (train.PolynomialDecay(40, 2.0), "PolynomialLR", {"total_iters": 40, "power": 2.0}),
    "root": (train.PolynomialDecay(60, 0.5), "PolynomialLR", {"total_iters": 60, "power": 0.5}),
    "cosine": (train.CosineDecay(50), "CosineAnnealingLR", {"T_max": 50}),
    "cosine to an end": (train.CosineDecay(80, end=0.01), "CosineAnnealingLR", {"T_max": 80, "eta_min": 0.01}),
    "restarts": (train.CosineRestarts(7), "CosineAnnealingWarmRestarts", {"T_0": 7}),
    "longer restarts": (
        train.CosineRestarts(4, 2, end=0.02),
        "CosineAnnealingWarmRestarts",
        {"T_0": 4, "T_mult": 2, "eta_min": 0.02},
    ),
    "one cycle": (train.OneCycle(50), "OneCycleLR", {"max_lr": BASE, "total_steps": 50}),
    "straight cycle": (
        train.OneCycle(60, rise=0.4, start=10.0, end=100.0, shape="linear"),
        "OneCycleLR",
        {
            "max_lr": BASE,
            "total_steps": 60,
            "pct_start": 0.4,
            "div_factor": 10.0,
            "final_div_factor": 100.0,
            "anneal_strategy": "linear",
        },
    ),
    "cyclic": (train.Cyclic(up=6, peak=5.0), "CyclicLR", {"base_lr": BASE, "max_lr": 5 * BASE, "step_size_up": 6}),
    "cyclic halving": (
        train.Cyclic(5, 9, peak=3.0, fade="halving"),
        "CyclicLR",
        {"base_lr": BASE, "max_lr": 3 * BASE, "step_size_up": 5, "step_size_down": 9, "mode": "triangular2"},
    ),
    "cyclic fading": (
        train.Cyclic(4, fade="exponential", factor=0.95),
        "CyclicLR",
        {"base_lr": BASE, "max_lr": 10 * BASE, "step_size_up": 4, "mode": "exp_range", "gamma": 0.95},
    ),
    "lambda": (train.Lambda(lambda step: 0.9**step), "LambdaLR", {"lr_lambda": lambda step: 0.9**step}),
}


def torch_rates(kind, settings, steps=STEPS):
    """Rates of a torch scheduler, one per step."""
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], BASE, momentum=0.9)
    built = (
        kind(optimizer) if inspect.isfunction(kind) else getattr(torch.optim.lr_scheduler, kind)(optimizer, **settings)
    )
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        built.step()
    return rates


def rates(subject, steps=STEPS):
    return [subject(step, BASE) for step in range(steps)]


@pytest.mark.parametrize("case", CASES)
def test_rates_match_torch(case):
    subject, kind, settings = CASES[case]
    assert rates(subject) == pytest.approx(torch_rates(kind, settings), rel=1e-9, abs=1e-12)


def combinations():
    """Combined schedules, and those of torch."""
    from torch.optim import lr_scheduler as T

    def warmed(optimizer):
        return T.SequentialLR(
            optimizer, [T.LinearLR(optimizer, 0.1, total_iters=10), T.ExponentialLR(optimizer, 0.9)], [10]
        )

    def rising(optimizer):
        rise = T.LinearLR(optimizer, 1e-12, total_iters=8)
        return T.SequentialLR(optimizer, [rise, T.CosineAnnealingLR(optimizer, 42)], [8])

    def in_turn(optimizer):
        parts = [T.ConstantLR(optimizer, 0.5, 3), T.StepLR(optimizer, 4), T.PolynomialLR(optimizer, 20)]
        return T.SequentialLR(optimizer, parts, [5, 17])

    def chained(optimizer):
        return T.ChainedScheduler([T.ExponentialLR(optimizer, 0.95), T.ConstantLR(optimizer, 0.1, 10)])

    exponential = train.ExponentialDecay(0.95)
    return {
        "warmup": (train.LinearWarmup(10, train.ExponentialDecay(0.9), start=0.1), warmed),
        "warmup cosine": (train.WarmupCosine(8, 50), rising),
        "sequential": (
            train.Sequential([train.Constant(0.5, 3), train.StepDecay(4), train.PolynomialDecay(20)], [5, 17]),
            in_turn,
        ),
        "chain": (train.Chain([exponential, train.Constant(0.1, 10)]), chained),
    }


@pytest.mark.parametrize("case", ["warmup", "warmup cosine", "sequential", "chain"])
def test_combinations_match_torch(case):
    subject, kind = combinations()[case]
    assert rates(subject) == pytest.approx(torch_rates(kind, {}), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("threshold", ["relative", "absolute"])
@pytest.mark.parametrize("patience", [0, 2])
def test_reduce_on_plateau_matches_torch(mode, threshold, patience):
    import random

    import torch

    draw = random.Random(patience)
    values = [draw.choice([1.0, 0.9, 0.5, 0.49999, 1.2, 0.2]) + draw.random() * 0.01 for _ in range(60)]
    ours = train.ReduceOnPlateau(
        mode=mode, factor=0.7, patience=patience, threshold=0.01, cooldown=2, smallest=0.02, threshold_mode=threshold
    )
    optimizer = torch.optim.SGD([torch.zeros(1)], BASE)
    words = {"relative": "rel", "absolute": "abs"}
    other = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, mode, 0.7, patience, 0.01, words[threshold], 2, 0.02, eps=0
    )
    copied = train.ReduceOnPlateau(**ours.settings())
    for i, value in enumerate(values):
        assert ours(i, BASE) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9)
        if i == 30:
            copied.load_state_dict(ours.state_dict())
        if i >= 30:
            assert copied(i, BASE) == ours(i, BASE)
            copied.observe(value)
        ours.observe(value)
        other.step(value)
    assert ours(60, BASE) < BASE


def test_schedules_without_a_counterpart_in_torch():
    noam = train.Noam(features=256, warmup=100)
    for step in (0, 50, 99, 100, 5000):
        n = step + 1
        assert noam(step, 2.0) == pytest.approx(2 * 256**-0.5 * min(n**-0.5, n * 100**-1.5))
    root = train.InverseSquareRoot(warmup=16)
    assert [root(s, 1.0) for s in (0, 8, 16, 64)] == pytest.approx([0, 0.5, 1.0, 0.5])
    assert train.ExponentialDecay(0.5, every=10)(5, 1.0) == pytest.approx(math.sqrt(0.5))
    assert train.PolynomialDecay(10, end=0.01)(5, BASE) == pytest.approx(0.055)
    assert train.CosineDecay(10, end=0.01)(25, BASE) == train.PolynomialDecay(10, end=0.01)(25, BASE) == 0.01
    assert train.OneCycle(10)(30, BASE) == pytest.approx(BASE / 25e4)


# -- plans


def test_length_defaults_to_that_of_the_training():
    plan = train.CosineDecay().plan(BASE, steps_per_epoch=10, epochs=5)
    assert [plan(s) for s in range(50)] == pytest.approx(rates(train.CosineDecay(50)))
    warmed = train.LinearWarmup(5, train.PolynomialDecay()).plan(BASE, 10, 5)
    assert [warmed(s) for s in range(5, 50)] == pytest.approx(rates(train.PolynomialDecay(45), 45))
    parts = train.Sequential([train.Constant(), train.CosineDecay()], [20]).plan(BASE, 10, 5)
    assert [parts(s) for s in range(20, 50)] == pytest.approx(rates(train.CosineDecay(30), 30))
    chain = train.Chain([train.Constant(), train.CosineDecay()]).plan(BASE, 10, 5)
    assert [chain(s) for s in range(50)] == pytest.approx(rates(train.CosineDecay(50)))
    with pytest.raises(ConfigError, match="CosineDecay wants steps when it is used without a Trainer"):
        train.CosineDecay()(0, BASE)


def test_unit_epoch():
    plan = train.StepDecay(2, 0.5, unit="epoch").plan(BASE, steps_per_epoch=10, epochs=5)
    assert [plan(s) for s in (0, 19, 20, 39, 40)] == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.025])
    cosine = train.CosineDecay(unit="epoch").plan(BASE, 10, 4)
    assert [cosine(s) for s in (9, 10, 29)] == pytest.approx([0.1, train.CosineDecay(4)(1, BASE), 0.05])


def test_reduce_on_plateau_observes_a_metric_per_plan():
    plateau = train.ReduceOnPlateau(patience=0, factor=0.5)
    plan = plateau.plan(BASE, 10, 5)
    for value in (1.0, 1.0):
        plan.observe({"loss": 0.0, "val_loss": value})
    assert plan(20) == pytest.approx(BASE / 2)
    assert plateau(20, BASE) == plateau.plan(BASE, 10, 5)(0) == BASE
    alone = plateau.plan(BASE, 10, 5)
    for value in (1.0, 1.0):
        alone.observe({"loss": value})
    assert alone(20) == pytest.approx(BASE / 2)
    with pytest.raises(ConfigError, match="ReduceOnPlateau monitors 'val_accuracy', the epoch has loss"):
        train.ReduceOnPlateau("val_accuracy").plan(BASE, 10, 5).observe({"loss": 1.0})
    train.Constant().plan(BASE, 10, 5).observe({"loss": 1.0})


# -- names and settings

NEEDED = {
    "multi_step": {"milestones": (3, 6)},
    "lambda": {"function": lambda step: 1.0},
    "sequential": {"schedules": [train.Constant(), train.Constant()], "milestones": [3]},
    "chain": {"schedules": [train.Constant()]},
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_by_name(name):
    cls = SCHEDULES[name]
    built = schedule(name, **NEEDED.get(cls.kind, {}))
    assert type(built) is cls
    plan = built.plan(BASE, 10, 5)
    assert all(0 <= plan(step) <= 10 * BASE for step in range(50))
    form = cls.schema()["schema"]["properties"]
    assert set(form) == set(built.settings())
    assert form["unit"]["enum"] == ["step", "epoch"]
    assert len(cls.schema()["summary"]) > 20
    with pytest.raises(ConfigError, match=f'{cls.__name__}: unit wants "step", "epoch", received "?\'?hour'):
        schedule(name, **NEEDED.get(cls.kind, {}), unit="hour")
    for key in NEEDED.get(cls.kind, {}):
        with pytest.raises(ConfigError, match=f"{cls.__name__} needs "):
            schedule(name, **{k: v for k, v in NEEDED[cls.kind].items() if k != key})


def test_invalid_schedules_raise():
    assert len({cls for cls in SCHEDULES.values()}) >= 12
    kept = train.StepDecay()
    assert schedule(kept) is kept
    assert schedule(lambda step: 0.5)(3, BASE) == BASE / 2
    assert schedule("multi_step", milestones=[2, 4]).milestones == (2, 4)
    with pytest.raises(ConfigError, match=r"schedule wants one of constant, .*received 'sinus'"):
        schedule("sinus")
    with pytest.raises(ConfigError, match=r"StepDecay has the settings .*, received 'gamma'"):
        schedule("step", gamma=0.1)
    with pytest.raises(ConfigError, match="StepDecay: every wants an integer at least 1, received 0"):
        train.StepDecay(0)
    with pytest.raises(ConfigError, match="MultiStep: milestones wants ascending numbers"):
        train.MultiStep((5, 3))
    with pytest.raises(
        ConfigError, match="Sequential: milestones wants ascending numbers, one between each two of 2 schedules"
    ):
        train.Sequential([train.Constant(), train.Constant()], [])
    with pytest.raises(ConfigError, match="LinearWarmup: then wants schedules, received 'cosine'"):
        train.LinearWarmup(3, "cosine")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Chain counts in steps, its StepDecay in epochs"):
        train.Chain([train.StepDecay(unit="epoch")])
    with pytest.raises(ConfigError, match="ReduceOnPlateau cannot be combined"):
        train.Chain([train.ReduceOnPlateau()])
    with pytest.raises(ConfigError, match="Lambda: function wants a function of the step, received 3"):
        train.Lambda(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-10.0, 0.0, 10.0, -1e-5])
@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("threshold_mode", ["relative", "absolute"])
def test_constant_value_is_no_improvement(value, mode, threshold_mode):
    plateau = ReduceOnPlateau("score", mode=mode, patience=2, threshold_mode=threshold_mode, threshold=1e-3)
    for _ in range(4):
        plateau.observe(value)
    assert plateau(0, 1.0) == pytest.approx(0.1)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_threshold_is_relative_to_the_size_of_negative_values(mode):
    sign = -1 if mode == "min" else 1
    for step, reductions in ((0.05, 1), (0.2, 0)):  # less and more than 1 % of 10
        plateau = ReduceOnPlateau("score", mode=mode, patience=1, threshold=0.01)
        for value in (-10.0, -10.0 + sign * step, -10.0 + sign * step):
            plateau.observe(value)
        assert plateau(0, 1.0) == pytest.approx(0.1**reductions)
