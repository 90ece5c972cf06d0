"""Alerts for a loss that explodes, never falls or stays at the level of chance; no framework is needed.

What holds of noise holds in nearly all cases: the examples are the same in each run.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labdl.train.events import Epoch
from labdl.train.monitor.alert_texts import TEXTS, AlertText
from labdl.train.monitor.anomalies import Alerts
from labdl.train.monitor.chance import Chance
from labdl.train.monitor.loss_series import MEANS, LossSeries

RATE = 0.1


def run_alerts(
    losses, *, epochs=4, chance=None, accuracy=None, validation=None, every=7, ended=True, batch_size=16, **options
):
    """The alerts of a training with these losses, read every few steps, and judged after each epoch and at the end."""
    alerts, found = Alerts(batch_size=batch_size, **options), []
    ends = {len(losses) * epoch // epochs: epoch for epoch in range(1, epochs + 1)}
    begin = 0
    for step, loss in enumerate(map(float, losses), 1):
        alerts.losses.append(loss)
        if step % every == 0:
            found += alerts.check_losses(step)
        if step in ends:
            values = {"loss": float(np.mean(losses[begin:step]))} | ({} if accuracy is None else {"accuracy": accuracy})
            values |= {} if validation is None else {"val_loss": validation[ends[step] - 1]}
            begin = step
            found += alerts.check_event(Epoch(ends[step], step, values, 1.0))
            found += alerts.check_learning(step, chance, RATE, epoch=ends[step])
    if ended:
        found += alerts.check_losses(len(losses))
        found += alerts.check_learning(len(losses), chance, RATE, ended=True)
    return found


def kinds(found):
    return [alert.alert for alert in found]


seeds = st.integers(0, 10_000)
TEN = Chance(10, math.log(10), math.log(10), 0.1)


# -- explosion


@pytest.mark.parametrize("losses", [[2.3, 2e23], [2.3, 2.4, 8e5], [2.3, 300.0, 2e5, 1e6], [2.3, 50.0, 1e4, 1e5]])
def test_loss_that_explodes_within_a_few_steps_raises_divergence(losses):
    (found,) = run_alerts(losses, epochs=1)
    assert (found.alert, found.level) == ("divergence", "error")
    assert found.message.startswith("The training loss grew from 2.3 to ")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=seeds, scale=st.floats(1, 1e6), factor=st.floats(34, 1e6), count=st.integers(0, 40), level=st.floats(0, 0.3)
)
def test_loss_that_stays_orders_of_magnitude_above_the_first_raises_divergence(seed, scale, factor, count, level):
    draw = np.random.default_rng(seed)
    curve = scale * np.concatenate([np.ones(count + 1), np.full(30, factor)])
    found = run_alerts(curve * np.exp(draw.normal(0, level, len(curve)).clip(-0.6, 0.6)), epochs=1)
    assert kinds(found) == ["divergence"]
    assert count < found[0].step


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    seed=seeds,
    batch_size=st.sampled_from([1, 4, 16]),
    scale=st.floats(1e-3, 1e6),
    length=st.integers(2, 400),
    floor=st.floats(0, 0.5),
)
def test_learning_from_squared_errors_of_any_batch_size_is_healthy(seed, batch_size, scale, length, floor):
    """The mean of squared normal errors, whose variance falls to a tenth, or to the floor, within the training."""
    draw = np.random.default_rng(seed)
    variance = scale * (np.exp(-np.arange(length) / length * 5) + floor)
    losses = variance * np.square(draw.normal(size=(batch_size, length))).mean(0)
    losses[0] = max(losses[0], 1e-3 * scale)  # else one run of a thousand starts with a sample that happens to fit
    assert kinds(run_alerts(losses, batch_size=batch_size)) == []


def test_single_spike_is_no_divergence():
    losses = np.linspace(2.3, 0.5, 200)
    losses[[50, 100]] *= 1e5
    assert kinds(run_alerts(losses)) == []


@pytest.mark.parametrize("validation", [[2.5e25], [2.4, 2.5, 2.5e7], [1.0, 3e4, 4e4, 5e4]])
def test_validation_loss_that_explodes_raises_divergence(validation):
    losses = np.linspace(2.3, 2.0, len(validation))
    (found,) = run_alerts(losses, epochs=len(validation), validation=validation)
    assert (found.alert, found.level) == ("divergence", "error")
    assert found.message.startswith("The validation loss is ")


def test_high_validation_loss_and_a_single_bad_validation_are_no_explosion():
    """Batch normalization may begin with validation losses that are far too high."""
    losses = np.linspace(2.3, 1.0, 60)
    for validation in [500.0] * 3, [5e4, 2.3, 2.0], [2.3, 1e5, 2.0]:
        assert "divergence" not in kinds(run_alerts(losses, epochs=3, validation=validation))
    assert kinds(run_alerts(losses, epochs=1, validation=[1e9], adversarial=True)) == []


# -- a loss that never falls


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=seeds,
    scale=st.floats(1e-3, 1e6),
    level=st.floats(0, 0.001),  # with more noise, a gain of half a percent may seem to be there
    length=st.integers(60, 3000),
    slope=st.floats(0, 1),
)
def test_loss_that_never_falls_raises_one_alert(seed, scale, level, length, slope):
    draw = np.random.default_rng(seed)
    losses = scale * (1 + slope * np.arange(length) / length) * (1 + draw.normal(0, level, length))
    (alert,) = [alert for alert in run_alerts(losses) if alert.alert == "no_progress"]
    assert "has not fallen since the start" in alert.message
    assert "learning rate of 0.1" in alert.message


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=seeds,
    scale=st.floats(1e-3, 1e6),
    level=st.floats(0, 0.5),
    length=st.integers(2, 3000),
    speed=st.floats(1, 200),
    fall=st.floats(0.1, 0.99),
)
def test_loss_that_falls_at_any_speed_raises_no_alert(seed, scale, level, length, speed, fall):
    """From a fall over the whole training to one within its first steps."""
    draw = np.random.default_rng(seed)
    speed = min(speed, length / 4)
    curve = 1 - fall + fall * np.exp(-np.arange(length) / length * speed)
    gains = [(n, curve[:n].mean() - curve[length // 2 :].mean()) for n in (1, 2, 4, 8, 16, 32, length // 2)]
    shortest = 1 + length // MEANS  # steps of one mean
    # else the noise hides it
    assume(any(n >= shortest and gain > 7 * level * math.sqrt(1 / n + 2 / length) for n, gain in gains))
    losses = scale * curve * np.exp(draw.normal(0, level, length).clip(-3 * level, 3 * level))
    assert kinds(run_alerts(losses)) == []


def test_short_adversarial_or_resumed_training_is_not_judged():
    flat = [1.0] * 200
    assert kinds(run_alerts(flat[:20])) == []
    assert kinds(run_alerts(flat, adversarial=True)) == []
    assert kinds(run_alerts(flat, resumed=True)) == []
    assert kinds(run_alerts(flat)) == ["no_progress"]


def test_a_training_in_progress_is_judged_after_three_epochs():
    (found,) = run_alerts([1.0] * 400, ended=False)
    assert (found.alert, found.step) == ("no_progress", 300)


@pytest.mark.parametrize("steps", [8, 40])
def test_equal_means_of_three_epochs_raise_no_progress(steps):
    """Each epoch has the same samples in another order, so that only the means of batches differ."""
    draw, samples = np.random.default_rng(0), np.random.default_rng(1).exponential(size=(steps, 16))
    losses = np.concatenate([draw.permutation(samples.reshape(-1)).reshape(steps, 16).mean(1) for _ in range(10)])
    (found,) = run_alerts(losses, epochs=10)
    assert (found.alert, found.step) == ("no_progress", 3 * steps)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=seeds,
    scale=st.floats(1e-3, 1e6),
    level=st.floats(0, 1),
    steps=st.integers(1, 30),
    fall=st.floats(1e-4, 0.5),
    warmup=st.booleans(),
)
def test_slow_descent_with_the_same_samples_in_each_epoch_raises_no_early_alert(
    seed, scale, level, steps, fall, warmup
):
    """A fall by a ten-thousandth to a half over forty epochs, of which the first ones may be slower."""
    draw, epochs = np.random.default_rng(seed), 40
    samples = np.exp(draw.normal(0, level, steps))
    samples /= samples.mean()
    batches = np.concatenate([draw.permutation(samples) for _ in range(epochs)])
    time = np.arange(1, epochs * steps + 1) / (epochs * steps)
    losses = scale * (1 - fall * time ** (1.2 if warmup else 1.0)) * batches
    alerts = run_alerts(losses[: 12 * steps], epochs=12, ended=False)
    assert not [alert for alert in alerts if alert.alert == "no_progress" and 12 * steps < 100]


# -- chance


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=seeds, level=st.floats(0, 0.03), length=st.integers(120, 2000), start=st.floats(1.2, 30))
def test_loss_that_settles_at_chance_raises_an_alert(seed, level, length, start):
    draw = np.random.default_rng(seed)
    curve = 2.3026 * (1 + (start - 1) * np.exp(-np.arange(length) / length * 40))
    found = run_alerts(curve * (1 + draw.normal(0, level, length)), chance=TEN, accuracy=0.11)
    assert kinds(found) == ["chance_level"]
    assert "2.303 for these 10 classes" in found[0].message


def test_better_predictions_a_lower_loss_or_one_that_falls_is_not_chance():
    flat, falling = np.full(200, 2.3), np.linspace(2.4, 2.25, 200)
    assert kinds(run_alerts(flat, chance=TEN, accuracy=0.1)) == ["chance_level"]
    assert "chance_level" not in kinds(run_alerts(flat, chance=TEN, accuracy=0.6))
    assert "chance_level" not in kinds(run_alerts(flat * 0.8, chance=TEN))
    assert kinds(run_alerts(falling, chance=TEN)) == []
    assert "chance_level" not in kinds(run_alerts(flat))


@pytest.mark.parametrize(
    ("end", "accuracy", "expected"),
    [(2.31, 0.11, ["chance_level"]), (2.31, 0.2, []), (2.31, None, []), (2.2, 0.11, [])],
)
def test_training_that_ends_at_chance_raises_an_alert_only_with_the_accuracy_of_chance(end, accuracy, expected):
    """Where the loss is still coming down to the level of chance."""
    losses = np.concatenate([np.linspace(3.5, end, 150), np.full(50, end)])
    assert kinds(run_alerts(losses, chance=TEN, accuracy=accuracy)) == expected
    assert kinds(run_alerts(losses, chance=TEN, accuracy=accuracy, ended=False)) == []


def test_unequal_classes_have_a_lower_level_of_chance():
    rare = Chance(2, 0.3251, math.log(2), 0.9)  # of shares 0.9 and 0.1
    assert kinds(run_alerts(np.full(200, 0.325), chance=rare, accuracy=0.9)) == ["chance_level"]
    assert kinds(run_alerts(np.full(200, 0.69), chance=rare)) == ["chance_level"], "equal scores for both"


# -- the means of losses, and texts


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=1500))
def test_loss_series_are_bounded_means_of_equal_parts(losses):
    series = LossSeries()
    for loss in losses:
        series.add(loss)
    count = len(series.means)
    assert series.steps == len(losses)
    assert count < MEANS
    assert len(losses) - count * series.size < series.size
    expected = np.array(losses[: count * series.size]).reshape(count, series.size).mean(1)
    np.testing.assert_allclose(series.means, expected, atol=1e-6)


def test_every_alert_has_the_template_of_its_message():
    (found,) = run_alerts([1.0] * 200)
    assert found.template == TEXTS["no_progress"]
    assert found.message == str(AlertText(found.template, found.values))
