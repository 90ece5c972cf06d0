"""`labdl train`: settings of a file, changes, the run's folder, progress and exit codes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import labdl
from labdl import cli, nn
from labdl.errors import ConfigError
from labdl.runs.reading.record import Record
from labdl.tasks.command import apply_changes


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Settings of a small training in a file."""
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", x=np.random.default_rng(0).normal(size=(24, 4)).astype("float32"), y=np.arange(24) % 3)
    labdl.save(nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(3)).build((None, 4), backend="torch", seed=0), "net")
    (tmp_path / "net.npz").unlink()
    text = """
model: net.labdl
backend: torch
train_dataset: data.npz
val_dataset: data.npz
metrics: [accuracy]
optimizer: adam
learning_rate: 1e-2
epochs: 2
batch_size: 8
seed: 1
"""
    (tmp_path / "config.yaml").write_text(text)
    return tmp_path


def run(capsys, *arguments):
    status = cli.main(["train", *map(str, arguments)])
    return (status, *capsys.readouterr())


def test_a_training_is_recorded_in_its_folder(config, capsys):
    status, out, err = run(capsys, "config.yaml", "--folder", "one")
    assert status == 0
    assert out.startswith("one: finished, loss ")
    assert "epoch 2/2" in err
    record = Record("one")
    assert (record.status, len(record.epochs)) == ("finished", 2)
    assert set(record.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert (config / "one/model.npz").exists()
    status, out, err = run(capsys, "config.yaml", "--no-progress")
    assert (status, "epoch" in err) == (0, False)
    assert out.startswith("runs/")


def test_changes_and_resume(config, capsys):
    changes = [
        "--set",
        "epochs=1",
        "--set",
        "optimizer.name=sgd",
        "--set",
        "optimizer.momentum=0.5",
        "--set",
        "checkpoint=kept",
    ]
    assert run(capsys, "config.yaml", "--folder", "one", *changes)[0] == 0
    record = Record("one")
    assert (len(record.epochs), record.start["optimizer"], record.settings["momentum"]) == (1, "sgd", 0.5)
    assert run(capsys, "config.yaml", "--folder", "two", *changes, "--set", "epochs=3", "--resume")[0] == 0
    assert [row["epoch"] for row in Record("two").epochs] == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.yaml"], "missing.yaml"),
        (["config.yaml", "--set", "epochs=0"], "epochs wants"),
        (["config.yaml", "--set", "epoch=1"], "received 'epoch': did you mean 'epochs'"),
        (["config.yaml", "--set", "epochs"], "--set wants NAME=VALUE"),
        (["config.yaml", "--set", "epochs.a=1"], "epochs is 2, which has no settings"),
        (["config.yaml", "--set", "model=resnet181"], "resnet"),
        (["config.yaml", "--set", "model="], "model wants a .labdl file, the name of a zoo model"),
        (["config.yaml", "--set", "train_dataset="], "give the name of a data set, such as digits"),
        (["config.yaml", "--set", "loss=mse"], "labdl: "),
    ],
)
def test_errors_are_one_sentence_and_the_status_is_1(config, capsys, arguments, message):
    status, out, err = run(capsys, *arguments, *([] if "--set" not in arguments else ["--no-progress"]))
    assert (status, out) == (1, "")
    assert message in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_wrong_usage_is_2(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["train"])
    assert end.value.code == 2


@pytest.mark.sample(False)
def test_interrupted_training_ends_after_its_step(config):
    main = "import sys; from labdl.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", main, "train", "config.yaml", "--folder", "one", "--set", "epochs=1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})
    while (
        not (config / "one/events.jsonl").exists() or '"kind":"epoch"' not in (config / "one/events.jsonl").read_text()
    ):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out.startswith("one: stopped")
    assert json.loads((config / "one/events.jsonl").read_text().splitlines()[-1])["status"] == "stopped"
    assert (config / "one/model.npz").exists()


def test_changes_of_settings():
    before = {"optimizer": "adam", "stopping": {"patience": 2}}
    changes = ["optimizer.learning_rate=1e-3", "stopping.monitor=val_accuracy", "metrics=[f1]", "seed=null", "a.b.c=1"]
    assert apply_changes(before, changes) == {
        "optimizer": {"name": "adam", "learning_rate": 1e-3},
        "stopping": {"patience": 2, "monitor": "val_accuracy"},
        "metrics": ["f1"],
        "seed": None,
        "a": {"b": {"c": 1}},
    }
    assert before == {"optimizer": "adam", "stopping": {"patience": 2}}
    with pytest.raises(ConfigError, match="the value cannot be read"):
        apply_changes({}, ["a=[1"])


def test_a_task_trains_on_a_folder(config, capsys):
    from labdl.data.codecs.image import encode_image

    pixels = np.random.default_rng(0).integers(0, 256, (8, 12, 12, 3), "uint8")
    for i, picture in enumerate(pixels):
        file = config / "pictures" / "ab"[i % 2] / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_image(picture))
    labdl.save(nn.Sequential(nn.Flatten(), nn.Linear(2)).build((None, 3, 8, 8), backend="torch"), "kinds")
    (config / "task.yaml").write_text(
        "{model: kinds.labdl, task: image classification, train_dataset: pictures, lr: 0.1, epochs: 1, validation: 0.25}"
    )
    status, _, err = run(capsys, "task.yaml", "--folder", "one", "--no-progress")
    assert (status, err) == (0, "")
    assert set(Record("one").history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    for change, part in [
        ("train_dataset=3", "wants the folder or the file"),
        ("sice=8", "a task has no setting sice"),
        ("task=telepathy", "no task 'telepathy'"),
    ]:
        status, _, err = run(capsys, "task.yaml", "--set", change)
        assert status == 1
        assert part in err
