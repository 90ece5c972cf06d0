"""Alert rules on curves; no framework is needed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ModelError
from labdl.train.events import Epoch, Throughput
from labdl.train.monitor.anomalies import BLOCK, Alerts
from labdl.train.monitor.noise import noise


def run_alerts(alerts, losses=(), epochs=(), every=20):
    """The alerts for losses of steps, checked every ``every`` steps, and for values of epochs."""
    found = []
    for step, loss in enumerate(losses, 1):
        alerts.losses.append(float(loss))
        if step % every == 0:
            found += alerts.check_losses(step)
    for number, values in enumerate(epochs, 1):
        found += alerts.check_event(Epoch(number, number * 10, {k: float(v) for k, v in values.items()}, 1.0))
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
def test_noisy_descent_of_steps_is_no_divergence(seed, noise_level, floor, scale, length, every):
    """Losses of batches with a relative deviation of up to one half and occasional spikes by a factor of 100."""
    draw = np.random.default_rng(seed)
    steps = np.arange(length)
    losses = scale * (np.exp(-steps / (length / 5)) + floor + 0.01) * np.exp(draw.normal(0, noise_level, length))
    losses[draw.random(length) < 0.01] *= 100
    losses[: 3 * BLOCK // 4] *= 30  # a start that is far worse than what follows
    assert kinds(run_alerts(Alerts(), losses, every=every)) == []


@settings(max_examples=150, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.02), scale=st.floats(1e-3, 1e3), gap=st.floats(1.0, 1.5))
def test_noisy_descent_of_epochs_is_neither_overfitting_nor_plateau(seed, level, scale, gap):
    """Both losses fall by at least 6 % in each epoch, with noise of up to 2 %."""
    draw = np.random.default_rng(seed)
    epochs = np.arange(35)
    curve = scale * np.exp(-epochs * 0.065)
    found = run_alerts(
        Alerts(),
        epochs=[
            {"loss": a * (1 + draw.normal(0, level)), "val_loss": a * gap * (1 + draw.normal(0, level))} for a in curve
        ],
    )
    assert kinds(found) == []


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.1), start=st.integers(100, 400))
def test_diverging_loss_raises_one_alert(seed, level, start):
    draw = np.random.default_rng(seed)
    good = 2.3 * np.exp(-np.arange(start) / 100)
    bad = good[-1] * np.exp(np.minimum(np.arange(200) / 20, 5))
    losses = np.concatenate([good, bad]) * (1 + draw.normal(0, level, start + 200))
    (found,) = run_alerts(Alerts(), losses)
    assert (found.alert, found.level) == ("divergence", "error")
    assert start < found.step <= start + 160
    assert found.message.startswith("The training loss has risen to ")
    assert "its best was " in found.message
    assert "smaller learning rate" in found.message


def test_loss_that_only_rises_diverges_and_a_second_divergence_raises_a_second_alert():
    up = np.exp(np.arange(200) / 20)
    assert kinds(run_alerts(Alerts(), up)) == ["divergence"]
    wave = np.concatenate([np.full(100, 1.0), np.full(100, 9.0), np.full(100, 1.0), np.full(100, 9.0)])
    assert kinds(run_alerts(Alerts(), wave)) == ["divergence"] * 2


def test_negative_losses_are_checked():
    down = -np.linspace(0, 50, 400)
    assert kinds(run_alerts(Alerts(), down)) == []
    assert kinds(run_alerts(Alerts(), np.concatenate([down, np.full(100, 200.0)]))) == ["divergence"]


def curves(train, val):
    return [{"loss": a, "val_loss": b} for a, b in zip(train, val, strict=True)]


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.01))
def test_rising_validation_loss_is_overfitting(seed, level):
    draw, epochs = np.random.default_rng(seed), np.arange(30)
    train = np.exp(-epochs / 8) * (1 + draw.normal(0, level, 30))
    val = (0.5 + np.square((epochs - 8) / 20)) * (1 + draw.normal(0, level, 30))
    found = run_alerts(Alerts(), epochs=curves(train, val))
    assert kinds(found) == ["overfitting"]
    assert 10 <= found[0].step / 10 <= 25
    assert "The validation loss has risen from 0." in found[0].message
    assert "Early stopping" in found[0].message


def test_rise_of_both_losses_is_not_overfitting():
    val = 0.5 + np.square((np.arange(30) - 8) / 20)
    assert "overfitting" not in kinds(run_alerts(Alerts(), epochs=curves(val, val)))


@settings(max_examples=100, deadline=None)
@given(seed=seeds, level=st.floats(0, 0.05), at=st.floats(0.3, 1.0))
def test_constant_loss_is_a_plateau(seed, level, at):
    draw = np.random.default_rng(seed)
    curve = np.concatenate([np.linspace(1, at, 5), np.full(60, at)]) * (1 + draw.normal(0, level, 65))
    found = run_alerts(Alerts(), epochs=[{"loss": v} for v in curve])
    assert kinds(found)[:1] == ["plateau"]
    assert found[0].message.startswith("The training loss has not improved over the last 1")


def test_converged_loss_is_no_plateau():
    curve = 2.3 * np.exp(-np.arange(100) / 5) + 0.1
    assert kinds(run_alerts(Alerts(), epochs=curves(curve, curve))) == []


def test_second_plateau_raises_a_second_alert():
    curve = [1.0] * 20 + [0.9, 0.8, 0.7, 0.6, 0.5] + [0.5] * 20
    found = run_alerts(Alerts(), epochs=curves(curve, curve))
    assert kinds(found) == ["plateau"] * 2
    assert "The validation loss has not improved over the last 10 epochs: it stays at 1." in found[0].message


def test_rules_keep_a_bounded_number_of_values():
    alerts = Alerts()
    run_alerts(alerts, epochs=curves(np.geomspace(1, 1e-3, 3000), np.geomspace(1, 1e-3, 3000)))
    assert max(map(len, alerts.plateau.curves.values())) == len(alerts.overfitting.val) == 100


# -- waiting for data, and values that are not finite


def run_throughput(alerts, *shares, seconds=0.5):
    found = []
    for n, share in enumerate(shares):
        found += alerts.check_event(
            Throughput(n, 5, 160, seconds * share, seconds * (1 - share) / 2, seconds * (1 - share) / 2)
        )
    return found


def test_waiting_for_data_raises_starvation():
    alerts = Alerts()
    assert run_throughput(alerts, 0.9, *[0.2] * 20) == [], "the first step fills caches"
    (found,) = run_throughput(alerts, *[0.5] * 20)
    assert (found.alert, found.level) == ("starvation", "warning")
    assert "of the time of the last 3 s was spent waiting for data" in found.message
    assert run_throughput(alerts, *[0.1] * 20) == []
    assert kinds(run_throughput(alerts, *[0.5] * 20)) == ["starvation"], "the alert was cleared in between"


def test_short_wait_raises_no_alert():
    assert run_throughput(Alerts(), 0, *[0.1] * 10, 0.9, *[0.1] * 10) == []


def test_metric_that_becomes_nan_raises_an_alert_but_not_one_that_was_never_finite():
    nan = math.nan
    found = run_alerts(
        Alerts(),
        epochs=[
            {"loss": 1, "auc": nan, "val_f1": 1},
            {"loss": 1, "auc": nan, "val_f1": nan},
            {"loss": 1, "auc": nan, "val_f1": nan},
        ],
    )
    assert [(a.alert, a.level, a.step) for a in found] == [("not_finite", "error", 20)]
    assert found[0].message.startswith("No longer finite after epoch 2: val_f1. ")


def test_only_errors_with_a_place_raise_an_alert():
    error = ModelError("the output of log has NaN")
    assert list(Alerts().check_error(error, 3)) == []
    error.place = {"node": "log", "what": "output"}
    (found,) = Alerts().check_error(error, 3)
    assert (found.alert, found.level, found.step, found.message) == ("not_finite", "error", 3, str(error))


def test_noise_is_measured_around_a_trend():
    draw = np.random.default_rng(0)
    curve = np.linspace(5, 1, 400) + draw.normal(0, 0.1, 400)
    assert noise(curve) == pytest.approx(0.1, rel=0.15)
    assert noise([1.0]) == noise([]) == 0
