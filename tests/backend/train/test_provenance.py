"""Source snapshots of runs: model, script and settings."""

import json
import subprocess
import sys

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from runs import DATA, WAIT

import labdl
from labdl import nn, train
from labdl.train import Trainer
from labdl.train.run import source_snapshot

pytestmark = pytest.mark.sample(backends=["torch"])


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(1)

    def forward(self, x):
        return self.head(x)


def run_and_return_code(trainer, tmp_path, **options):
    return trainer.start(DATA, epochs=2, batch_size=10, folder=tmp_path / "run", **options).wait(WAIT).folder / "code"


def test_training_can_be_repeated_from_the_snapshot(backend, tmp_path):
    """The same training from the snapshot has the same results."""
    options = {
        "loss": nn.HuberLoss(delta=0.5),
        "optimizer": train.Adam(0.02),
        "metrics": ["mean_absolute_error"],
        "schedule": train.CosineDecay(),
        "clip_norm": 1.0,
        "average": train.EMA(0.9),
        "seed": 4,
        "backend": backend.name,
    }
    subject = Trainer(Small(), **options)
    code = run_and_return_code(subject, tmp_path)
    saved = json.loads((code / "settings.json").read_text())
    assert saved["optimizer"] == {"name": "adam", **subject.optimizer.settings()}
    assert (saved["epochs"], saved["batch_size"], saved["clip_norm"]) == (2, 10, 1.0)
    again = Trainer.from_config(labdl.load_structure(code / "model.labdl").to_module(), code / "settings.json")
    again.fit(DATA, progress=False)
    ours, theirs = again.model.state_dict(), subject.model.state_dict()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    assert "class Small(nn.Module)" in (code / "model.py").read_text()


def test_model_of_layers_is_saved_as_a_program(backend, tmp_path):
    """Also without a class of its own; the parameters of the run fit the program's model."""
    model = nn.Sequential(nn.Linear(3), nn.Sequential(nn.Tanh(), nn.Dropout(0.1)), nn.Linear(1))
    code = run_and_return_code(
        Trainer(model, loss="mean_squared_error", optimizer="sgd", backend=backend.name, seed=1), tmp_path
    )
    program = (code / "model.py").read_text()
    namespace = {}
    exec(program, namespace)
    again = namespace["model"].build((None, 4), backend=backend.name)
    again.load_state_dict(model.state_dict())
    assert labdl.trace(again).nodes.keys() == labdl.trace(model).nodes.keys()
    assert str(again) == str(model)


def test_graph_is_saved_as_python(backend, tmp_path):
    graph = labdl.trace(nn.Sequential(nn.Linear(3), nn.Linear(1)), (None, 4))
    code = run_and_return_code(
        Trainer(graph, loss="mean_squared_error", optimizer="sgd", backend=backend.name, seed=1), tmp_path
    )
    written = (code / "model.py").read_text()
    assert written == graph.to_python()
    compile(written, "model.py", "exec")


def test_settings_that_cannot_be_saved_are_omitted(backend, tmp_path, monkeypatch):
    def loss(output, target):
        return ((output - target) * (output - target)).sum()

    subject = Trainer(
        nn.Linear(1),
        loss=loss,
        optimizer="sgd",
        metrics=[lambda output, target: 1.0],
        backend=backend.name,
        seed=1,
    )
    found = source_snapshot.trainer_settings(subject.context, None, 1)
    json.dumps(found)
    assert "metrics" not in found
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "code").write_text("a file where the folder should be")
    other = Trainer(nn.Linear(1), loss="mean_squared_error", optimizer="sgd", backend=backend.name, seed=1)
    run = other.start(DATA, epochs=1, folder=tmp_path / "run").wait(WAIT)
    assert run.status == "finished"


SCRIPT = """
import sys
import numpy as np
from labdl import nn, train
x = np.zeros((8, 2), "float32")
trainer = train.Trainer(nn.Linear(1), loss="mean_squared_error", optimizer="sgd", backend=sys.argv[2], seed=1)
trainer.start(x, x[:, :1], folder=sys.argv[1]).wait()
"""


@pytest.mark.sample(False)
def test_script_is_saved(backend, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    subprocess.run(
        [sys.executable, tmp_path / "train.py", tmp_path / "run", backend.name], check=True, timeout=WAIT * 2
    )
    assert (tmp_path / "run" / "code" / "script.py").read_text() == SCRIPT


@pytest.mark.sample(False)
@pytest.mark.backends("torch")
def test_cells_of_a_notebook_are_saved(backend, tmp_path):
    cells = [
        SCRIPT.replace("sys.argv[1]", repr(str(tmp_path / "run"))).replace("sys.argv[2]", repr(backend.name)),
        "1 + 1",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in ["first = 1", *cells]])
    NotebookClient(notebook, timeout=WAIT, kernel_name="python3").execute()
    saved = (tmp_path / "run" / "code" / "script.py").read_text()
    assert saved.startswith("first = 1\n\n# %%")
    assert saved.rstrip().endswith(".wait()")
