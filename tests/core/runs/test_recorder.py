"""Event writer of a run: order and completeness for all readers, also when the writer is killed."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ConfigError
from labdl.runs.folder import LiveStatus
from labdl.runs.listing.listing import list_runs
from labdl.runs.reading.event_file import EVENTS, EventReader, decode, encode, read_events
from labdl.train.run import event_writer as recording
from labdl.train.run.event_writer import Recorder

happenings = st.lists(st.sampled_from(["step", "later", "event", "flush"]), max_size=30)
losses = st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(-1, 1)), min_size=30, max_size=30)


def same(loss: float) -> float:
    """What came from float32 is written with as many digits as it takes to be the same float32 again."""
    with np.errstate(over="ignore"):
        short = float(np.float32(loss))
    return short if math.isfinite(short) else loss


def unrolled(events) -> list[tuple]:
    """A row for each step and for each other event, in order."""
    rows = []
    for event in events:
        if event["kind"] == "steps":
            rows += [
                ("step", step, None if loss is None or not math.isfinite(loss) else same(loss))
                for step, loss in zip(event["step"], event["loss"], strict=True)
            ]
        else:
            rows.append((event["kind"], event["number"]))
    return rows


@settings(max_examples=25, deadline=None)
@given(happenings, losses)
def test_the_file_and_a_listener_have_everything_in_order(tmp_path_factory, happenings, losses):
    folder, heard, expected = tmp_path_factory.mktemp("run"), [], []
    recorder = Recorder(folder)
    recorder.subscribe(heard.extend)
    for number, (what, loss) in enumerate(zip(happenings, losses, strict=False)):
        if what == "step":
            recorder.add_step(number, {"loss": loss})
            expected.append(("step", number, same(loss) if math.isfinite(loss) else None))
        elif what == "flush":
            recorder.flush()
        else:
            {"later": recorder.queue_event, "event": recorder.write_event}[what]("epoch", number=number)
            expected.append(("epoch", number))
        if what in ("event", "flush"):
            assert unrolled(heard) == expected, "what happens now is told now, with all before it"
    recorder.close()
    written = [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]
    assert unrolled(written) == unrolled(heard) == expected
    assert [event["time"] for event in written] == sorted(event["time"] for event in written)
    late = []
    recorder.subscribe(late.extend)
    assert unrolled(late) == expected, "who comes late hears the same"


def test_steps_with_other_metrics_are_separate_lines(tmp_path):
    recorder = Recorder(tmp_path)
    for step, values in enumerate([{"loss": 1.0}, {"loss": 0.5}, {"loss": 0.5, "accuracy": 1.0}, {"loss": 0.25}], 1):
        recorder.add_step(step, values)
    recorder.close()
    assert [{k: v for k, v in e.items() if k not in ("kind", "time")} for e in read_events(tmp_path)] == [
        {"step": [1, 2], "loss": [1.0, 0.5]},
        {"step": [3], "loss": [0.5], "accuracy": [1.0]},
        {"step": [4], "loss": [0.25]},
    ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just(Path("a")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@settings(deadline=None)
@given(anything)
def test_any_event_is_written_as_a_valid_line(value):
    line = encode([{"kind": "log", "time": 1.0, "value": value}])
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    again = decode(line)
    assert again is not None
    assert encode([again]) == line


@settings(deadline=None)
@given(
    st.lists(st.floats(width=32), min_size=1), st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)
)
def test_columns_are_exact_in_the_precision_that_they_have(single, double):
    for values in (single, double):
        [event] = [decode(encode([{"kind": "steps", "time": 1.0, "step": list(range(len(values))), "loss": values}]))]
        with np.errstate(over="ignore"):
            is_rounded = np.asarray(values, "float32").tolist() != values
        if values is double and is_rounded:
            assert event["loss"] == double
        else:
            again = [math.nan if v is None else v for v in event["loss"]]
            kept = [v if math.isfinite(v) else math.nan for v in values]
            np.testing.assert_array_equal(np.asarray(again, "float32"), np.asarray(kept, "float32"))


# -- whatever happens to the file


def recorded(folder: Path, first: int = 0) -> list[tuple]:
    recorder = Recorder(folder)
    for number in range(first, first + 4):
        recorder.write_event("epoch", number=number, text="é\n")
        recorder.add_step(number, {"loss": number / 7})
        recorder.flush()
    recorder.close()
    return unrolled(read_events(folder))


def test_truncated_file_is_continued(tmp_path):
    expected = recorded(tmp_path / "whole")
    data = (tmp_path / "whole" / EVENTS).read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for length in range(len(data) + 1):
        folder = tmp_path / f"{length}"
        folder.mkdir()
        (folder / EVENTS).write_bytes(data[:length])
        whole = sum(end <= length for end in ends)
        assert unrolled(read_events(folder)) == expected[:whole], "what is there is read, half a line is not"
        recorder = Recorder(folder)
        recorder.write_event("epoch", number=99)
        recorder.close()
        # half a line that happens to be whole JSON counts, as no more than its line feed was missing
        rest = unrolled(read_events(folder))
        assert rest[-1] == ("epoch", 99)
        assert rest[:-1] in (expected[:whole], expected[: whole + 1])
        assert (folder / EVENTS).read_bytes().startswith(data[:length]), "nothing is taken away"


WRITER = """
import sys
from pathlib import Path
from labdl.train.run.event_writer import Recorder
recorder = Recorder(Path(sys.argv[1]))
print("begun", flush=True)
number = int(sys.argv[2])
while True:
    recorder.add_step(number, {"loss": number / 7})
    if number % 3 == 0:
        recorder.write_event("epoch", number=number)
    number += 1
"""


@pytest.mark.sample(False)
@pytest.mark.slow
def test_a_writer_that_is_killed_loses_nothing_that_was_written(tmp_path):
    draw, number = random.Random(0), 0
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(ConfigError, match="has an active run"):
            Recorder(tmp_path)
        time.sleep(draw.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = unrolled(read_events(tmp_path))
        steps = [row[1] for row in found if row[0] == "step"]
        number = max([number, *(row[1] + 1 for row in found)])
        assert steps == sorted(set(steps)), "each once, in order"
        epochs = [row[1] for row in found if row[0] == "epoch"]
        assert all(n % 3 == 0 for n in epochs)
        assert len(epochs) >= len([n for n in steps if n % 3 == 0]) - 6, "at most what was under way is missing"
    assert number > 6


def test_reader_never_sees_partial_lines(tmp_path):
    recorder, seen, done = Recorder(tmp_path), [], threading.Event()

    def read():
        reader = EventReader(tmp_path / EVENTS)
        while not done.is_set():
            seen.extend(reader.read(200))
        while found := reader.read(200):
            seen.extend(found)

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(300):
        recorder.add_step(number, {"loss": 0.5})
        if number % 7 == 0:
            recorder.write_event("epoch", number=number, text="x" * (number * 3))
    recorder.close()
    done.set()
    thread.join()
    assert unrolled(seen) == unrolled(read_events(tmp_path))


def test_deleted_folder_is_recreated_completely(tmp_path, caplog):
    folder = tmp_path / "run"
    recorder = Recorder(folder)
    recorder.write_event("epoch", number=1)
    os.rename(folder, tmp_path / "elsewhere")
    recorder.write_event("epoch", number=2)
    heard = []
    recorder.subscribe(heard.extend)
    recorder.close()
    assert unrolled(read_events(folder)) == unrolled(heard) == [("epoch", 1), ("epoch", 2)]
    assert [record.message for record in caplog.records] == [
        f"{folder} was deleted while the run was active: it is created again with all events, but without other files that "
        "it had"
    ]


def test_failed_writes_are_retried_and_reported(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path)

    class Full:
        closed = False

        def __getattr__(self, name):
            return getattr(real, name)

        def write(self, data):
            raise OSError(28, "No space left on device")

    real, recorder._file = recorder._file, Full()
    recorder.write_event("epoch", number=1)
    heard = []
    recorder.subscribe(heard.extend)
    recorder.write_event("epoch", number=2)
    assert unrolled(heard) == [("epoch", 1), ("epoch", 2)]
    assert unrolled(read_events(tmp_path)) == []
    recorder._file = real
    recorder.close()
    assert unrolled(read_events(tmp_path)) == [("epoch", 1), ("epoch", 2)]


@pytest.mark.sample(False)
@pytest.mark.slow
def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """An hour of 500 steps a second, the clock going as fast as the machine can: ten minutes of it are enough to see."""
    now = [1e9]
    monkeypatch.setattr(recording.time, "time", lambda: now[0])
    recorder = Recorder(tmp_path)
    recorder._closed.set()  # flushed by the test's own clock
    recorder._thread.join()
    recorder.subscribe(lambda events: None)

    def train(minutes: int) -> None:
        for second in range(minutes * 60):
            for flush in range(5):
                for step in range(100):
                    recorder.add_step(second * 500 + flush * 100 + step, {"loss": 0.5 + step, "accuracy": 0.25})
                now[0] += 0.2
                recorder.flush()

    train(1)
    tracemalloc.start()
    train(1)
    before = tracemalloc.get_traced_memory()[0]
    train(8)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    recorder.close()
    assert grown < 100_000, f"{grown:,} bytes more after 240,000 steps"


# -- whether somebody is there


def test_status_of_a_run(tmp_path):
    recorder = Recorder(tmp_path)
    standing = LiveStatus(tmp_path)
    assert standing.alive(), "just beginning"
    recorder.write_event("start", pid=os.getpid())
    assert standing.alive()
    assert not LiveStatus(tmp_path).ended
    recorder.write_event("end", status="finished")
    assert not standing.alive()
    recorder.close()
    again = Recorder(tmp_path)
    again.write_event("start", pid=os.getpid(), step=3)
    assert standing.alive(), "another run goes on in the same folder"
    again.close()


def test_status_follows_a_longer_file_of_the_same_name(tmp_path):
    """A folder that was taken away, and trained in again, before anybody looked."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    recorder = Recorder(tmp_path)
    recorder.write_event("start", pid=ended.pid)
    recorder.close()
    standing, reader = LiveStatus(tmp_path), EventReader(tmp_path / EVENTS)
    assert not standing.alive()
    assert [event["kind"] for event in reader.read()] == ["start"]
    (tmp_path / EVENTS).unlink()
    recorder = Recorder(tmp_path)
    recorder.write_event("start", pid=os.getpid())
    recorder.write_event("epoch", epoch=1, step=8, metrics={"loss": 0.5})
    recorder.close()
    assert standing.alive()
    assert [event["kind"] for event in reader.read()] == ["start", "epoch"]
    assert reader.restarted


def test_ended_and_reused_processes_are_detected(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    recorder = Recorder(tmp_path)
    recorder.write_event("start", pid=process.pid)
    assert not LiveStatus(tmp_path).alive()
    recorder.write_event("start", pid=1, host="another computer")
    assert LiveStatus(tmp_path).alive(), "of another computer nothing can be seen"
    recorder.close()
    assert [run.status for run in list_runs(tmp_path)] == ["running"]
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(tmp_path / EVENTS, (two_days_ago, two_days_ago))
    assert not LiveStatus(tmp_path).alive(), "it would have written since"
    assert [run.status for run in list_runs(tmp_path)] == ["lost"]
    line = encode([{"kind": "start", "time": time.time() - 1e6, "pid": os.getpid()}])
    (tmp_path / EVENTS).write_bytes(line)
    assert not LiveStatus(tmp_path).alive(), "the number belongs to a process that began later"
