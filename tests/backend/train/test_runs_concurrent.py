"""Concurrent runs and predictions in one process do not affect each other."""

import signal
import threading

import numpy as np
import pytest
from runs import DATA, WAIT, of_kind, soon, trainer

import labdl
from labdl import nn, train
from labdl.train.run.locks import FairLock

pytestmark = pytest.mark.sample(backends=1)


def test_concurrent_runs_have_the_results_of_single_runs(backend, tmp_path):
    """Bitwise, although each is compiled while the other one trains."""
    settings = [{"features": 8, "seed": 1}, {"features": 5, "seed": 2, "optimizer": train.Adam(0.01)}]
    alone = [trainer(backend, **given) for given in settings]
    for subject in alone:
        subject.fit(DATA, validation=DATA, epochs=6, batch_size=16, progress=False)
    together = [trainer(backend, **given) for given in settings]
    runs = [
        subject.start(DATA, validation=DATA, epochs=6, batch_size=16, folder=tmp_path / f"run{i}")
        for i, subject in enumerate(together)
    ]
    for run, subject in zip(runs, alone, strict=True):
        run.wait(WAIT)
        assert run.history == subject.progress.history
        ours, theirs = run.model.state_dict(), subject.model.state_dict()
        assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
        assert [e["epoch"] for e in of_kind(run, "epoch")] == [1, 2, 3, 4, 5, 6]


def test_predictions_do_not_affect_the_training(backend, tmp_path):
    """From another thread and from a callback; the results of the training are bitwise the same."""

    def subject():
        labdl.seed(3)
        model = nn.Sequential(nn.Linear(8), nn.BatchNorm(), nn.Dropout(0.5), nn.Linear(1))
        return train.Trainer(model, loss="mean_squared_error", optimizer="sgd", backend=backend.name, seed=1)

    def look(event):
        if isinstance(event, train.Step):
            looks.append(labdl.predict(watched.model, DATA[0]))

    alone, watched, looks = subject(), None, []
    alone.fit(DATA, epochs=8, batch_size=8, progress=False)
    watched = subject()
    run = watched.start(DATA, epochs=8, batch_size=8, folder=tmp_path / "run", callbacks=[look])
    while run.alive:
        assert labdl.predict(run.model, DATA[0]).shape == (40, 1)
    run.wait(WAIT)
    assert len(looks) == 40
    ours, theirs = run.model.state_dict(), alone.model.state_dict()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_fair_lock_serves_threads_in_order():
    lock, seen = FairLock(), []

    def work(name):
        for _ in range(200):
            with lock:
                seen.append(name)

    with lock:
        threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        assert soon(lambda: len(lock._waiting) == 3)
    for thread in threads:
        thread.join()
    assert len(seen) == 600
    assert len(set(seen[:3])) == 3


@pytest.fixture
def interruptible():
    """Python's handler of SIGINT, which MindSpore replaces."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former or signal.SIG_DFL)


def test_fair_lock_is_reentrant_and_interruptible(interruptible):
    lock, held = FairLock(), threading.Event()

    def hold():
        with lock, lock:
            held.set()
            assert soon(lambda: lock._waiting)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            assert soon(lambda: not lock._waiting)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(WAIT)
    with pytest.raises(KeyboardInterrupt), lock:
        pass
    thread.join(WAIT)
    assert not lock._holder
    with lock:
        assert lock._holder == threading.get_ident()
