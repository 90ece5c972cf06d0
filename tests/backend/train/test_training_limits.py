"""Limits of a training: steps, batches, validations within epochs, dropped batches; each resumes exactly."""

import numpy as np
import pytest
from interrupted import BATCH, DATA, comparable, equal, own_seeds, trainer

import labdl
from labdl import data, nn
from labdl.errors import ConfigError
from labdl.train import SGD, Checkpoint, EarlyStopping, Epoch, Start, Step, Trainer, Validation

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


X, Y = DATA[0][:, 0, 0], DATA[1]  # 70 samples: 5 batches of 16
OPTIONS = {"batch_size": BATCH, "progress": False}


def linear(backend, **settings):
    model = nn.Sequential(nn.Linear(4)).build((None, 6), backend=backend.name, seed=0)
    return Trainer(model, optimizer=SGD(0.1), seed=1, **settings)


def weights(subject):
    return subject.model.state_dict()


def test_validation_within_epochs(backend):
    """At every second step and at the end, without an effect on the training."""
    events = list(
        linear(backend, val_check_interval=2).events((X, Y), validation=(X[:20], Y[:20]), epochs=2, batch_size=BATCH)
    )
    found = [e for e in events if isinstance(e, Validation)]
    assert [(e.epoch, e.step) for e in found] == [(1, 2), (1, 4), (2, 7), (2, 9)]
    watched = linear(backend)
    expected = []
    for event in watched.events((X, Y), validation=(X[:20], Y[:20]), epochs=2, batch_size=BATCH):
        if isinstance(event, Step) and event.step in (2, 4, 7, 9):
            expected.append(watched.evaluate(X[:20], Y[:20])["loss"])
    assert [e.values["val_loss"] for e in found] == expected
    last = [e.values for e in events if isinstance(e, Epoch)][-1]
    assert last == {name: values[-1] for name, values in watched.progress.history.items()}


def test_interval_as_a_share_and_its_errors(backend):
    subject = linear(backend, val_check_interval=0.5)
    subject.fit(X, Y, validation=(X[:20], Y[:20]), **OPTIONS)
    assert subject.progress.validations["step"] == [2, 4]
    with pytest.raises(ConfigError, match="val_check_interval=6 is more than an epoch, which has 5 steps"):
        linear(backend, val_check_interval=6).fit(X, Y, validation=(X, Y), **OPTIONS)
    for wrong in (0, 1.5, True, "1"):
        with pytest.raises(ConfigError, match="val_check_interval wants an integer at least 1, a number above 0"):
            linear(backend, val_check_interval=wrong)


def test_best_checkpoint_and_early_stopping_go_by_validations_within_epochs(backend, tmp_path):
    kept = Checkpoint(tmp_path, monitor="val_loss", keep=1)
    subject = linear(backend, val_check_interval=1, stopping=EarlyStopping(patience=2, restore_best=True))
    turned = np.arange(20) % 4  # what the training does not learn
    subject.fit(X, Y, validation=(X[:20], turned), epochs=20, checkpoint=kept, **OPTIONS)
    losses = subject.progress.validations["val_loss"]
    assert subject.progress.step < 100
    assert subject.loop.stopping.best <= min(losses)
    best = subject.evaluate(X[:20], turned)["loss"]
    assert best == pytest.approx(subject.loop.stopping.best)
    again = linear(backend)
    again.load_checkpoint(kept.best)
    assert again.evaluate(X[:20], turned)["loss"] == pytest.approx(best)


@pytest.mark.sample(False)
@pytest.mark.parametrize("at", [6, 7, 8])
def test_validations_resume_exactly(backend, tmp_path, at):
    """The step of a checkpoint may have been validated before or not."""
    options = {"validation": DATA, "epochs": 3, "batch_size": BATCH}
    labdl.seed(3)
    whole = trainer(backend, val_check_interval=2)
    list(whole.events(DATA, **options))
    labdl.seed(3)
    stop = [lambda event: isinstance(event, Step) and event.step == at]
    list(
        trainer(backend, val_check_interval=2).events(
            DATA, checkpoint=Checkpoint(tmp_path, every=at), callbacks=stop, **options
        )
    )
    labdl.seed(77)
    again = trainer(backend, seed=50, val_check_interval=2)
    list(again.events(DATA, resume=tmp_path / f"step-{at:08d}", **options))
    assert whole.progress.validations["step"] == [2, 4, 7, 9, 12, 14]
    assert equal(comparable(again), comparable(whole))


def test_max_steps_ends_within_an_epoch(backend):
    subject = linear(backend, max_steps=7)
    events = list(subject.events((X, Y), validation=(X, Y), batch_size=BATCH))
    assert [e.step for e in events if isinstance(e, Step)] == list(range(1, 8))
    start, last = events[0], [e for e in events if isinstance(e, Epoch)][-1]
    assert isinstance(start, Start)
    assert (start.epochs, start.max_steps, last.epoch, last.step) == (2, 7, 2, 7)
    assert last.values["val_loss"] == pytest.approx(subject.evaluate(X, Y)["loss"])
    plain = linear(backend)
    history = linear(backend, max_steps=7).fit(X, Y, epochs=9, **OPTIONS)
    for event in plain.events((X, Y), epochs=9, batch_size=BATCH):
        if isinstance(event, Step) and event.step == 7:
            break
    assert equal(weights(subject), weights(plain))
    sums = plain.progress.sums["loss"] / plain.progress.seen
    assert history["loss"] == [plain.progress.history["loss"][0], sums]
    assert len(linear(backend, max_steps=70).fit(X, Y, epochs=1, **OPTIONS)["loss"]) == 1


def test_max_steps_resumes_exactly(backend, tmp_path):
    options = {"validation": DATA, "batch_size": BATCH, "progress": False}
    labdl.seed(3)
    whole = trainer(backend, max_steps=12, schedule=None)
    history = whole.fit(DATA, **options)
    labdl.seed(3)
    trainer(backend, max_steps=7, schedule=None).fit(DATA, checkpoint=tmp_path, **options)
    labdl.seed(77)
    again = trainer(backend, seed=50, max_steps=12, schedule=None)
    assert again.fit(DATA, resume=tmp_path, **options) == history
    assert len(history["loss"]) == 3
    own, theirs = comparable(again), comparable(whole)
    assert equal(own, theirs)
    with pytest.warns(
        UserWarning, match="nothing is left to train, because max_steps=7 is the total and 7 are complete"
    ):
        trainer(backend, max_steps=7, schedule=None).fit(DATA, resume=tmp_path, **options)


def test_schedules_end_with_max_steps(backend):
    rates = []
    subject = linear(backend, max_steps=7, schedule="cosine")
    for event in subject.events((X, Y), batch_size=BATCH):
        if isinstance(event, Step):
            rates.append(subject.learning_rate)
    np.testing.assert_allclose(rates, 0.1 * (1 + np.cos(np.pi * np.arange(7) / 7)) / 2, rtol=1e-6)


@pytest.mark.parametrize("limit", [2, 0.5])
def test_limits_of_training_batches(backend, limit):
    """The first batches of each epoch, which has its own order."""
    subject = linear(backend, limit_train_batches=limit)
    events = list(subject.events((X, Y), epochs=2, batch_size=BATCH))
    assert [e.step for e in events if isinstance(e, Epoch)] == [2, 4]
    by_hand = linear(backend)
    loader = data.Loader(data.ArrayDataset(X, Y), BATCH, shuffle=True, seed=1)
    for epoch in range(2):
        for batch in list(loader.epoch(epoch))[:2]:
            by_hand.train_one_batch(*batch)
    assert equal(weights(subject), weights(by_hand))


@pytest.mark.parametrize("limit", [1, 0.3])
def test_limits_of_validation_batches(backend, limit):
    few = X[:BATCH], Y[:BATCH]
    loader = data.Loader(data.ArrayDataset(X, Y), BATCH)
    samples = data.SampleDataset(lambda i: (X[i], Y[i]), length=70, name="samples")
    for validation in ((X, Y), loader, samples, data.IterableDataset(lambda: zip(X, Y, strict=True), length=70)):
        subject = linear(backend, limit_val_batches=limit)
        history = subject.fit(X, Y, validation=validation, **OPTIONS)
        assert history["val_loss"] == [pytest.approx(subject.evaluate(few)["loss"])]
    endless = data.IterableDataset(lambda: zip(X, Y, strict=True)).repeat()
    subject = linear(backend, limit_val_batches=1)
    assert subject.fit(X, Y, validation=endless, **OPTIONS)["val_loss"] == [
        pytest.approx(subject.evaluate(few)["loss"])
    ]
    with pytest.raises(ConfigError, match=r"limit_val_batches=0\.5 is a share, and the length of .* is not known"):
        linear(backend, limit_val_batches=0.5).fit(X, Y, validation=endless, **OPTIONS)


def test_fast_dev_run_leaves_nothing_behind(backend, tmp_path):
    subject = linear(backend, fast_dev_run=2, stopping=EarlyStopping("no_such_value"), schedule="cosine")
    events = list(
        subject.events(
            (X, Y), validation=(X, Y), epochs=10, batch_size=BATCH, checkpoint=tmp_path / "kept", resume=True
        )
    )
    assert [type(e).__name__ for e in events] == ["Start", "Step", "Step", "Epoch"]
    assert events[-1].values["val_loss"] == pytest.approx(subject.evaluate(X[:32], Y[:32])["loss"])
    assert not (tmp_path / "kept").exists()
    assert linear(backend, fast_dev_run=True).fit(X, Y, **OPTIONS).keys() == {"loss"}


def test_dropped_last_batch(backend):
    subject = linear(backend, drop_last=True)
    steps = [e for e in subject.events((X, Y), epochs=2, batch_size=BATCH) if isinstance(e, Step)]
    assert len(steps) == 8
    by_hand = linear(backend)
    loader = data.Loader(data.ArrayDataset(X, Y), BATCH, shuffle=True, seed=1, drop_last=True)
    for epoch in range(2):
        for batch in loader.epoch(epoch):
            by_hand.train_one_batch(*batch)
    assert equal(weights(subject), weights(by_hand))
    with pytest.raises(ConfigError, match="drop_last leaves no batch of 71 samples, there are 70"):
        subject.fit(X, Y, batch_size=71, progress=False)


def test_steps_per_epoch_of_a_data_set(backend, tmp_path):
    """Epochs go on where the last one ended; each pass has its order."""
    whole = linear(backend)
    history = whole.fit(X, Y, epochs=6, steps_per_epoch=3, **OPTIONS)
    plain = linear(backend)
    steps = [e.values["loss"] for e in plain.events((X, Y), epochs=4, batch_size=BATCH) if isinstance(e, Step)]
    assert len(history["loss"]) == 6
    assert history["loss"][0] == pytest.approx(np.mean(steps[:3]), rel=1e-6)
    by_hand = linear(backend)
    loader = data.Loader(data.ArrayDataset(X, Y), BATCH, shuffle=True, seed=1)
    for n in range(18):
        by_hand.train_one_batch(*list(loader.epoch(n // 5))[n % 5])
    assert equal(weights(whole), weights(by_hand))
    stop = [lambda event: isinstance(event, Step) and event.step == 8]
    options = {"epochs": 6, "steps_per_epoch": 3, **OPTIONS}
    linear(backend).fit(X, Y, checkpoint=Checkpoint(tmp_path, every=8), callbacks=stop, **options)
    again = linear(backend)
    assert again.fit(X, Y, resume=tmp_path, **options) == history
    assert equal(weights(again), weights(whole))


def test_validations_within_epochs_are_recorded(backend, tmp_path):
    run = linear(backend, val_check_interval=2).start(
        X, Y, validation=(X, Y), batch_size=BATCH, epochs=2, folder=tmp_path / "run"
    )
    found = labdl.runs.open(run.wait(60).folder).events("validation")
    assert [(event["epoch"], event["step"]) for event in found] == [(1, 2), (1, 4), (2, 7), (2, 9)]
    assert [event["val_loss"] for event in found] == pytest.approx(run.trainer.progress.validations["val_loss"])
