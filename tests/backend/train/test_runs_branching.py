"""Branches of runs: copies with the exact state of the run, which continue independently."""

import json

import numpy as np
import pytest
from runs import DATA, WAIT, acknowledgements, of_kind, pause_run, soon, trainer, write_command

import labdl
from labdl import nn, ops, train
from labdl.errors import ConfigError
from labdl.train import Checkpoint, EarlyStopping, Trainer
from labdl.train.checkpoint import checkpoints
from labdl.train.run.locks import compute_lock

pytestmark = pytest.mark.sample(backends=["torch"])


def same_parameters(run, other):
    ours, theirs = run.model.state_dict(), other.model.state_dict()
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


def rich(backend, **options):
    """A trainer with all kinds of state: slots, averages, a schedule with state, dropout, metrics, early stopping."""
    labdl.seed(5)
    model = nn.Sequential(nn.Linear(8), nn.BatchNorm(), nn.Tanh(), nn.Dropout(0.4), nn.Linear(1))
    return Trainer(
        model,
        loss="mean_squared_error",
        optimizer=train.Adam(0.01),
        metrics=["mean_absolute_error"],
        seed=3,
        schedule=train.ReduceOnPlateau(patience=0),
        average=train.EMA(0.9),
        backend=backend.name,
        stopping=EarlyStopping(patience=50, restore_best=True),
        **options,
    )


@pytest.mark.parametrize("step", [4, 5, 8])
def test_branch_without_changes_has_the_same_results(step, backend, tmp_path):
    """Within an epoch, at its last step, and compared with a training without branches."""
    alone = rich(backend)
    alone.fit(DATA, validation=DATA, epochs=6, batch_size=8, progress=False)
    branches = []

    def on_event(event):
        if isinstance(event, train.Step) and event.step == step:
            branches.append(run_of[0].branch())

    run_of = []
    with compute_lock:  # so that the run starts after the assignment
        run_of.append(
            rich(backend).start(
                DATA, validation=DATA, epochs=6, batch_size=8, folder=tmp_path / "run", callbacks=[on_event]
            )
        )
    run = run_of[0].wait(WAIT)
    branch = branches[0].wait(WAIT)
    assert branch.model is not run.model
    assert same_parameters(run, branch)
    assert run.history == branch.history == alone.progress.history
    assert all(np.array_equal(value, alone.model.state_dict()[name]) for name, value in run.model.state_dict().items())
    start = of_kind(branch, "start")[0]
    assert start["parent"] == {"id": "run", "folder": "../run", "step": step}
    assert start["step"] == step
    assert [s for e in of_kind(branch, "steps") for s in e["step"]] == list(range(step + 1, 31))
    assert of_kind(run, "branch")[0]["folder"] == "../run-branch-1"
    assert [s for e in of_kind(run, "steps") for s in e["step"]] == list(range(1, 31))


def test_branch_with_changes_does_not_affect_its_parent(backend, held, tmp_path):
    alone = trainer(backend)
    alone.fit(DATA, epochs=3, batch_size=8, progress=False)
    held = held(tmp_path / "run", checkpoint=Checkpoint(tmp_path / "kept"), save_to=tmp_path / "net.npz")
    pause_run(held)
    first = held.run.branch(learning_rate=0.3, epochs=5)
    second = held.run.branch(folder=tmp_path / "elsewhere")
    assert (first.folder, second.folder) == (tmp_path / "run-branch-1", tmp_path / "elsewhere")
    first.wait(WAIT)
    assert [(e["step"], e["value"]) for e in of_kind(first, "learning_rate")] == [(1, 0.3)]
    assert (first.step, first.learning_rate) == (25, 0.3)
    assert (first.folder / "net.npz").is_file()
    assert checkpoints(first.folder / "checkpoints")
    assert held.run.status == "paused"
    held.run.resume()
    held.go()
    held.run.wait(WAIT)
    assert same_parameters(held.run, second.wait(WAIT))
    assert not same_parameters(held.run, first)
    assert all(
        np.array_equal(value, alone.model.state_dict()[name]) for name, value in held.run.model.state_dict().items()
    )


def test_branch_keeps_the_learning_rate_and_the_schedule(backend, tmp_path):
    """After adding epochs and setting the rate, the branch trains with the rates of its parent."""
    subject = trainer(backend, schedule=train.CosineDecay(), optimizer=train.SGD(0.1))
    found = []

    def on_event(event):
        if isinstance(event, train.Step) and event.step == 4:
            run_of[0].add_epochs(2)
            subject.loop.set_learning_rate(0.02)
            found.append(run_of[0].branch())

    run_of = []
    with compute_lock:
        run_of.append(subject.start(DATA, epochs=2, batch_size=8, folder=tmp_path / "run", callbacks=[on_event]))
    run_of[0].wait(WAIT)
    branch = found[0].wait(WAIT)
    assert branch.step == run_of[0].step == 20
    assert same_parameters(run_of[0], branch)


def test_branch_by_command_is_recorded(held, tmp_path):
    held = held(tmp_path / "run")
    pause_run(held)
    identity = write_command(held.run, command="branch", value={"learning_rate": 0.5})
    assert soon(lambda: identity in acknowledgements(held.run))
    event = of_kind(held.run, "branch")[0]
    folder = held.run.folder / event["folder"]
    assert soon(lambda: '"end"' in (folder / "events.jsonl").read_text())
    assert json.loads((folder / "events.jsonl").read_text().splitlines()[0])["id"] == event["id"] == "run-branch-1"


class TwoPhases(Trainer):
    """Two phases with their own optimizers, which refer to parts of the model by attributes of the trainer."""

    def phases(self):
        first, second = self.parts
        return [
            train.Phase("first", self.loss_and_output, ["0/*"], train.SGD(0.02)),
            train.Phase(
                "second", lambda x, y: (ops.mean(ops.square(second(first(x)) - y)), None), ["1/*"], train.Adam(0.03)
            ),
        ]


def test_branch_with_phases_and_gradient_accumulation(backend, tmp_path):
    def subject():
        model = nn.Sequential(nn.Linear(6), nn.Linear(1))
        trainer = TwoPhases(model, loss="mean_squared_error", backend=backend.name, seed=2, accumulate=2, clip_norm=1.0)
        trainer.parts = model.get_module("0"), model.get_module("1")
        return trainer

    alone, found = subject(), []
    alone.fit(DATA, epochs=3, batch_size=6, progress=False)

    def on_event(event):
        if isinstance(event, train.Step) and event.step == 5:
            found.append(run_of[0].branch())

    run_of = []
    with compute_lock:
        run_of.append(subject().start(DATA, epochs=3, batch_size=6, folder=tmp_path / "run", callbacks=[on_event]))
    run_of[0].wait(WAIT)
    branch = found[0].wait(WAIT)
    assert branch.trainer.parts[0] is branch.model.get_module("0")
    assert same_parameters(run_of[0], branch)
    assert all(
        np.array_equal(value, alone.model.state_dict()[name]) for name, value in branch.model.state_dict().items()
    )


class Own(Trainer):
    def __init__(self, model, **settings):
        super().__init__(model, **settings)


def branch_error(subject, tmp_path, **changes):
    with compute_lock:
        run = subject.start(DATA, epochs=2, batch_size=8, folder=tmp_path / "run")
        run.pause()
    assert soon(lambda: run.status == "paused")
    try:
        with pytest.raises(ConfigError) as error:
            run.branch(**changes)
        assert not list(tmp_path.glob("run-branch-*"))
    finally:
        run.resume()
    assert run.wait(WAIT).status == "finished"
    return str(error.value)


def test_branch_raises_for_what_cannot_be_copied(backend, tmp_path):
    options = {"loss": "mean_squared_error", "backend": backend.name, "optimizer": "sgd"}
    assert "overrides __init__" in branch_error(Own(nn.Linear(1), **options), tmp_path / "own")
    watched = nn.Sequential(nn.Linear(1))
    remove = watched.register_forward_hook(lambda *_: None)
    assert "has hooks" in branch_error(Trainer(watched, **options), tmp_path / "hooks")
    remove()
    model = nn.Sequential(nn.Linear(1))
    penalized = {
        **options,
        "loss": lambda output, target: ops.mean(ops.square(output - target)) + 0 * len(model._modules),
    }
    assert "refers to a model" in branch_error(Trainer(model, **penalized), tmp_path / "closure")
    locked = nn.Sequential(nn.Linear(1))
    locked.file = open(__file__)  # noqa: SIM115 - what cannot be copied
    assert "cannot be copied" in branch_error(Trainer(locked, **options), tmp_path / "file")
    locked.file.close()


@pytest.mark.backends("torch")
def test_native_module_is_copied_with_its_parameters(backend, tmp_path):
    import torch

    model = nn.from_native(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)))
    subject = Trainer(model, loss="mean_squared_error", optimizer="adam", backend=backend.name, seed=1)
    with compute_lock:
        run = subject.start(DATA, epochs=2, batch_size=8, folder=tmp_path / "run")
        run.pause()
    assert soon(lambda: run.status == "paused")
    branch = run.branch()
    run.resume()
    assert same_parameters(run.wait(WAIT), branch.wait(WAIT))
    assert not {id(p.value) for p in branch.model.parameters()} & {id(p.value) for p in run.model.parameters()}
