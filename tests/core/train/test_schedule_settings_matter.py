"""Two values of a schedule's setting give other learning rates in some training, or it stands in a list with its reason."""

import dataclasses
import typing

import pytest
from variations import literals, variations

from labdl import train
from labdl.errors import ConfigError
from labdl.settings import form_fields
from labdl.train import SCHEDULES

EPOCHS, STEPS = 8, 5
LOSSES = (10.0, 9.0, 8.95, 8.94, 9.5, 9.5, 9.5, 9.5)  # at the ends of the epochs
SHORT = {
    "Constant": train.Constant(0.5, 6),
    "StepDecay": train.StepDecay(every=3),
    "MultiStep": train.MultiStep((3, 6)),
    "WarmupCosine": train.WarmupCosine(warmup=4),
    "InverseSquareRoot": train.InverseSquareRoot(warmup=3),
    "Noam": train.Noam(features=16, warmup=3),
    "LinearWarmup": train.LinearWarmup(4, train.CosineDecay()),
    "Sequential": train.Sequential([train.Constant(0.5), train.CosineDecay()], [4]),
    "Chain": train.Chain([train.Constant(0.5, 6), train.ExponentialDecay()]),
    "Lambda": train.Lambda(lambda step: 1 / (1 + step)),
    "ReduceOnPlateau": train.ReduceOnPlateau(patience=1, threshold=0.01, mode="min"),
    "CosineRestarts": train.CosineRestarts(first=4),
    "Cyclic": train.Cyclic(up=3, fade="exponential", factor=0.9),
}
KINDS = {cls.__name__: cls for cls in SCHEDULES.values()}
PARTS = "the schedules within have to count alike"
REASONS = {
    **{(kind, "unit"): PARTS for kind in ("LinearWarmup", "Sequential", "Chain")},
    ("ReduceOnPlateau", "unit"): "its patience counts epochs, at whose end the metric is known",
}
OTHERS = {("ReduceOnPlateau", "metric"): ["loss"]}  # values that another setting would refuse


def rates(schedule) -> list[float]:
    """The learning rates of a short training."""
    plan = schedule.plan(0.1, STEPS, EPOCHS)
    values = []
    for epoch, loss in enumerate(LOSSES):
        values += [plan(epoch * STEPS + step) for step in range(STEPS)]
        plan.observe({"val_loss": loss, "loss": 1 + epoch})
    return values


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_of_a_schedule_changes_the_rates(kind):
    schedule = SHORT.get(kind) or KINDS[kind]()
    hints = typing.get_type_hints(type(schedule), include_extras=True)
    for name in form_fields(type(schedule)):
        if (kind, name) in REASONS:
            continue
        others = []
        for value in (*OTHERS.get((kind, name), ()), *variations(getattr(schedule, name), literals(hints[name]))):
            try:
                others.append(rates(dataclasses.replace(schedule, **{name: value})))
            except Exception:  # most values are refused, each by an error of its own
                continue
        expected = rates(schedule)
        assert any(other != expected for other in others), f"{kind}: {name} changes nothing"


def test_lists_name_settings_that_exist():
    settings = {(kind, name) for kind, cls in KINDS.items() for name in form_fields(cls)}
    assert settings >= REASONS.keys() | OTHERS.keys()
    assert KINDS.keys() >= SHORT.keys()


@pytest.mark.parametrize("build", [train.Chain, lambda schedules: train.Sequential(schedules, [])])
@pytest.mark.parametrize("value", [5, [], [0.1], None])
def test_a_list_of_schedules_is_wanted(build, value):
    with pytest.raises(ConfigError, match="schedules wants"):
        build(value)
