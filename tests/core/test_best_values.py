"""The best value of each metric."""

from run_files import epoch, start

from labdl.runs.reading.best import BestValues
from labdl.runs.schema import parse


def best_of(*events):
    values = BestValues()
    for event in events:
        values.update(parse(event))
    return values.to_dict()


def test_direction_comes_from_the_start_event():
    assert best_of(
        start(metrics=["accuracy", "error", "odd"], higher=["accuracy"], lower=["error"]),
        epoch(1, 10, loss=2.0, val_loss=3.0, accuracy=0.5, error=1.0, odd=1.0),
        epoch(2, 20, loss=1.0, val_loss=4.0, accuracy=0.9, error=2.0, odd=2.0),
        epoch(3, 30, loss=None, val_loss=5.0, accuracy=0.7, error=1.0, odd=0.0),
    ) == {
        "loss": {"value": 1.0, "epoch": 2},
        "val_loss": {"value": 3.0, "epoch": 1},
        "accuracy": {"value": 0.9, "epoch": 2},
        "error": {"value": 1.0, "epoch": 1},
    }


def test_resumed_run_forgets_later_epochs():
    epochs = [epoch(number, 10 * number, loss=1 / number) for number in range(1, 4)]
    assert best_of(start(), *epochs, start(step=20)) == {"loss": {"value": 0.5, "epoch": 2}}
    assert best_of(start(), *epochs, start(step=0)) == {}
