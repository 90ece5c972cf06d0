"""Branches of runs: the exact state in a copy, with which both go on beside each other (R9.4)."""

import json

import numpy as np
import pytest
from runs import DATA, WAIT, answers, of_kind, order, resting, soon, trainer

import labdl
from labdl import nn, ops, train
from labdl.errors import ConfigError
from labdl.train import Checkpoint, EarlyStopping, Trainer
from labdl.train.checkpoint import checkpoints
from labdl.train.run.locks import turns


def like(run, other):
    ours, theirs = run.model.state_dict(), other.model.state_dict()
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


def rich(backend, **options):
    """All that a training can remember: slots, averages, a schedule that observes, random numbers, metrics under way."""
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
def test_a_branch_without_changes_ends_with_the_same_numbers(step, backend, tmp_path):
    """Between two steps of an epoch, at its last step, and as if nobody had branched."""
    alone = rich(backend)
    alone.fit(DATA, validation=DATA, epochs=6, batch_size=8, progress=False)
    branches = []

    def hear(event):
        if isinstance(event, train.Step) and event.step == step:
            branches.append(run_of[0].branch())

    run_of = []
    with turns:  # it begins when it is known by its name
        run_of.append(
            rich(backend).start(
                DATA, validation=DATA, epochs=6, batch_size=8, folder=tmp_path / "run", callbacks=[hear]
            )
        )
    run = run_of[0].wait(WAIT)
    branch = branches[0].wait(WAIT)
    assert branch.model is not run.model
    assert like(run, branch)
    assert run.history == branch.history == alone.progress.history
    assert all(np.array_equal(value, alone.model.state_dict()[name]) for name, value in run.model.state_dict().items())
    start = of_kind(branch, "start")[0]
    assert start["parent"] == {"id": "run", "folder": "../run", "step": step}
    assert start["step"] == step
    assert [s for e in of_kind(branch, "steps") for s in e["step"]] == list(range(step + 1, 31))
    assert of_kind(run, "branch")[0]["folder"] == "../run-branch-1"
    assert [s for e in of_kind(run, "steps") for s in e["step"]] == list(range(1, 31))


def test_a_branch_with_changes_leaves_its_parent_alone(backend, held, tmp_path):
    alone = trainer(backend)
    alone.fit(DATA, epochs=3, batch_size=8, progress=False)
    held = held(tmp_path / "run", checkpoint=Checkpoint(tmp_path / "kept"), save_to=tmp_path / "net.npz")
    resting(held)
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
    assert like(held.run, second.wait(WAIT))
    assert not like(held.run, first)
    assert all(
        np.array_equal(value, alone.model.state_dict()[name]) for name, value in held.run.model.state_dict().items()
    )


def test_a_branch_keeps_rates_set_by_hand_and_the_course_of_a_schedule(backend, tmp_path):
    """Epochs were added, which changes no schedule, and the rate was set: the branch learns at the rates of its parent."""
    subject = trainer(backend, schedule=train.CosineDecay(), optimizer=train.SGD(0.1))
    found = []

    def hear(event):
        if isinstance(event, train.Step) and event.step == 4:
            run_of[0].add_epochs(2)
            subject.loop.set_learning_rate(0.02)
            found.append(run_of[0].branch())

    run_of = []
    with turns:
        run_of.append(subject.start(DATA, epochs=2, batch_size=8, folder=tmp_path / "run", callbacks=[hear]))
    run_of[0].wait(WAIT)
    branch = found[0].wait(WAIT)
    assert branch.step == run_of[0].step == 20
    assert like(run_of[0], branch)


def test_a_branch_by_command_is_told(held, tmp_path):
    held = held(tmp_path / "run")
    resting(held)
    asked = order(held.run, command="branch", value={"learning_rate": 0.5})
    assert soon(lambda: asked in answers(held.run))
    told = of_kind(held.run, "branch")[0]
    folder = held.run.folder / told["folder"]
    assert soon(lambda: '"end"' in (folder / "events.jsonl").read_text())
    assert json.loads((folder / "events.jsonl").read_text().splitlines()[0])["id"] == told["id"] == "run-branch-1"


class Twins(Trainer):
    """Two phases with optimizers of their own, which know parts of the model by the trainer's attributes."""

    def phases(self):
        first, second = self.parts
        return [
            train.Phase("first", self.loss_and_output, ["0/*"], train.SGD(0.02)),
            train.Phase(
                "second", lambda x, y: (ops.mean(ops.square(second(first(x)) - y)), None), ["1/*"], train.Adam(0.03)
            ),
        ]


def test_a_branch_of_phases_and_of_batches_in_parts(backend, tmp_path):
    def subject():
        model = nn.Sequential(nn.Linear(6), nn.Linear(1))
        made = Twins(model, loss="mean_squared_error", backend=backend.name, seed=2, accumulate=2, clip_norm=1.0)
        made.parts = model.get_module("0"), model.get_module("1")
        return made

    alone, found = subject(), []
    alone.fit(DATA, epochs=3, batch_size=6, progress=False)

    def hear(event):
        if isinstance(event, train.Step) and event.step == 5:
            found.append(run_of[0].branch())

    run_of = []
    with turns:
        run_of.append(subject().start(DATA, epochs=3, batch_size=6, folder=tmp_path / "run", callbacks=[hear]))
    run_of[0].wait(WAIT)
    branch = found[0].wait(WAIT)
    assert branch.trainer.parts[0] is branch.model.get_module("0")
    assert like(run_of[0], branch)
    assert all(
        np.array_equal(value, alone.model.state_dict()[name]) for name, value in branch.model.state_dict().items()
    )


class Own(Trainer):
    def __init__(self, model, **settings):
        super().__init__(model, **settings)


def refusal(subject, tmp_path, **changes):
    with turns:
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


def test_what_cannot_be_copied_is_refused_in_a_sentence(backend, tmp_path):
    options = {"loss": "mean_squared_error", "backend": backend.name, "optimizer": "sgd"}
    assert "constructor of its own" in refusal(Own(nn.Linear(1), **options), tmp_path / "own")
    watched = nn.Sequential(nn.Linear(1))
    remove = watched.register_forward_hook(lambda *_: None)
    assert "has hooks" in refusal(Trainer(watched, **options), tmp_path / "hooks")
    remove()
    model = nn.Sequential(nn.Linear(1))
    penalized = {
        **options,
        "loss": lambda output, target: ops.mean(ops.square(output - target)) + 0 * len(model._modules),
    }
    assert "refers to a model" in refusal(Trainer(model, **penalized), tmp_path / "closure")
    locked = nn.Sequential(nn.Linear(1))
    locked.file = open(__file__)  # noqa: SIM115 - what cannot be copied
    assert "cannot be copied" in refusal(Trainer(locked, **options), tmp_path / "file")
    locked.file.close()


@pytest.mark.backends("torch")
def test_a_module_of_a_framework_is_copied_with_its_parameters(backend, tmp_path):
    import torch

    model = nn.from_native(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)))
    subject = Trainer(model, loss="mean_squared_error", optimizer="adam", backend=backend.name, seed=1)
    with turns:
        run = subject.start(DATA, epochs=2, batch_size=8, folder=tmp_path / "run")
        run.pause()
    assert soon(lambda: run.status == "paused")
    branch = run.branch()
    run.resume()
    assert like(run.wait(WAIT), branch.wait(WAIT))
    assert not {id(p.value) for p in branch.model.parameters()} & {id(p.value) for p in run.model.parameters()}
