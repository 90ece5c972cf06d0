"""Progress display of a training: one line per minute in a log file, a bar in a terminal."""

import pytest

from labdl import train
from labdl.train import progress_bar

pytestmark = pytest.mark.sample(backends=1)


def test_log_has_one_line_per_minute(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress_bar, "_is_interactive", lambda: False)

    def events():
        yield train.Start(10, 100, 8, 800)
        for step in range(1, 1001):
            now[0] += 0.5  # 500 s in total
            yield train.Step(step, {"loss": 1 / step})
            if step % 100 == 0:
                yield train.Epoch(step // 100, step, {"loss": 0.5, "val_loss": 0.25}, 16.0)

    assert len(list(progress_bar.follow(events()))) == 1011
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 9
    assert lines[0].endswith(
        "step 120/1000  loss 0.0083  0:01:00 so far, 0:07:20 left  epoch 1/10: loss 0.5000  "
        "val_loss 0.2500  16 samples/s"
    )
    assert lines[-1].endswith(
        "ended at step 1000 after 0:08:20  epoch 10/10: loss 0.5000  val_loss 0.2500  16 samples/s"
    )


def test_terminal_shows_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, "_is_interactive", lambda: True)
    events = [train.Start(1, 1, 8, 8), train.Step(1, {"loss": 0.5}), train.Epoch(1, 1, {"loss": 0.5}, 16.0)]
    assert list(progress_bar.follow(iter(events))) == events
    out, err = capsys.readouterr()
    assert "Epoch 1/1  loss 0.5000  16 samples/s" in out
    assert "\r" in err
