"""Faults that were reported for dashboards of other tools, tried on the curves and records here.

| source | subject | here |
|---|---|---|
| tensorflow/tensorboard#786, #1224, #1496 | spikes in the average of a constant | exact |
| tensorflow/tensorboard#1518 | the average depends on how many values follow | on those before it alone |
| tensorflow/tensorflow#6439 | the last value counts more than the others | by its share |
| tensorflow/tensorboard#6829 | averages are computed of a part of the values | of all; the picture is reduced afterwards |
| tensorflow/tensorboard#1127 | the average of two values differs from them | within their range |
| tensorflow/tensorboard#183 | without an average columns are shifted | one value for each step |
| wandb/wandb#1040, #4482, #6728 | a resumed run has steps twice | test_events_after_the_resumed_step_are_dropped |
| wandb/wandb#3229, willisma/SiT#7 | a second training goes on counting | test_restarted_run_replaces_the_previous_one |
| wandb/wandb#11259 | values stop although the training goes on | test_failed_writes_are_retried_and_reported |
| NVIDIA-NeMo/Speech#12290 | values of the validation have steps of their own | steps are updates, for all values |
"""

import numpy as np

from labdl.runs.curves.smoothing import moving_average


def test_the_average_of_a_constant_is_the_constant():
    for value in (1e-4, 0.1, -3e20, 0.0):
        np.testing.assert_allclose(moving_average(np.full(10_000, value)), value, rtol=1e-12)


def test_the_average_knows_nothing_of_what_follows():
    values = -np.log1p(np.arange(30_000)) + np.random.default_rng(0).normal(size=30_000)
    whole = moving_average(values)
    for length in (1, 2, 10, 4096, 4097, 20_000):
        np.testing.assert_allclose(moving_average(values[:length]), whole[:length], rtol=1e-9)


def test_an_outlier_at_the_end_moves_the_average_by_its_share():
    values = np.zeros(2_000)
    values[-1] = 1.0
    assert 0 < moving_average(values)[-1] < 0.02


def test_two_values():
    first, second = moving_average(np.array([1.0, 3.0]))
    assert first == 1
    assert 1 < second < 3
