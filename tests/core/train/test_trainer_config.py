"""Settings of a trainer by keyword, as a dictionary, from YAML and JSON files, and error messages."""

import dataclasses
import json

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ConfigError, FileFormatError, MissingFileError
from labdl.train import EMA, Adam, Checkpoint, CosineDecay, EarlyStopping, Trainer
from labdl.train.config import TrainerSettings
from labdl.train.metrics import TopKAccuracy

SETTINGS = {
    "optimizer": {"name": "adam", "learning_rate": 1e-3, "beta_1": 0.8},
    "loss": {"name": "cross_entropy", "label_smoothing": 0.1},
    "metrics": ["accuracy", {"name": "top_k_accuracy", "k": 3}],
    "schedule": {"name": "cosine_decay"},
    "epochs": 3,
    "batch_size": 16,
    "accumulate": 2,
    "clip_norm": 1.0,
    "precision": "bfloat16",
    "freeze": ["0/*"],
    "average": {"decay": 0.99},
    "stopping": {"monitor": "val_accuracy", "mode": "max", "patience": 2},
    "seed": 7,
    "output_dir": "runs/mine",
    "checkpoint": {"folder": "kept", "keep": 2},
}
YAML = """
# a training
optimizer: {name: adam, learning_rate: 1e-3, beta_1: 0.8}
loss:
  name: cross_entropy
  label_smoothing: 1E-1
metrics:
  - accuracy
  - {name: top_k_accuracy, k: 3}
schedule: {name: cosine_decay}
epochs: 3
batch_size: 16
accumulate: 2
clip_norm: 1.0
precision: bfloat16
freeze: [0/*]
average: {decay: 0.99}
stopping: {monitor: val_accuracy, mode: max, patience: 2}
seed: 7
output_dir: runs/mine
checkpoint: {folder: kept, keep: 2}
"""


def model():
    return nn.Sequential(nn.Linear(4), nn.Linear(2))


def check(t):
    assert t.optimizer == Adam(1e-3, beta_1=0.8)
    assert (t.loss_name, t.loss_function.label_smoothing) == ("cross_entropy", 0.1)
    assert list(t.metrics) == ["accuracy", "top_k_accuracy"]
    assert t.metrics["top_k_accuracy"] == TopKAccuracy(k=3)
    assert t.schedule == CosineDecay()
    s = t.settings
    assert (s.epochs, s.batch_size, s.accumulate, s.clip_norm, s.precision, t.seed) == (3, 16, 2, 1.0, "bfloat16", 7)
    assert s.freeze == ("0/*",)
    assert s.average == EMA(0.99)
    assert s.stopping == EarlyStopping("val_accuracy", 2, "max")
    assert str(s.output_dir) == "runs/mine"
    assert s.checkpoint == Checkpoint("kept", keep=2)


@pytest.mark.parametrize("way", ["keyword", "dictionary", "json", "yaml", "yml"])
def test_all_sources_give_the_same_settings(way, tmp_path):
    if way == "keyword":
        check(Trainer(model(), **SETTINGS))
    elif way == "dictionary":
        check(Trainer.from_config(model(), SETTINGS))
    else:
        file = tmp_path / f"training.{way}"
        file.write_text(json.dumps(SETTINGS) if way == "json" else YAML)
        check(Trainer.from_config(model(), file))
        check(Trainer.from_config(model(), str(file)))
        assert Trainer.from_config(model(), file, epochs=9, seed=1).settings.epochs == 9


@pytest.mark.parametrize("key", [f.name for f in dataclasses.fields(TrainerSettings)])
def test_each_setting_has_a_default_and_is_named_in_errors(key):
    with pytest.raises(ConfigError, match=key):
        Trainer(model(), **{key: object()})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batchsize": 3}, r"Trainer has the settings loss, optimizer, .*batch_size.*: did you mean 'batch_size'"),
        ({"loss": "mean_square"}, "loss wants one of .*received 'mean_square': did you mean 'mean_squared_error'"),
        ({"loss": "CrossEntropyLos"}, "did you mean 'cross_entropy'"),
        ({"loss": "tiger"}, "received 'tiger'$"),
        ({"loss": nn.HuberLoss}, r"loss wants an object, received the class nn\.HuberLoss: write nn\.HuberLoss\(\)"),
        ({"loss": nn.MSELoss}, r"loss wants an object, received the class nn\.MSELoss: write nn\.MSELoss\(\)"),
        ({"optimizer": Adam}, r"optimizer wants an object, received the class Adam: write Adam\(\)"),
        ({"metrics": [TopKAccuracy]}, r"metrics wants an object, received the class TopKAccuracy"),
        ({"metrics": [nn.MSELoss]}, r"metrics wants an object, received the class nn\.MSELoss"),
        ({"optimizer": "adammw"}, "did you mean 'adamw'"),
        ({"metrics": ["mean_absolut_error"]}, "did you mean 'mean_absolute_error'"),
        ({"schedule": "cosine_decy"}, "did you mean 'cosine_decay'"),
        ({"accumulate": 0}, "Trainer: accumulate wants an integer at least 1, received 0"),
        ({"accumulate": 2.5}, "Trainer: accumulate wants an integer at least 1, received 2.5"),
        ({"epochs": -1}, "Trainer: epochs wants an integer at least 1, received -1"),
        ({"clip_norm": 0.0}, "Trainer: clip_norm wants a number above 0 or nothing, received 0.0"),
        ({"clip_norm": 1.0, "clip_value": 1.0}, "clip_norm and clip_value exclude each other"),
        ({"precision": "float8"}, 'Trainer: precision wants "float32", "bfloat16", "float16", received \'float8\''),
        ({"shuffle": "yes"}, "Trainer: shuffle wants true or false, received 'yes'"),
        ({"average": 1.0}, "EMA: decay wants a number at least 0 and below 1, received 1.0"),
        ({"average": {"decay": 0.9, "often": 2}}, "EMA has the settings decay, every, evaluate, received 'often'"),
        ({"stopping": {"patience": -1}}, "EarlyStopping: patience wants an integer at least 0, received -1"),
        ({"stopping": {"mode": "best"}}, 'EarlyStopping: mode wants "auto", "min", "max", received \'best\''),
        ({"checkpoint": {"folder": "x", "keep": 0}}, "Checkpoint: keep wants a number at least 1"),
        ({"checkpoint": {}}, "Checkpoint needs folder"),
        (
            {"optimizer": {"name": "adam", "learningrate": 1.0}},
            "Adam has the settings learning_rate, .*received 'learningrate'",
        ),
        ({"optimizer": {"learning_rate": 1.0}}, "optimizer wants a name in its dictionary"),
        (
            {"optimizer": {"name": "adam", "learning_rate": "fast"}},
            "Adam: learning_rate wants a number .*received 'fast'",
        ),
        (
            {"loss": {"name": "cross_entropy", "smooth": 1}},
            "cross_entropy has the settings .*label_smoothing.*received 'smooth'",
        ),
        ({"metrics": [{"name": "tiger"}]}, "metrics wants any of accuracy"),
        ({"metrics": [{"name": "accuracy", "k": 3}]}, "Accuracy has the settings .*received 'k'"),
        ({"schedule": {"name": "cosine_decay", "long": 3}}, "CosineDecay has the settings .*received 'long'"),
        (
            {"train_dataset": "numbers"},
            "train_dataset wants a data set, an .npz file or one of digits, .*, received 'numbers'",
        ),
        ({"val_dataset": [1, 2]}, "val_dataset wants an ArrayDataset or a pair"),
        ({"backend": "caffe"}, "Trainer: backend wants one of .*torch.*, received 'caffe'"),
        ({"compiled": "fast"}, "Trainer: compiled wants true, false, 'xla' or nothing, received 'fast'"),
        ({"seed": -1}, "Trainer: seed wants an integer at least 0 or nothing, received -1"),
        ({"output_dir": 3}, "Trainer: output_dir wants a folder, received 3"),
    ],
)
def test_invalid_settings_raise(settings, message):
    with pytest.raises(ConfigError, match=message):
        Trainer.from_config(model(), settings)


def test_unreadable_files_raise(tmp_path):
    for name, text, error, message in (
        ("none.json", None, MissingFileError, "there is no file"),
        ("a.toml", "", ConfigError, "wants a .json, .yaml or .yml"),
        ("a.json", "{", FileFormatError, "cannot be read"),
        ("a.yaml", "a: [", FileFormatError, "cannot be read"),
        ("b.yaml", "- 1", FileFormatError, "wants settings by name, received list"),
        ("c.yaml", "a: !!python/object/apply:os.getcwd []", FileFormatError, "cannot be read"),
    ):
        file = tmp_path / name
        if text is not None:
            file.write_text(text)
        with pytest.raises(error, match=message):
            Trainer.from_config(model(), file)
    with pytest.raises(ConfigError, match=r"config wants a dictionary, or a \.json or \.yaml file, received int"):
        Trainer.from_config(model(), 3)


def test_data_sets_in_files(tmp_path):
    x, y = np.ones((6, 3), "float32"), np.zeros((6, 2), "float32")
    np.savez(tmp_path / "data.npz", x=x, y=y)
    file = tmp_path / "training.json"
    file.write_text(json.dumps({"train_dataset": str(tmp_path / "data.npz"), "val_dataset": "digits"}))
    found = Trainer.from_config(model(), file).settings
    np.testing.assert_array_equal(found.train_dataset.arrays[0], x)
    assert len(found.val_dataset) == len(labdl.data.digits()[1])
    with pytest.raises(MissingFileError):
        Trainer(model(), train_dataset=tmp_path / "other.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(FileFormatError, match=r"train_dataset: broken\.npz is not a readable file of arrays"):
        Trainer(model(), train_dataset=tmp_path / "broken.npz")


def test_non_default_settings():
    settings = Trainer(model(), **SETTINGS).settings.non_default()
    assert settings == {
        "accumulate": 2,
        "clip_norm": 1.0,
        "precision": "bfloat16",
        "freeze": ("0/*",),
        "average": {"decay": 0.99, "every": 1, "evaluate": True},
        "stopping": dataclasses.asdict(EarlyStopping("val_accuracy", patience=2, mode="max")),
    }
    assert json.dumps(settings)
    assert Trainer(model()).settings.non_default() == {}
