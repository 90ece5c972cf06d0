"""A training that is interrupted, saved and taken up again ends as one that never was, on one backend (R6.6)."""

import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import labdl
from labdl import dispatch, nn, ops, train
from labdl.errors import ConfigError, StateDictError
from labdl.ops.random import random_state, set_random_state
from labdl.train import Checkpoint, Epoch, Started, Step, Trainer
from labdl.train.checkpoint import best, checkpoints, latest, load, save

EPOCHS, BATCH = 3, 16  # of 70 samples: 5 steps an epoch, the last with 6 samples


class Net(nn.Module):
    """Everything that has a memory: weights, running statistics, dropout."""

    def __init__(self):
        self.conv = nn.Conv2d(3, padding="same")
        self.norm = nn.BatchNorm()
        self.flatten = nn.Flatten()
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(4)

    def forward(self, x):
        return self.head(self.drop(self.flatten(ops.relu(self.norm(self.conv(x))))))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(70, 1, 6, 6)).astype("float32"), np.arange(70) % 4


@pytest.fixture(autouse=True)
def seeds():
    """Other tests begin as they would have begun."""
    before = dispatch.current_seed(), dispatch.portable()
    yield
    dispatch._seed, dispatch._portable = before


RECIPES = {
    "sgd": lambda: {"optimizer": train.SGD(0.05, momentum=0.9), "schedule": train.OneCycle()},
    "adam": lambda: {"optimizer": train.Adam(0.01), "schedule": "cosine"},
    "adamw": lambda: {
        "optimizer": train.AdamW(0.01, groups=[("*/bias:0", {"weight_decay": 0.0})]),
        "schedule": train.LinearWarmup(steps=8, then=train.CosineDecay()),
    },
    "rmsprop": lambda: {
        "optimizer": train.RMSprop(0.01),
        "schedule": train.ReduceOnPlateau(patience=0, threshold=0.5, factor=0.5),
    },
    "nadam": lambda: {"optimizer": train.NAdam(0.01)},
}


def trainer(backend, recipe="adam", seed=1, model=None, **options):
    settings = {"metrics": ["accuracy", "roc_auc"], **RECIPES[recipe](), **options}
    return Trainer(model or Net(), backend=backend.name, seed=seed, **settings)


def fit(subject, data, epochs=EPOCHS, **options):
    return subject.fit(data, validation=data, epochs=epochs, batch_size=BATCH, progress=False, **options)


def stopped_after(step, subject, data, epochs=EPOCHS, **options):
    """Train up to a step and leave, as somebody does who pulls the plug."""
    events = subject.events(data, validation=data, epochs=epochs, batch_size=BATCH, **options)
    for event in events:
        if isinstance(event, Step) and event.step == step:
            break
    events.close()


def equal(ours, theirs):
    """Nested states, arrays bit for bit."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        return all(equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list | tuple):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if isinstance(ours, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    return ours == theirs or (ours != ours and theirs != theirs)


# -- random numbers


def draws():
    x = ops.ones((3, 5))
    drawn = [ops.random_uniform((3,)), ops.random_normal((4,), dtype="float64"), ops.random_integers((3,), 0, 99),
             ops.random_integers((2,), -(2**40), 2**50), ops.permutation(6), ops.random_uniform_like(x),
             ops.random_normal_like(x), ops.random_uniform((2,), portable=True), ops.dropout(x, 0.5, training=True),
             ops.dropout_channels(ops.ones((3, 5, 4)), 0.5, training=True)]  # fmt: skip
    return [np.array(labdl.to_numpy(t)) for t in drawn]


@pytest.mark.parametrize("portable", [False, True])
def test_what_was_drawn_is_drawn_again(backend, portable):
    labdl.seed(3, portable=portable)
    draws()
    state = random_state(backend.name)
    first, second = draws(), draws()
    assert not equal(first, second)
    assert set_random_state(state, backend.name)
    assert equal(draws(), first)
    assert equal(draws(), second)
    labdl.seed(9, portable=not portable)
    draws()
    set_random_state(state, backend.name)
    assert equal(draws(), first)
    assert (dispatch.current_seed(), dispatch.portable()) == (3, portable)


@pytest.mark.parametrize("compiled", [None, False])
def test_dropout_in_a_function_that_is_compiled_is_drawn_again(backend, compiled):
    """The state reaches what a compiled step holds, not only what is drawn outside of it."""
    labdl.seed(3)
    run = backend.evaluate_function(lambda x: ops.dropout(x, 0.5, training=True), compiled=compiled)
    x = backend.tensor(np.ones((4, 50), "float32"))
    first_call = np.array(labdl.to_numpy(run(x)))
    state = random_state(backend.name)
    first, second = (np.array(labdl.to_numpy(run(x))) for _ in range(2))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, first_call)
    set_random_state(state, backend.name)
    assert np.array_equal(labdl.to_numpy(run(x)), first)
    assert np.array_equal(labdl.to_numpy(run(x)), second)


def test_a_random_state_of_nonsense_is_refused(backend):
    state = random_state(backend.name)
    before = draws()
    own = state["own"]
    wrong = [{}, {**state, "own": {}}, {**state, "own": 3}, {**state, "portable": {}}, {**state, "seed": "x"}]
    wrong += [
        {**state, "own": {**own, key: value}} for key in own for value in ("x", np.zeros(3), [[]], {"engine": "x"})
    ]
    for values in wrong:
        with pytest.raises(ValueError, match=f"this is no random state of {backend.name}"):
            set_random_state(values, backend.name)
    set_random_state(state, backend.name)
    assert equal(draws(), before)


# -- interrupted, and never interrupted


@pytest.mark.parametrize("recipe", RECIPES)
def test_resumed_in_the_middle_of_an_epoch_is_never_interrupted(recipe, backend, data, tmp_path):
    """Bit for bit on every framework: parameters, slots, figures, and what would be drawn next."""
    labdl.seed(3)
    whole = trainer(backend, recipe)
    history = fit(whole, data)
    labdl.seed(3)
    stopped_after(8, trainer(backend, recipe), data, checkpoint=Checkpoint(tmp_path, every=7))
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000007"]
    labdl.seed(77)
    again = trainer(backend, recipe, seed=50)  # other weights, another order, other random numbers
    figures = fit(again, data, resume=tmp_path)
    assert figures == history
    ours, theirs = again.state_dict(), whole.state_dict()
    assert equal(ours["parameters"], theirs["parameters"])
    assert equal(ours["optimizer"], theirs["optimizer"])
    assert equal(ours["training"], theirs["training"])
    assert again.learning_rate == whole.learning_rate
    labdl.seed(77)
    other = trainer(backend, recipe)
    fit(other, data)
    assert not equal(other.model.state_dict(), theirs["parameters"]), "dropout and its state count in this test"


@pytest.mark.parametrize("at", [1, 4, 5, 6, 10, 15])
def test_any_step_will_do(at, backend, data, tmp_path):
    """Also the first, the last of an epoch, and the last of all."""
    labdl.seed(3)
    whole = trainer(backend)
    history = fit(whole, data)
    labdl.seed(3)
    first = trainer(backend)
    for event in first.events(data, validation=data, epochs=EPOCHS, batch_size=BATCH):
        if isinstance(event, Step) and event.step == at:
            made = save(first, tmp_path)
            break
    assert made == tmp_path / f"step-{at:08d}"
    labdl.seed(77)
    again = trainer(backend, seed=50)
    assert fit(again, data, resume=made) == history
    assert equal(again.model.state_dict(), whole.model.state_dict())


def test_the_same_lines_begin_and_go_on(backend, data, tmp_path):
    """resume=True: the first call begins, those after a break go on, and one that is at its end does nothing."""
    labdl.seed(3)
    whole = trainer(backend)
    history = fit(whole, data)

    def lines(epochs):
        labdl.seed(3)
        subject = trainer(backend)
        plan = train.CosineDecay(steps=15)  # as long as the whole training
        subject.schedule = plan
        return subject, fit(subject, data, epochs, checkpoint=Checkpoint(tmp_path, keep=2), resume=True)

    lines(1)
    lines(2)
    subject, figures = lines(3)
    assert figures == history
    assert equal(subject.model.state_dict(), whole.model.state_dict())
    again, figures = lines(3)
    assert figures == history
    assert equal(again.model.state_dict(), whole.model.state_dict())
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000010", "step-00000015"]


def test_a_checkpoint_changes_nothing(backend, data, tmp_path):
    labdl.seed(3)
    history = fit(trainer(backend), data)
    labdl.seed(3)
    assert fit(trainer(backend), data, checkpoint=Checkpoint(tmp_path, every=1, monitor="val_loss")) == history


def test_a_rate_that_was_set_by_hand_goes_on(backend, data, tmp_path):
    """And so does a group's share of it."""

    def halved(subject, **options):
        for event in subject.events(data, epochs=2, batch_size=BATCH, **options):
            if isinstance(event, Step) and event.step == 3:
                subject.learning_rate = 0.005

    options = {
        "optimizer": train.SGD(0.02, momentum=0.9, groups=[("head/*", {"learning_rate": 0.04})]),
        "schedule": None,
    }
    labdl.seed(3)
    whole = trainer(backend, **options)
    halved(whole)
    labdl.seed(3)
    halved(trainer(backend, **options), checkpoint=Checkpoint(tmp_path, every=4, keep=None))
    again = trainer(backend, **options)
    assert again.learning_rate == 0.02
    list(again.events(data, epochs=2, batch_size=BATCH, resume=tmp_path / "step-00000004"))
    assert again.learning_rate == 0.005
    assert equal(again.model.state_dict(), whole.model.state_dict())


def test_what_a_plateau_has_seen_goes_on(backend, data):
    schedule = train.ReduceOnPlateau(patience=0, threshold=0.9, factor=0.5)  # nothing ever is better than the first
    first = trainer(backend, optimizer=train.SGD(0.08), schedule=schedule)
    fit(first, data, 2)
    again = trainer(backend, optimizer=train.SGD(0.08), schedule=schedule)
    again.model.build((None, 1, 6, 6), backend=backend.name)
    again.load_state_dict(first.state_dict())
    assert equal(again.state_dict()["training"]["memory"], {"best": first.progress.history["val_loss"][0], "bad": 0,
                                                            "resting": 0, "reductions": 1})  # fmt: skip
    fit(again, data, 4)
    assert again.learning_rate == pytest.approx(0.08 * 0.5**2)
    other = trainer(backend, optimizer=train.SGD(0.08), schedule="cosine", model=again.model)
    other.load_state_dict(first.state_dict())
    with pytest.raises(StateDictError, match="remembers what reduce_on_plateau has observed"):
        fit(other, data, 4)


def test_a_background_run_goes_on(backend, data, tmp_path):
    labdl.seed(3)
    history = fit(trainer(backend), data)
    labdl.seed(3)
    options = {
        "validation": data,
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "checkpoint": Checkpoint(tmp_path / "kept", every=2),
    }
    run = trainer(backend).start(data, folder=tmp_path / "first", **options)
    for _ in range(6000):
        if latest(tmp_path / "kept") is not None:
            break
        time.sleep(0.01)
    run.stop()
    run.wait(60)
    labdl.seed(77)
    again = trainer(backend, seed=50).start(data, folder=tmp_path / "second", resume=True, **options)
    assert again.wait(60).history == history
    with pytest.raises(ConfigError, match="holds checkpoints up to step-00000015 already"):
        trainer(backend).start(data, folder=tmp_path / "third", **options)


def test_events_tell_where_a_training_goes_on(backend, data, tmp_path):
    stopped_after(8, trainer(backend), data, checkpoint=Checkpoint(tmp_path, every=7))
    events = list(trainer(backend).events(data, validation=data, epochs=EPOCHS, batch_size=BATCH, resume=tmp_path))
    assert isinstance(events[0], Started)
    assert events[0].step == 7
    assert [len(v) for v in events[0].history.values()] == [1] * 6
    assert [e.step for e in events if isinstance(e, Step)] == list(range(8, 16))
    assert [(e.epoch, e.step) for e in events if isinstance(e, Epoch)] == [(2, 10), (3, 15)]


def test_a_training_is_killed(backend, data, tmp_path):
    """kill -9 while a checkpoint is being written: the last whole one goes on."""
    labdl.seed(3)
    whole = trainer(backend)
    history = fit(whole, data)
    code = (
        "import sys, time, labdl; sys.path.insert(0, sys.argv[1]); labdl.use(sys.argv[2])\n"
        "import numpy as np, test_checkpoint_training as t\n"
        "from labdl.train import checkpoint\n"
        "flush = checkpoint._write\n"
        "def pausing(path, data):\n"
        "    flush(path, data)\n"
        "    if 'step-00000008' in str(path.parent):\n"
        "        print('writing', flush=True); time.sleep(600)\n"
        "checkpoint._write = pausing\n"
        "x, y = np.load(sys.argv[3] + '/x.npy'), np.load(sys.argv[3] + '/y.npy')\n"
        "labdl.seed(3)\n"
        "t.fit(t.trainer(labdl.backends.get(sys.argv[2])), (x, y), checkpoint=labdl.train.Checkpoint(sys.argv[3], every=2))\n"
    )
    for name, array in zip("xy", data, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    arguments = [sys.executable, "-c", code, os.path.dirname(__file__), backend.name, str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        process.kill()
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000002", "step-00000004", "step-00000006"]
    assert list(tmp_path.glob(".step-00000008.*.part"))
    labdl.seed(77)
    again = trainer(backend, seed=50)
    assert fit(again, data, checkpoint=Checkpoint(tmp_path, every=2), resume=True) == history
    assert equal(again.model.state_dict(), whole.model.state_dict())
    assert not list(tmp_path.glob(".*")), "what the crash left is gone"


# -- another backend


def plain(backend, **options):
    """A recipe without random numbers; Adam would make steps of rounding errors."""
    model = nn.Sequential(nn.Conv2d(3, padding="same"), nn.ReLU(), nn.Flatten(), nn.Linear(4))
    return trainer(backend, model=model, optimizer=train.SGD(0.05, momentum=0.9), metrics=["accuracy"], **options)


def test_a_checkpoint_goes_on_with_torch(backend, data, tmp_path):
    """Parameters, slots, schedule and the order of the data go on; of the random numbers it is said that they cannot."""
    torch = dispatch.get("torch")
    whole = plain(torch)
    history = fit(whole, data)
    stopped_after(8, plain(backend), data, checkpoint=Checkpoint(tmp_path, every=7))
    again = plain(torch, seed=50)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figures = fit(again, data, resume=tmp_path)
    assert any("seeded anew" in str(w.message) for w in said) == (backend.name != "torch")
    for name, values in history.items():
        assert figures[name] == pytest.approx(values, rel=1e-4, abs=1e-5), name
    for key, value in whole.model.state_dict().items():
        np.testing.assert_allclose(again.model.state_dict()[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


def test_portable_random_numbers_go_on_with_torch(backend, data, tmp_path):
    def dropping(backend, seed=1):
        model = nn.Sequential(nn.Flatten(), nn.Dropout(0.4), nn.Linear(4))
        return trainer(backend, seed=seed, model=model, optimizer=train.SGD(0.05), metrics=[], compiled=False)

    torch = dispatch.get("torch")
    labdl.seed(3, portable=True)
    whole = dropping(torch)
    fit(whole, data)
    labdl.seed(3, portable=True)
    stopped_after(8, dropping(backend), data, checkpoint=Checkpoint(tmp_path, every=7))
    labdl.seed(77)
    again = dropping(torch, seed=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(again, data, resume=tmp_path)
    for key, value in whole.model.state_dict().items():
        np.testing.assert_allclose(again.model.state_dict()[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


def test_every_optimisers_state_opens_without_a_framework(backend, data, tmp_path):
    """Written here, taken up on NumPy, written there, taken up here: nothing is lost on the way."""
    for kind in train.OPTIMIZERS:
        first = plain(backend)
        first.optimizer = train.optimizer(kind)
        stopped_after(3, first, data)
        model = plain(backend).model.build((None, 1, 6, 6), backend="numpy")
        between = Trainer(model, optimizer=train.optimizer(kind), schedule="cosine")
        back = plain(backend)
        back.optimizer = train.optimizer(kind)
        back.model.build((None, 1, 6, 6), backend=backend.name)
        with pytest.warns(UserWarning, match="seeded anew"):
            load(between, save(first, tmp_path / kind))
        with pytest.warns(UserWarning, match="seeded anew"):
            load(back, save(between, tmp_path / kind))
        ours, theirs = back.state_dict(), first.state_dict()
        assert equal(ours["parameters"], theirs["parameters"]), kind
        assert equal(ours["optimizer"], theirs["optimizer"]), kind
        assert equal(ours["training"]["progress"], theirs["training"]["progress"]), kind


def test_a_checkpoint_opens_as_a_model(backend, data, tmp_path):
    subject = trainer(backend)
    fit(subject, data, 1, checkpoint=Checkpoint(tmp_path, monitor="val_loss"))
    model = labdl.load(best(tmp_path) / "model", backend=backend.name)
    x = data[0][:5]
    np.testing.assert_allclose(labdl.predict(model, x), labdl.predict(subject.model, x), rtol=1e-5, atol=1e-6)


def test_what_does_not_fit_is_said_and_changes_nothing(backend, data, tmp_path):
    first = plain(backend)
    fit(first, data, 1, checkpoint=Checkpoint(tmp_path, every=3))
    kept = first.state_dict()
    middle, other = tmp_path / "step-00000003", plain(backend, seed=50)
    other.model.build((None, 1, 6, 6), backend=backend.name, seed=50)
    before = other.model.state_dict()
    adam = trainer(backend, model=other.model)
    with pytest.raises(ConfigError, match="is of a training with sgd, the trainer has adam"):
        load(adam, middle)
    wide = trainer(backend, model=nn.Sequential(nn.Flatten(), nn.Linear(4)), optimizer=train.SGD(0.05, momentum=0.9))
    with pytest.raises(StateDictError, match="missing 1/kernel:0/momentum"):
        fit(wide, data, resume=middle)
    with pytest.raises(ConfigError, match="began with batch_size=16 and cannot go on with 8"):
        other.fit(data, batch_size=8, resume=middle, progress=False)
    with pytest.raises(
        ConfigError, match="the epoch under way began with the metrics accuracy, the trainer has accuracy, f1"
    ):
        fit(
            trainer(backend, model=other.model, optimizer=first.optimizer, metrics=["accuracy", "f1"]),
            data,
            resume=middle,
        )
    state = {**kept, "parameters": {**kept["parameters"], "0/bias:0": np.zeros(99)}}
    with pytest.raises(StateDictError, match="0/bias:0 has shape"):
        first.load_state_dict(state)
    assert equal(first.state_dict(), kept)
    assert before.keys() == kept["parameters"].keys()
