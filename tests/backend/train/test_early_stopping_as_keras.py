"""Early stopping ends at the epoch at which that of Keras ends, with the same best epoch."""

import numpy as np
import pytest

from labdl.train import EarlyStopping, Epoch

pytestmark = [pytest.mark.sample(backends=["tensorflow"]), pytest.mark.backends("tensorflow")]


class Ended:
    """The part of a Keras model that its callback uses."""

    stop_training = False

    def get_weights(self):
        return []

    def set_weights(self, weights):
        pass


@pytest.mark.parametrize("seed", range(40))
def test_sequences(backend, seed):
    import keras

    draws = np.random.default_rng(seed)
    values = draws.normal(size=30).cumsum().round(1) - 0.1 * np.arange(30)
    mode, settings = (
        draws.choice(["min", "max"]),
        {
            "patience": int(draws.integers(0, 5)),
            "min_delta": float(draws.choice([0.0, 0.3])),
            "start_from_epoch": int(draws.integers(0, 6)),
            "baseline": draws.choice([None, -2.0, 0.0, 2.0]),
        },
    )
    theirs = keras.callbacks.EarlyStopping("loss", mode=mode, restore_best_weights=True, **settings)
    theirs.set_model(Ended())
    theirs.on_train_begin()
    ours = EarlyStopping("loss", mode=str(mode), **settings)
    for epoch, value in enumerate(values):
        theirs.on_epoch_end(epoch, {"loss": value})
        assert ours(Epoch(epoch + 1, epoch, {"loss": float(value)}, 1.0)) == theirs.model.stop_training, epoch
        if theirs.model.stop_training:
            break
    assert (ours.best, ours.best_epoch) == (theirs.best, theirs.best_epoch + 1)


def test_threshold(backend):
    """`stopping_threshold` as in Lightning: the training ends when the value is there."""
    stopping = EarlyStopping("accuracy", patience=9, stopping_threshold=0.9)
    assert [stopping(Epoch(at, at, {"accuracy": value}, 1.0)) for at, value in enumerate([0.5, 0.89, 0.9], 1)] == [
        False,
        False,
        True,
    ]
