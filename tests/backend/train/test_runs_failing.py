"""Failures of runs: full disks, deleted folders, out of memory, unreadable samples."""

import errno
import io
import shutil
import threading

import numpy as np
import pytest
from runs import DATA, WAIT, Held, acknowledgements, holding, lines_of, of_kind, soon, trainer, write_command

import labdl
from labdl import nn, ops, train
from labdl.errors import DataError
from labdl.train import Checkpoint, Trainer
from labdl.train.checkpoint import checkpoints, latest
from labdl.train.failures import error_message, explain
from labdl.train.run import event_writer
from labdl.train.run import run as run_module

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture
def held(backend):
    with holding(backend) as make:
        yield make


class Full(io.RawIOBase):
    """A file on a disk that is full after ``room[0]`` bytes."""

    def __init__(self, path, room):
        self.file, self.room = open(path, "a+b", buffering=0), room  # noqa: SIM115

    def fileno(self):
        return self.file.fileno()

    def seek(self, *where):
        return self.file.seek(*where)

    def read(self, *size):
        return self.file.read(*size)

    def write(self, data):
        if not self.room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = min(len(data), self.room[0])
        self.room[0] -= count
        return self.file.write(bytes(data[:count]))

    def close(self):
        self.file.close()
        super().close()


def test_recording_continues_after_a_full_disk(backend, tmp_path, monkeypatch, caplog):
    """The disk is full after some bytes, then has room again: no line is lost or incomplete."""
    room = [100]
    monkeypatch.setattr(event_writer, "open", lambda path, *_, **__: Full(path, room), raising=False)
    subject = Held(backend, tmp_path / "run", epochs=2)
    assert soon(lambda: "No space left on device" in caplog.text)
    assert (tmp_path / "run" / "events.jsonl").stat().st_size == 100
    subject.go(2)
    subject.until(3)
    room[0] = 10**9
    subject.go()
    run = subject.run.wait(WAIT)
    events = lines_of(run)
    assert [e["kind"] for e in events if e["kind"] in ("start", "epoch", "end")] == ["start", "epoch", "epoch", "end"]
    assert [s for e in events if e["kind"] == "steps" for s in e["step"]] == list(range(1, 11))
    assert "is written again, no event is missing" in caplog.text


def test_full_disk_is_logged_once_and_the_training_finishes(backend, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(event_writer, "open", lambda path, *_, **__: Full(path, [0]), raising=False)
    run = trainer(backend).start(*DATA, epochs=3, batch_size=8, folder=tmp_path / "run").wait(WAIT)
    assert run.status == "finished"
    assert len(run.history["loss"]) == 3
    assert caplog.text.count("No space left on device") == 1
    assert "the last events of the run could not be written" in caplog.text


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_failed_save_of_parameters_is_retried(backend, tmp_path, monkeypatch, caplog):
    """Saving fails after the first epoch: the training continues, and the end is saved."""
    save, calls = run_module.save_parameters, []

    def saving(*args):
        calls.append(args)
        if len(calls) == 1:
            full()
        save(*args)

    monkeypatch.setattr(run_module, "save_parameters", saving)
    run = trainer(backend).start(*DATA, epochs=2, folder=tmp_path / "run", save_to=tmp_path / "net.npz").wait(WAIT)
    saved = labdl.load_parameters(tmp_path / "net.npz")
    assert all(np.array_equal(value, saved[name]) for name, value in run.model.state_dict().items())
    problem = of_kind(run, "problem")
    assert len(problem) == 1
    assert "could not be written after this epoch (the disk is full)" in problem[0]["message"]


def test_failed_last_save_raises_and_keeps_the_former_file(backend, tmp_path, monkeypatch):
    save, calls = run_module.save_parameters, []

    def saving(*args):
        calls.append(args)
        save(*args) if len(calls) == 1 else full()

    monkeypatch.setattr(run_module, "save_parameters", saving)
    run = trainer(backend).start(*DATA, epochs=2, folder=tmp_path / "run", save_to=tmp_path / "net.npz")
    with pytest.raises(OSError, match=r"the disk is full.*files that were saved before are intact"):
        run.wait(WAIT)
    assert of_kind(run, "end")[0]["message"].startswith("the disk is full")
    assert labdl.load_parameters(tmp_path / "net.npz").keys() == run.model.state_dict().keys()


def test_failed_checkpoint_ends_the_run_and_the_former_one_resumes(backend, tmp_path, monkeypatch):
    from labdl.train import checkpoint

    whole = trainer(backend)
    whole.fit(DATA, epochs=3, batch_size=8, progress=False)
    flush, options = checkpoint._write, {"epochs": 3, "batch_size": 8, "checkpoint": Checkpoint(tmp_path / "kept")}

    def writing(path, content):
        flush(path, content) if "00000005" in str(path) else full()

    monkeypatch.setattr(checkpoint, "_write", writing)
    run = trainer(backend).start(*DATA, folder=tmp_path / "run", **options)
    with pytest.raises(OSError, match="the disk is full"):
        run.wait(WAIT)
    monkeypatch.setattr(checkpoint, "_write", flush)
    assert [path.name for path in checkpoints(tmp_path / "kept")] == ["step-00000005"]
    again = trainer(backend, seed=7)
    again.fit(DATA, progress=False, resume=True, **options)
    ours, theirs = again.model.state_dict(), whole.model.state_dict()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_failed_checkpoint_command_does_not_end_the_run(held, tmp_path, monkeypatch):
    from labdl.train import checkpoint

    held = held(tmp_path / "run")
    monkeypatch.setattr(checkpoint, "_write", full)
    held.run.pause()
    held.go(1)
    with pytest.raises(OSError, match="the disk is full"):
        held.run.checkpoint()
    identity = write_command(held.run, command="checkpoint")
    assert soon(lambda: identity in acknowledgements(held.run))
    assert acknowledgements(held.run)[identity]["status"] == "refused"
    assert "the disk is full" in acknowledgements(held.run)[identity]["message"]
    held.run.send_command("checkpoint")
    assert soon(lambda: of_kind(held.run, "problem"))
    held.run.resume()
    held.go()
    assert held.run.wait(WAIT).status == "finished"


def test_deleted_folder_is_created_again(held, tmp_path):
    """With all events, and for commands, parameters and checkpoints."""
    options = {"save_to": tmp_path / "run" / "net.npz", "checkpoint": Checkpoint(tmp_path / "run" / "kept")}
    held = held(tmp_path / "run", **options)
    held.go(6)
    held.until(7)
    (tmp_path / "run").rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    assert soon(lambda: (tmp_path / "run" / "events.jsonl").exists())
    write_command(held.run, command="learning_rate", value=0.01)
    assert soon(lambda: held.run.learning_rate == 0.01)
    held.go()
    events = lines_of(held.run.wait(WAIT))
    assert [s for e in events if e["kind"] == "steps" for s in e["step"]] == list(range(1, 16))
    assert [e["kind"] for e in events if e["kind"] in ("start", "epoch", "end")] == ["start", *["epoch"] * 3, "end"]
    assert (tmp_path / "run" / "net.npz").exists()
    assert latest(tmp_path / "run" / "kept").name == "step-00000015"
    assert (tmp_path / "run" / "code" / "settings.json").exists()
    messages = [e["message"] for e in events if e["kind"] == "log"]
    assert sum("run was deleted while the run was active" in message for message in messages) == 1
    assert sum("kept was deleted while the training was active" in message for message in messages) == 1


def test_error_of_a_run_whose_folder_cannot_be_created(backend, tmp_path, caplog):
    """A file replaces the folder: wait raises the error of the training, and no thread ends with a traceback."""
    x, y = DATA[0].copy(), DATA[1]
    x[30] = np.nan
    seen, folder = [], tmp_path / "run"

    def vanish(event):
        if isinstance(event, train.Start):
            shutil.rmtree(folder)
            folder.write_text("in the way")

    hook, threading.excepthook = threading.excepthook, seen.append
    try:
        run = trainer(backend).start(x, y, batch_size=8, folder=folder, callbacks=[vanish])
        with pytest.raises(labdl.errors.ModelError, match="not finite at step"):
            run.wait(WAIT)
    finally:
        threading.excepthook = hook
    assert not seen
    assert "cannot be written" in caplog.text
    assert "error.txt could not be written" in caplog.text


class Greedy(nn.Module):
    """Allocates a pebibyte, which fails on any machine."""

    def __init__(self):
        self.head = nn.Linear(1)

    def forward(self, x):
        number = ops.mean(x, axis=(0, 1), keepdims=True)
        large = ops.matmul(ops.broadcast_to(number, (2**24, 1)), ops.broadcast_to(number, (1, 2**24)))
        return self.head(x) + ops.mean(large)


def test_out_of_memory_error_names_the_batch_size(backend, tmp_path):
    """The errors of the frameworks have different classes."""
    subject = Trainer(Greedy(), loss="mean_squared_error", backend=backend.name, seed=1, compiled=False)
    run = subject.start(*DATA, batch_size=16, folder=tmp_path / "run")
    with pytest.raises(
        MemoryError,
        match="not enough memory for a step with batch_size=16: try a smaller batch_size, such as 8, or accumulate=2",
    ):
        run.wait(WAIT)
    assert "batch_size=16" in of_kind(run, "end")[0]["message"]
    assert "Traceback" in (run.folder / "error.txt").read_text()


class LimitedMemory(Trainer):
    """A trainer on a machine with memory for ``room`` samples at a time."""

    room, sizes = 16, ()

    def evaluate(self, dataset, batch_size=256, averaged=False):
        self.sizes = (*self.sizes, batch_size)
        if batch_size > self.room:
            raise RuntimeError("out of memory")
        return super().evaluate(dataset, batch_size=batch_size, averaged=averaged)


def test_validation_falls_back_to_the_batch_size_of_the_training(backend):
    subject = LimitedMemory(nn.Linear(1), loss="mean_squared_error", backend=backend.name, seed=1)
    history = subject.fit(*DATA, validation=DATA, batch_size=16, epochs=2, progress=False)
    assert len(history["val_loss"]) == 2
    assert subject.sizes == (256, 16, 16)


def test_validation_out_of_memory_at_the_batch_size_of_the_training_raises(backend):
    subject = LimitedMemory(nn.Linear(1), loss="mean_squared_error", backend=backend.name, seed=1)
    subject.room = 8
    with pytest.raises(MemoryError, match="not enough memory for a step with batch_size=16: try a smaller"):
        subject.fit(*DATA, validation=DATA, batch_size=16, progress=False)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        type("OutOfMemoryError", (Exception,), {})("gone"),
        RuntimeError("Allocate memory failed"),
    ],
)
def test_out_of_memory_errors_are_recognized(error):
    assert "try a smaller batch_size, such as 4, or the batch in more parts than accumulate=2" in str(
        explain(error, 16, 2)
    )
    assert "try a smaller model" in str(explain(error, 1))


def test_other_errors_are_unchanged():
    for error in (RuntimeError("shapes differ"), OSError(errno.EACCES, "Permission denied"), KeyError("x")):
        assert explain(error, 16) is error
    assert error_message(KeyError("x")) == "KeyError: 'x'"
    assert error_message(KeyboardInterrupt()) == "KeyboardInterrupt"


class Broken:
    """A data set with a sample that cannot be read."""

    name = "broken"

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        if i == 33:
            raise OSError("the picture is torn")
        return self.x[i], self.y[i]


def test_unreadable_sample_is_named(backend, tmp_path):
    subject = trainer(backend)
    subject.model.build((None, 4), backend=backend.name, seed=1)
    run = subject.start(
        Broken(*DATA),
        batch_size=8,
        shuffle=False,
        folder=tmp_path / "run",
        save_to=tmp_path / "net.npz",
        checkpoint=Checkpoint(tmp_path / "kept", every=1),
    )
    with pytest.raises(DataError, match="sample 33 of broken cannot be read: OSError: the picture is torn"):
        run.wait(WAIT)
    assert of_kind(run, "end")[0]["message"].startswith("sample 33")
    assert latest(tmp_path / "kept").name == "step-00000004"
