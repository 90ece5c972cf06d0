"""What is alarming in curves, and what is not: nothing of this needs a framework."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ModelError
from labdl.train.events import Epoch, Pace
from labdl.train.monitor.anomalies import BLOCK, Alerts, noise


def heard(alerts, losses=(), epochs=(), every=20):
    """What alerts say of the losses of steps, judged every so often, and of the figures of epochs."""
    found = []
    for step, loss in enumerate(losses, 1):
        alerts.losses.append(float(loss))
        if step % every == 0:
            found += alerts.judge(step)
    for number, values in enumerate(epochs, 1):
        found += alerts.hear(Epoch(number, number * 10, {k: float(v) for k, v in values.items()}, 1.0))
    return found


def kinds(found):
    return [a.alert for a in found]


seeds = st.integers(0, 10_000)


@settings(max_examples=150, deadline=None)
@given(
    seed=seeds,
    noise_level=st.floats(0, 0.5),
    floor=st.floats(0, 0.5),
    scale=st.floats(1e-3, 1e3),
    length=st.integers(200, 3000),
    every=st.integers(BLOCK, 200),
)
def test_a_good_noisy_descent_of_steps_is_no_divergence(seed, noise_level, floor, scale, length, every):
    """Losses of batches whose deviation is up to half of what they are about, with a spike of a hundred times now and then."""
    draw = np.random.default_rng(seed)
    steps = np.arange(length)
    losses = scale * (np.exp(-steps / (length / 5)) + floor + 0.01) * np.exp(draw.normal(0, noise_level, length))
    losses[draw.random(length) < 0.01] *= 100
    losses[: 3 * BLOCK // 4] *= 30  # a start that is far worse than what follows
    assert kinds(heard(Alerts(), losses, every=every)) == []


@settings(max_examples=150, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.02), scale=st.floats(1e-3, 1e3), gap=st.floats(1.0, 1.5))
def test_a_good_noisy_descent_of_epochs_is_neither_overfitting_nor_a_plateau(seed, level, scale, gap):
    """Both losses fall by at least 6 % in each epoch, with noise of up to 2 %."""
    draw = np.random.default_rng(seed)
    epochs = np.arange(35)
    curve = scale * np.exp(-epochs * 0.065)
    found = heard(
        Alerts(),
        epochs=[
            {"loss": a * (1 + draw.normal(0, level)), "val_loss": a * gap * (1 + draw.normal(0, level))} for a in curve
        ],
    )
    assert kinds(found) == []


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.1), start=st.integers(100, 400))
def test_a_training_that_runs_away_is_a_divergence_once(seed, level, start):
    draw = np.random.default_rng(seed)
    good = 2.3 * np.exp(-np.arange(start) / 100)
    bad = good[-1] * np.exp(np.minimum(np.arange(200) / 20, 5))
    losses = np.concatenate([good, bad]) * (1 + draw.normal(0, level, start + 200))
    (found,) = heard(Alerts(), losses)
    assert (found.alert, found.level) == ("divergence", "error")
    assert start < found.step <= start + 160
    assert found.message.startswith("The training loss has risen to ")
    assert "its best was " in found.message
    assert "smaller learning rate" in found.message


def test_one_that_never_learned_diverges_too_and_one_that_comes_back_may_diverge_again():
    up = np.exp(np.arange(200) / 20)
    assert kinds(heard(Alerts(), up)) == ["divergence"]
    wave = np.concatenate([np.full(100, 1.0), np.full(100, 9.0), np.full(100, 1.0), np.full(100, 9.0)])
    assert kinds(heard(Alerts(), wave)) == ["divergence"] * 2


def test_losses_below_zero_are_judged_as_well():
    down = -np.linspace(0, 50, 400)
    assert kinds(heard(Alerts(), down)) == []
    assert kinds(heard(Alerts(), np.concatenate([down, np.full(100, 200.0)]))) == ["divergence"]


def curves(train, val):
    return [{"loss": a, "val_loss": b} for a, b in zip(train, val, strict=True)]


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.01))
def test_a_validation_loss_that_rises_behind_its_best_is_overfitting(seed, level):
    draw, epochs = np.random.default_rng(seed), np.arange(30)
    train = np.exp(-epochs / 8) * (1 + draw.normal(0, level, 30))
    val = (0.5 + np.square((epochs - 8) / 20)) * (1 + draw.normal(0, level, 30))
    found = heard(Alerts(), epochs=curves(train, val))
    assert kinds(found) == ["overfitting"]
    assert 10 <= found[0].step / 10 <= 25
    assert "The validation loss has risen from 0." in found[0].message
    assert "Early stopping" in found[0].message


def test_a_rise_of_both_losses_is_not_overfitting():
    val = 0.5 + np.square((np.arange(30) - 8) / 20)
    assert "overfitting" not in kinds(heard(Alerts(), epochs=curves(val, val)))


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.05), at=st.floats(0.3, 1.0))
def test_a_loss_that_stays_is_a_plateau(seed, level, at):
    draw = np.random.default_rng(seed)
    curve = np.concatenate([np.linspace(1, at, 5), np.full(60, at)]) * (1 + draw.normal(0, level, 65))
    found = heard(Alerts(), epochs=[{"loss": v} for v in curve])
    assert kinds(found)[:1] == ["plateau"]
    assert found[0].message.startswith("The training loss has not improved over the last 1")


def test_the_end_of_a_good_convergence_is_no_plateau():
    curve = 2.3 * np.exp(-np.arange(100) / 5) + 0.1
    assert kinds(heard(Alerts(), epochs=curves(curve, curve))) == []


def test_a_plateau_that_was_left_is_told_again():
    curve = [1.0] * 20 + [0.9, 0.8, 0.7, 0.6, 0.5] + [0.5] * 20
    found = heard(Alerts(), epochs=curves(curve, curve))
    assert kinds(found) == ["plateau"] * 2
    assert "The validation loss has not improved over the last 10 epochs: it stays at 1." in found[0].message


def test_a_long_training_is_judged_in_a_time_that_does_not_grow():
    alerts = Alerts()
    heard(alerts, epochs=curves(np.geomspace(1, 1e-3, 3000), np.geomspace(1, 1e-3, 3000)))
    assert max(map(len, alerts.plateau.curves.values())) == len(alerts.overfitting.val) == 100


# -- data, and numbers that are not finite


def paces(alerts, *shares, seconds=0.5):
    found = []
    for n, share in enumerate(shares):
        found += alerts.hear(Pace(n, 5, 160, seconds * share, seconds * (1 - share) / 2, seconds * (1 - share) / 2))
    return found


def test_a_training_that_waits_for_its_data_starves():
    alerts = Alerts()
    assert paces(alerts, 0.9, *[0.2] * 20) == [], "the first step fills caches"
    (found,) = paces(alerts, *[0.5] * 20)
    assert (found.alert, found.level) == ("starvation", "warning")
    assert "of the time of the last 3 s was spent on waiting for data" in found.message
    assert paces(alerts, *[0.1] * 20) == []
    assert kinds(paces(alerts, *[0.5] * 20)) == ["starvation"], "it has come back"


def test_a_short_wait_is_none():
    assert paces(Alerts(), 0, *[0.1] * 10, 0.9, *[0.1] * 10) == []


def test_figures_that_become_nan_are_told_and_those_that_were_never_finite_are_not():
    nan = math.nan
    found = heard(
        Alerts(),
        epochs=[
            {"loss": 1, "auc": nan, "val_f1": 1},
            {"loss": 1, "auc": nan, "val_f1": nan},
            {"loss": 1, "auc": nan, "val_f1": nan},
        ],
    )
    assert [(a.alert, a.level, a.step) for a in found] == [("not_finite", "error", 20)]
    assert found[0].message.startswith("val_f1 is not finite any more after epoch 2: ")


def test_an_error_with_a_place_is_an_alert_and_another_is_none():
    error = ModelError("the output of log has NaN")
    assert list(Alerts().failed(error, 3)) == []
    error.place = {"node": "log", "what": "output"}
    (found,) = Alerts().failed(error, 3)
    assert (found.alert, found.level, found.step, found.message) == ("not_finite", "error", 3, str(error))


def test_noise_is_that_around_a_trend():
    draw = np.random.default_rng(0)
    curve = np.linspace(5, 1, 400) + draw.normal(0, 0.1, 400)
    assert noise(curve) == pytest.approx(0.1, rel=0.15)
    assert noise([1.0]) == noise([]) == 0
