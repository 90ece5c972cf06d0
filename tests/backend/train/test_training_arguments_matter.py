"""Two values of an argument of a training give different records, parameters or files: one that is ignored is a fault."""

import dataclasses
import inspect

import numpy as np
import pytest
from interrupted import own_seeds
from variations import is_equal

import labdl
from labdl import nn, ops
from labdl.train import EMA, SGD, SWA, Checkpoint, Confusion, EarlyStopping, Health, NewCheckpoint, Predictions, Trainer
from labdl.train.config import TrainerSettings
from labdl.train.options import TrainerOptions, TrainingOptions

pytestmark = pytest.mark.sample(every=12, backends=1)

DRAWS = np.random.default_rng(0)
X, Y = DRAWS.normal(size=(27, 4)).astype("float32"), np.arange(27) % 3
MORE = DRAWS.normal(size=(600, 4)).astype("float32"), np.arange(600) % 3
VALID = {"validation": (X[:9], Y[:9])}
PAIR = {"loss": ["cross_entropy", "cross_entropy"]}
TWICE = (X, (Y, Y[::-1].copy()))


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


class Counted(nn.Module):
    """Three logits, or three and three, whose calls in Python are counted with the sizes of their batches."""

    def __init__(self, heads=1):
        self.heads = heads
        self.hidden, self.last = nn.Linear(5), nn.Linear(3)
        self.normal, self.drop = nn.BatchNorm(), nn.Dropout(0.2)

    def forward(self, x):
        CALLS.append(x.shape[0])
        logits = self.last(self.drop(ops.relu(self.normal(self.hidden(x)))))
        return logits if self.heads == 1 else (logits, 2 * logits)


CALLS: list = []


@dataclasses.dataclass(frozen=True)
class Case:
    """An argument with two values, ``without`` it by default, beside what makes it matter."""

    value: object
    settings: dict = dataclasses.field(default_factory=dict)  # of the trainer
    options: dict = dataclasses.field(default_factory=dict)  # of the training
    data: tuple = (X, Y)
    method: str = "fit"
    without: object = None  # the other value; None: the argument is left out


def in_folder(name):
    return lambda folder: folder / name


TRAINER = {
    "loss": Case(nn.CrossEntropyLoss(label_smoothing=0.1)),
    "optimizer": Case("sgd"),
    "metrics": Case(("accuracy",)),
    "seed": Case(2, without=1),
    "schedule": Case("cosine_decay"),
    "learning_rate": Case(0.1),
    "lr": Case(0.1),
    "accumulate": Case(2),
    "accumulate_grad_batches": Case(2),
    "clip_norm": Case(0.01),
    "gradient_clip_val": Case(0.01),
    "clip_value": Case(0.001),
    "gradient_norm": Case(True),
    "keep_gradients": Case(True),
    "precision": Case("bfloat16"),
    "freeze": Case("hidden/*"),
    "loss_weights": Case([1.0, 3.0], PAIR, data=TWICE),
    "average": Case(EMA(0.5), options=VALID),
    "health": Case(0.0, method="start", options={"epochs": 3}, without=1.0),
    "stopping": Case(EarlyStopping("loss", patience=0, min_delta=9.0), options={"epochs": 3}),
    "epochs": Case(2),
    "max_epochs": Case(2),
    "batch_size": Case(5),
    "shuffle": Case(False),
    "train_dataset": Case((X, Y), data=(), without=(X[:9], Y[:9])),
    "val_dataset": Case((X[:9], Y[:9])),
    "max_steps": Case(2),
    "max_time": Case(1e-9),
    "check_val_every_n_epoch": Case(2, options={**VALID, "epochs": 2}),
    "val_check_interval": Case(1, options=VALID),
    "limit_train_batches": Case(2),
    "limit_val_batches": Case(1, options={"validation": MORE}),
    "drop_last": Case(True, data=(X[:25], Y[:25])),
    "fast_dev_run": Case(True),
    "output_dir": Case(in_folder("here"), method="start"),
    "checkpoint": Case(in_folder("here")),
}
TRAINING = {
    "validation": Case((X[:9], Y[:9])),
    "validation_data": Case((X[:9], Y[:9])),
    "val_dataloaders": Case((X[:9], Y[:9])),
    "validation_split": Case(0.3),
    "validation_from": Case("last", options={"validation_split": 0.3}),
    "epochs": Case(2),
    "batch_size": Case(5),
    "shuffle": Case(False),
    "steps_per_epoch": Case(2),
    "validation_steps": Case(1, options={"validation": MORE}),
    "validation_freq": Case(2, options={**VALID, "epochs": 2}),
    "validation_batch_size": Case(4, options=VALID),
    "class_weight": Case([1.0, 2.0, 5.0]),
    "sample_weight": Case(np.linspace(0.1, 2, 27)),
    "checkpoint": Case(in_folder("here")),
    "resume": Case(in_folder("former"), options={"epochs": 3}),
    "ckpt_path": Case(in_folder("former"), options={"epochs": 3}),
    "health": Case(0.0, options={"epochs": 3}, method="start", without=1.0),
    "callbacks": Case([lambda event: True], options={"epochs": 3}),
}
CALLBACKS = {
    (EarlyStopping, "monitor"): Case({"monitor": "val_loss"}, without={"monitor": "loss"}),
    (EarlyStopping, "patience"): Case({"patience": 3}, without={"patience": 1}),
    (EarlyStopping, "mode"): Case({"mode": "max"}, without={"mode": "min"}),
    (EarlyStopping, "min_delta"): Case({"min_delta": 9.0}),
    (EarlyStopping, "restore_best"): Case({"restore_best": True}),
    (EarlyStopping, "start_from_epoch"): Case({"start_from_epoch": 2}),
    (EarlyStopping, "baseline"): Case(
        {"baseline": 99.0, "mode": "max", "patience": 2}, without={"mode": "max", "patience": 2}
    ),
    (EarlyStopping, "stopping_threshold"): Case({"stopping_threshold": 9.0, "patience": 9}, without={"patience": 9}),
    (Checkpoint, "folder"): Case({"folder": in_folder("there")}),
    (Checkpoint, "every"): Case({"every": 2}),
    (Checkpoint, "keep"): Case({"keep": 1}),
    (Checkpoint, "monitor"): Case({"monitor": "val_loss", "keep": 1, "every": 100}, without={"keep": 1, "every": 100}),
    (Checkpoint, "mode"): Case({"mode": "max", "monitor": "loss", "keep": 1}, without={"monitor": "loss", "keep": 1}),
    (EMA, "decay"): Case({"decay": 0.5}),
    (EMA, "every"): Case({"every": 2}),
    (EMA, "evaluate"): Case({"evaluate": False}),
    (SWA, "start"): Case({"start": 1}),
    (SWA, "every"): Case({"every": 2, "start": 0}, without={"start": 0}),
}
REASONS = {
    "model": "what is trained",
    "backend": "chosen among those that are installed; test_training_elsewhere has it",
    "compiled": "the same values, sooner; test_compiled has it",
    "gradient_checkpointing": "the same values with less memory; test_gradient_checkpointing has it",
    "progress": "what is printed; test_progress_bar has it",
}


def resolved(value, folder):
    if isinstance(value, dict):
        return {name: resolved(v, folder) for name, v in value.items()}
    return (
        value(folder)
        if getattr(value, "__name__", "") == "<lambda>" and len(inspect.signature(value).parameters) == 1
        else value
    )


def numbers_of(values):
    return np.array([float(v) for _, v in sorted(values.items()) if isinstance(v, int | float)])


def record(event):
    """What an event says besides times and folders."""
    name = type(event).__name__
    if isinstance(event, Health | Predictions | Confusion | NewCheckpoint):
        return []
    return [np.array([name, *sorted(getattr(event, "values", {}))]), numbers_of(getattr(event, "values", {}))]


def observe(backend, folder, settings, options, data, method):
    """Events, parameters, gradients, calls and files of a training."""
    labdl.seed(3)
    CALLS.clear()
    model = Counted(heads=2 if settings.get("loss") == PAIR["loss"] else 1)
    model.build((None, 4), backend=backend.name, seed=0)
    events: list = []
    trainer = Trainer(model, **{"seed": 1, "batch_size": 9, **settings})
    options = {**options, "callbacks": [*options.get("callbacks", ()), events.append]}
    if method == "fit":
        trainer.fit(*data, progress=False, **options)
    else:
        run = trainer.start(*data, **options)
        run.wait()
    results = [array for event in events for array in record(event)]
    results.append(np.array([any(isinstance(event, Health) for event in events)]))
    results += [np.asarray(labdl.to_numpy(p.value)) for p in model.parameters()]
    results.append(np.array(CALLS))
    if settings.get("keep_gradients"):
        results += list(trainer.gradients().values())
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("step-*"))
    return [*results, np.array(files), np.array([path.name for path in sorted(folder.iterdir())])]


def matters(backend, tmp_path, name, case, *, setting):
    results = []
    for at, value in enumerate((case.without, case.value)):
        folder = tmp_path / str(at)
        folder.mkdir()
        own = {} if value is None else {name: resolved(value, folder)}
        settings, options = {**case.settings, **(own if setting else {})}, {**case.options, **({} if setting else own)}
        if case.method == "start" and "output_dir" not in settings:
            options["folder"] = folder / "run"
        if name in ("resume", "ckpt_path"):
            observe(backend, folder, {}, {"checkpoint": folder / "former"}, (X, Y), "fit")
        results.append(observe(backend, folder, settings, options, case.data, case.method))
    assert not is_equal(*results), f"{name} changes nothing"


@pytest.mark.parametrize("name", TRAINER)
def test_every_setting_of_a_trainer(name, backend, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matters(backend, tmp_path, name, TRAINER[name], setting=True)


@pytest.mark.parametrize("name", TRAINING)
def test_every_argument_of_a_training(name, backend, tmp_path):
    matters(backend, tmp_path, name, TRAINING[name], setting=False)


def callback_of(cls, settings):
    """Where a trainer takes a callback, with its settings: the argument, and what makes them matter."""
    if cls is EarlyStopping:
        return "stopping", EarlyStopping(**{"monitor": "loss", "patience": 1, "min_delta": 0.05, **settings})
    return ("checkpoint", Checkpoint(**settings)) if cls is Checkpoint else ("average", cls(**settings))


@pytest.mark.parametrize(("cls", "name"), CALLBACKS, ids=[f"{cls.__name__}-{name}" for cls, name in CALLBACKS])
def test_every_setting_of_a_callback(cls, name, backend, tmp_path):
    case, results = CALLBACKS[cls, name], []
    for at, settings in enumerate((case.without or {}, case.value)):
        folder = tmp_path / str(at)
        folder.mkdir()
        settings = {**({"folder": folder / "here"} if cls is Checkpoint else {}), **resolved(settings, folder)}
        argument, callback = callback_of(cls, settings)
        own = {argument: callback, "optimizer": SGD(0.5)}
        results.append(observe(backend, folder, own, {**VALID, "epochs": 5}, (X, Y), "fit"))
    assert not is_equal(*results), f"{cls.__name__}: {name} changes nothing"


def test_every_argument_of_an_evaluation(backend):
    model = Counted().build((None, 4), backend=backend.name, seed=0)
    trainer = Trainer(model, optimizer=SGD(0.5), average=EMA(0.5), compiled=False, seed=1)
    trainer.fit(X, Y, progress=False)
    whole = trainer.evaluate(X, Y)
    assert trainer.evaluate(X[:9], Y[:9]) != whole
    assert trainer.validate(X[:9], Y[:9]) != trainer.validate(X, Y)
    assert trainer.evaluate(X, Y, averaged=True) != whole
    model.class_names = ("a", "b", "c")
    predictions = (
        lambda x, y, **size: trainer.predict(x, **size),
        lambda x, y, **size: labdl.predict(model, x, **size),
    )
    for compute in (trainer.evaluate, trainer.test, trainer.validate, *predictions):
        CALLS.clear()
        compute(X, Y, batch_size=20)
        assert len(CALLS) == 2
    assert labdl.predict(model, X, labels=True)[0] in model.class_names
    assert trainer.predict(X, labels=True)[0] in model.class_names


def test_every_argument_of_a_search_for_the_learning_rate(backend):
    def curve(**options):
        model = Counted().build((None, 4), backend=backend.name, seed=0)
        found = Trainer(model, optimizer=SGD(0.5), seed=1).find_learning_rate(X, Y, **{"num_training": 8, **options})
        return [np.array(found.learning_rates), np.array(found.losses)]

    expected = curve()
    for name, value in {
        "min_lr": 1e-4,
        "max_lr": 2.0,
        "num_training": 5,
        "early_stop_threshold": 1.0001,
        "batch_size": 5,
    }.items():
        assert not is_equal(curve(**{name: value}), expected), f"{name} changes nothing"


def test_every_argument_has_its_case():
    settings = {f.name for f in dataclasses.fields(TrainerSettings)} | TrainerOptions.__annotations__.keys()
    settings |= inspect.signature(Trainer.__init__).parameters.keys() - {"self", "settings"}
    assert settings == TRAINER.keys() | REASONS.keys() - {"progress"}
    assert TrainingOptions.__annotations__.keys() == TRAINING.keys()
    for cls in (EarlyStopping, Checkpoint, EMA, SWA):
        assert {f.name for f in dataclasses.fields(cls)} == {name for owner, name in CALLBACKS if owner is cls}
