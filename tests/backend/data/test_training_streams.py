"""Trainings on streams and on loaders: the same results as on arrays, resumed exactly, and errors in a sentence."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
from worker_processes import worker_processes

from labdl import data, nn
from labdl.errors import ConfigError, DataError
from labdl.train import SGD, Trainer, sweep

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4)).astype("float32")
Y = np.arange(24) % 3


def pairs():
    yield from zip(X, Y, strict=True)


def trainer(backend, **options):
    return Trainer(nn.Sequential(nn.Linear(3)), "cross_entropy", SGD(0.1), backend=backend.name, seed=0, **options)


def weights(t) -> dict[str, np.ndarray]:
    return t.model.state_dict()


def assert_equal(a, b):
    for name, value in weights(a).items():
        np.testing.assert_array_equal(value, weights(b)[name])


@pytest.fixture
def ordered(backend):
    """A training on the arrays in their order, of three epochs."""
    t = trainer(backend)
    t.history = t.fit(X, Y, shuffle=False, batch_size=8, epochs=3, progress=False)
    return t


def test_streams_train_as_arrays_do(backend, ordered):
    streams = [
        (data.IterableDataset(pairs, length=24), {}),
        (data.IterableDataset(pairs), {"steps_per_epoch": 3}),
        (data.IterableDataset(pairs).repeat(), {"steps_per_epoch": 3}),
        (data.IterableDataset(itertools.cycle(list(pairs()))), {"steps_per_epoch": 3}),
        (data.IterableDataset(list(pairs())), {}),
        (data.IterableDataset(data.ArrayDataset(X, Y)), {}),
    ]
    for stream, options in streams:
        t = trainer(backend)
        history = t.fit(stream, batch_size=8, epochs=3, progress=False, **options)
        assert history == ordered.history
        assert_equal(t, ordered)


def test_an_epoch_goes_on_where_the_last_one_ended(backend, ordered):
    t = trainer(backend)
    history = t.fit(data.IterableDataset(pairs), batch_size=8, steps_per_epoch=1, epochs=9, progress=False)
    assert len(history["loss"]) == 9
    np.testing.assert_allclose(np.reshape(history["loss"], (3, 3)).mean(1), ordered.history["loss"], rtol=1e-6)
    assert_equal(t, ordered)


def test_streams_of_dictionaries_validate_and_keep_their_classes(backend):
    stream = data.IterableDataset(
        lambda: ({"x": x, "label": y} for x, y in pairs()), inputs="x", targets="label", classes=["a", "b", "c"]
    )
    t = trainer(backend, metrics=["accuracy"])
    history = t.fit(stream, validation=stream.take(16), batch_size=8, steps_per_epoch=2, epochs=2, progress=False)
    assert t.model.class_names == ("a", "b", "c")
    assert history["val_accuracy"][-1] == pytest.approx(t.evaluate(X[:16], Y[:16])["accuracy"])
    run = trainer(backend).start(stream, validation=stream.take(16), batch_size=8, steps_per_epoch=2).wait()
    assert run.status == "finished"


@pytest.mark.parametrize("steps", [None, 2])
def test_a_training_on_a_stream_resumes_in_the_middle_of_an_epoch(backend, tmp_path, steps):
    stream = data.IterableDataset(pairs, length=24).shuffle(8, seed=3)
    options = {"batch_size": 4, "epochs": 3, "progress": False, "steps_per_epoch": steps}
    whole = trainer(backend)
    history = whole.fit(stream, **options)
    folder = tmp_path / "checkpoints"

    def stop(event):
        return getattr(event, "step", 0) >= 5

    stopped = trainer(backend)
    stopped.fit(stream, checkpoint=folder, callbacks=[stop], **options)
    stopped.save_checkpoint(folder)
    assert stopped.progress.step == 5
    resumed = trainer(backend)
    assert resumed.fit(stream, resume=folder, **options) == history
    assert_equal(resumed, whole)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("settings", [{"workers": 2}, {"workers": 2, "worker_type": "process"}])
def test_loaders_of_workers_train_as_arrays_do(backend, ordered, settings):
    samples = data.SampleDataset(lambda i: (X[i], Y[i]), length=24, name="samples")
    for source in (samples, data.IterableDataset(pairs, length=24).map(lambda pair: pair)):
        t = trainer(backend)
        history = t.fit(data.Loader(source, 8, **settings), epochs=3, progress=False)
        assert history == ordered.history
        assert_equal(t, ordered)


def test_samplers_padding_and_broken_samples_of_a_loader(backend, tmp_path):
    def read(i):
        if i == 5:
            raise OSError("no such file")
        return X[i], Y[i]

    samples = data.SampleDataset(read, length=24, name="samples")
    t = trainer(backend)
    loader = data.Loader(samples, 8, errors="skip")
    with pytest.warns(UserWarning, match="1 samples of samples could not be read"):
        t.fit(loader, epochs=1, progress=False, checkpoint=tmp_path / "skip")
    assert t.progress.step == 3
    assert [p.index for p in loader.problems] == [5]
    sampler = data.samplers.WeightedRandomSampler(Y == 1, count=12, seed=1)
    history = trainer(backend).fit(data.Loader(data.ArrayDataset(X, Y), 5, sampler=sampler), epochs=2, progress=False)
    assert len(history["loss"]) == 2
    with pytest.raises(DataError, match="sample 5 of samples cannot be read: OSError: no such file"):
        trainer(backend).fit(data.Loader(samples, 8, workers=2), progress=False)


def test_accumulated_batches_of_a_stream_are_those_of_arrays(backend):
    first, second = trainer(backend, accumulate=2), trainer(backend, accumulate=2)
    wanted = first.fit(X, Y, shuffle=False, batch_size=4, epochs=2, progress=False)
    assert second.fit(data.IterableDataset(pairs, length=24), batch_size=4, epochs=2, progress=False) == wanted
    assert_equal(first, second)


def test_errors_of_streams_are_a_sentence(backend):
    t = trainer(backend)
    endless = data.IterableDataset(pairs).repeat()
    cases = [
        (lambda: t.fit(data.IterableDataset(pairs)), ConfigError, "pairs has an unknown length: give steps_per_epoch="),
        (lambda: t.fit(endless), ConfigError, "has no end: give steps_per_epoch="),
        (lambda: t.fit(endless, steps_per_epoch=2, shuffle=True), ConfigError, r"use stream.shuffle\(buffer_size\)"),
        (lambda: t.fit(endless, steps_per_epoch=0), ConfigError, "steps_per_epoch wants an integer at least 1"),
        (lambda: t.fit(X, Y, validation=endless), ConfigError, r"has no end: give stream.take\(1000\)"),
        (lambda: t.evaluate(data.IterableDataset(pairs)), ConfigError, "an unknown length and may have no end"),
        (
            lambda: t.fit(data.IterableDataset(pairs, length=30)),
            DataError,
            "has the length 30 and ended after 24 samples",
        ),
        (
            lambda: t.fit(endless, steps_per_epoch=2, validation_split=0.5),
            ConfigError,
            "validation_split wants a data set",
        ),
        (
            lambda: t.fit(data.IterableDataset(pairs()), batch_size=8, steps_per_epoch=4, progress=False),
            DataError,
            "has ended, because an iterator can be read once only",
        ),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


class Slow(data.Dataset):
    name = "slow"

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        time.sleep(0.002)
        return X[i % 24], Y[i % 24]


def workers() -> list[str]:
    """Threads and processes that read samples."""
    return [*map(str, worker_processes()), *(t.name for t in threading.enumerate() if t.name.startswith("labdl-data"))]


@pytest.mark.sample(False)
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_ctrl_c_and_errors_of_a_step_leave_no_workers(backend, kind, capsys):
    loader = data.Loader(Slow(), 4, workers=2, worker_type=kind)
    t = trainer(backend)

    def interrupt(event):
        if getattr(event, "step", 0) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        t.fit(loader, epochs=1, progress=False, callbacks=[interrupt])
    assert "Stopped. The model keeps its current parameters." in capsys.readouterr().out
    assert t.progress.step >= 3
    assert workers() == []

    class Failing(Trainer):
        def preprocess(self, batch):
            if self.progress is not None and self.progress.step == 2:
                assert workers() != []
                raise RuntimeError("a step fails")
            return batch

    failing = Failing(nn.Sequential(nn.Linear(3)), "cross_entropy", SGD(0.1), backend=backend.name)
    with pytest.raises(RuntimeError, match="a step fails") as caught:
        failing.fit(loader, epochs=1, progress=False)
    assert caught.value.__traceback__ is not None  # holds the frames of the training
    assert workers() == []


def test_sweeps_train_on_streams(backend, tmp_path):
    stream = data.IterableDataset(pairs)
    found = sweep(
        lambda width: nn.Sequential(nn.Linear(width), nn.Linear(3)),
        {"width": [2, 4]},
        stream,
        validation=stream.take(12),
        steps_per_epoch=2,
        method="grid",
        at_once=2,
        backend=backend.name,
        folder=tmp_path / "sweep",
    )
    found.wait()
    assert [trial.status for trial in found.trials] == ["finished", "finished"]
