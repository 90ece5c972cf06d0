"""`lab.Data` of a dictionary of data sets: one part at a time, and a pipeline for all of them."""

import numpy as np
import pytest
from test_data_widget import show  # noqa: F401

from labdl import data
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError
from labdl.lab.widgets.data_sources import as_parts


def samples(count, shade=0):
    return data.SampleDataset([(np.full((8, 8, 3), shade + i, np.uint8), i % 2) for i in range(count)])


def test_each_part_is_shown(show):  # noqa: F811
    page = show({"val": samples(3, 100), "train": samples(9), "test": samples(2, 200)})
    summary = page.ask("summary")
    assert (summary["split"], summary["samples"]) == ("training", 9)
    assert summary["splits"] == [
        {"name": "training", "samples": 9},
        {"name": "validation", "samples": 3},
        {"name": "test", "samples": 2},
    ]
    assert page.widget.dataset is page.widget.splits["training"]
    other = page.ask("summary", split="validation")
    assert (other["split"], other["samples"]) == ("validation", 3)
    names = {"view": page.widget}
    exec(other["code"], names)
    assert names["dataset"] is page.widget.splits["validation"]
    assert page.ask("samples", split="test", start=0, count=9)["total"] == 2
    for _ in range(100):
        statistics = page.ask("statistics", split="validation")
        if statistics["complete"]:
            break
    assert (statistics["samples"], statistics["read"]) == (3, 3)
    assert "has the parts training, validation, test, received 'all'" in page.reply("summary", split="all")["error"]
    assert "parts: training 9, validation 3, test 2" in page.widget._forms()["text/plain"]


def test_what_open_splits_returns(show, tmp_path):  # noqa: F811
    for name in ("train/a", "train/b", "val/b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "1.png").write_bytes(encode_image(np.zeros((8, 8, 3), np.uint8), "png"))
    page = show(data.open_splits(tmp_path))
    assert [part["name"] for part in page.ask("summary")["splits"]] == ["training", "validation"]
    assert page.ask("samples", split="validation", start=0, count=1)["samples"][0]["label"] == "b"


def test_the_pipeline_is_that_of_all_parts(show):  # noqa: F811
    page = show({"train": samples(9), "validation": samples(3, 100), "test": samples(2)})
    steps = [{"type": "Pad", "settings": {"padding": 1}}, {"type": "ToFloat", "settings": {}}]
    saved = page.ask("save", split="validation", pipeline={"steps": steps, "split": {}})
    assert saved["input_shape"] == [None, 10, 10, 3]
    assert [step["type"] for step in page.ask("summary", split="test")["pipeline"]["steps"]] == ["Pad", "ToFloat"]
    lines = saved["code"].splitlines()
    names = {"view": page.widget}
    exec(lines[0], names)
    assert (len(names["train_set"]), len(names["validation_set"])) == (9, 3)
    assert lines[2] == "trainer.evaluate(view.splits['test'].map(view.pipeline.evaluation()))"
    variant = {"pipeline": {"steps": steps, "split": {}}, "step": 1, "number": 0}
    assert page.ask("media", split="validation", index=0, entry="x", variant=variant)["mime"] == "image/jpeg"


def test_steps_are_fitted_to_the_training_part(show):  # noqa: F811
    rows = {
        name: data.SampleDataset([{"x": float(shift + i)} for i in range(8)])
        for name, shift in (("train", 0), ("val", 50))
    }
    pipeline = {"steps": [{"type": "Standardize", "settings": {"columns": ["x"]}}], "split": {}}
    page = show(rows)
    page.ask("save", pipeline=pipeline)
    assert abs(np.mean([row["x"] for row in page.widget.dataset.map(page.widget.pipeline)])) < 1e-6
    page = show({"first": rows["train"], "second": rows["val"]})
    assert "the parts are first, second: name one of them train" in page.reply("save", pipeline=pipeline)["error"]
    saved = page.ask("save", pipeline={"steps": [], "split": {"fraction": 0.5}})
    names = {"view": page.widget}
    exec(saved["code"].splitlines()[0], names)
    assert (len(names["train_set"]), len(names["validation_set"])) == (4, 4)


class Native:
    """As a data set of PyTorch or Hugging Face."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return {"x": index}


def test_which_dictionaries_are_parts():
    arrays = {"train": (np.zeros((4, 3)), np.arange(4)), "test": (np.zeros((2, 3)), np.arange(2))}
    assert {name: len(part) for name, part in as_parts(arrays).items()} == {"training": 4, "test": 2}
    native = as_parts({"train": Native(5), "dev": Native(3)})
    assert {name: len(part) for name, part in native.items()} == {"training": 5, "validation": 3}
    assert list(as_parts({"fold 1": Native(1), "fold 2": Native(2)})) == ["fold 1", "fold 2"]
    assert list(as_parts({"train1": Native(1), "train2": Native(2)})) == ["train1", "train2"]
    for columns in (
        {"a": [1, 2], "b": np.arange(2)},
        {"a": (1, 2), "b": ("x", "y")},
        {"a": np.zeros(2), "b": Native(2)},
    ):
        assert list(as_parts(columns)) == [""]
    assert list(as_parts(Native(3))) == [""]
    with pytest.raises(ConfigError, match="at most 50 parts, received 51"):
        as_parts({str(i): Native(1) for i in range(51)})
