"""Tasks in the Train panel: which fit a model and a data set, and the program that trains by one."""

import numpy as np
import pytest

import labdl
from labdl import data
from labdl.data.splits import open_data
from labdl.errors import ConfigError
from labdl.graph import Edge, Graph, Node
from labdl.lab.training import options, script, task_choices, task_fit
from labdl.saving.structure import StructureFile
from labdl.tasks import TASKS

SETTINGS = {
    "backend": "torch",
    "dataset": "flowers/",
    "optimizer": "adam",
    "learning_rate": 0.01,
    "epochs": 1,
    "batch_size": 2,
}


def chain(*layers, shape=(None, 3, 16, 16), dtype="float32"):
    nodes = {"n0": Node("Input", "input", {"shape": shape, "dtype": dtype})}
    nodes |= {f"n{n}": Node(kind, f"layer{n}", params) for n, (kind, params) in enumerate(layers, 1)}
    graph = Graph(nodes, {f"e{n}": Edge(f"n{n}", f"n{n + 1}") for n in range(len(layers))})
    return StructureFile(graph, 4, "")


CLASSIFIER = chain(("Flatten", {}), ("Linear", {"out_features": 2}))
SEGMENTER = chain(("Conv2d", {"out_channels": 2, "kernel_size": (1, 1)}))
OF_TEXT = chain(("Embedding", {"size": 50, "features": 4}), shape=(None, 8), dtype="int64")


def pictures(folder, *, masks=False):
    """A folder of pictures for two classes, or with masks."""
    import PIL.Image

    colors = np.random.default_rng(0).integers(0, 256, (8, 20, 24, 3), "uint8")
    for n, picture in enumerate(colors):
        place = folder / ("images" if masks else "ab"[n % 2])
        place.mkdir(parents=True, exist_ok=True)
        PIL.Image.fromarray(picture).save(place / f"{n}.png")
        if masks:
            (folder / "masks").mkdir(exist_ok=True)
            PIL.Image.fromarray(np.full((20, 24), n % 2, "uint8")).save(folder / "masks" / f"{n}.png")
    return open_data(folder)


def test_tasks_that_fit_a_model_and_a_data_set(tmp_path):
    of_classes, with_masks = pictures(tmp_path / "flowers"), pictures(tmp_path / "pets", masks=True)
    assert task_fit.fit_tasks(CLASSIFIER, "flowers", of_classes).names == ("image classification",)
    assert task_fit.fit_tasks(SEGMENTER, "pets", with_masks).names == ("image segmentation",)

    (tmp_path / "texts.jsonl").write_text('{"text": "a b", "label": 0}\n{"text": "c", "label": 1}\n' * 4)
    texts = open_data(tmp_path / "texts.jsonl")
    assert task_fit.fit_tasks(OF_TEXT, "texts.jsonl", texts).names == ("text generation",)
    none = task_fit.fit_tasks(CLASSIFIER, "texts.jsonl", texts)
    assert none.names == ()
    assert "takes float32" in none.problem
    arrays = data.ArrayDataset(np.zeros((4, 2)), np.zeros(4, "int64"))
    assert "arrays that are prepared already" in task_fit.fit_tasks(CLASSIFIER, "a.npz", arrays).problem
    assert task_fit.fit_tasks(chain(), "flowers", of_classes).names == ("image classification",)


def test_a_sample_that_the_task_prepares_is_compared_with_the_model(tmp_path):
    opened = pictures(tmp_path / "flowers")
    settings = SETTINGS | {"task": "image classification", "loss": "cross_entropy", "metrics": ["accuracy"]}
    answer = task_fit.task_mismatches(CLASSIFIER, opened, "flowers", settings)
    assert answer["problems"] == []
    assert answer["transforms"][-1] == "Normalize"
    gray = chain(("Flatten", {}), ("Linear", {"out_features": 2}), shape=(None, 1, 16, 16))
    [problem] = task_fit.task_mismatches(gray, opened, "flowers", settings)["problems"]
    assert "flowers has samples of 3 × 16 × 16, the model's input wants 1 × 16 × 16" in problem
    few = chain(("Flatten", {}), ("Linear", {"out_features": 1}))
    [problem] = task_fit.task_mismatches(few, opened, "flowers", settings)["problems"]
    assert "flowers has 2 classes" in problem
    any_size = chain(
        ("AdaptiveAvgPool2d", {"output_size": (1, 1)}),
        ("Flatten", {}),
        ("Linear", {"out_features": 2}),
        shape=(None, 3, None, None),
    )
    [problem] = task_fit.task_mismatches(any_size, opened, "flowers", settings)["problems"]
    assert "size" in problem
    assert task_fit.task_mismatches(any_size, opened, "flowers", settings | {"size": 8})["problems"] == []

    # the axis of the classes is that of the loss
    settings |= {"task": "image segmentation", "loss_settings": {"axis": 1, "ignore_index": 255}}
    masks = pictures(tmp_path / "pets", masks=True)
    assert task_fit.task_mismatches(SEGMENTER, masks, "pets", settings)["problems"] == []


@pytest.mark.parametrize("name", sorted(TASKS))
def test_what_a_task_begins_with_is_left_to_it_in_the_code(name):
    [offer] = [offer for offer in options.choices()["tasks"] if offer["name"] == name]
    assert offer["summary"]
    settings = SETTINGS | {"task": name, "metrics": offer["metrics"], "loss_settings": offer["loss_settings"]}
    settings["loss"] = offer["loss"] or "cross_entropy"
    code = script.train_code("net.labdl", settings)["code"]
    assert f"labdl.tasks.create_trainer(\n    model,\n    'flowers',\n    task={name!r},\n    optimizer" in code
    assert "loss=" not in code
    assert "metrics=" not in code


def test_settings_of_the_metrics_of_a_task_stay_when_others_are_added():
    metrics = ["mean_iou", "accuracy"]
    settings = SETTINGS | {"task": "image segmentation", "loss": "dice", "metrics": metrics, "size": 32}
    code = script.train_code("net.labdl", settings)["code"]
    assert "metrics=[labdl.train.MeanIoU(axis=1, ignore_index=255), 'accuracy']" in code
    assert "loss='dice'" in code
    assert "size=32" in code
    assert task_choices.task_loss(TASKS["image segmentation"]) == ("cross_entropy", {"ignore_index": 255, "axis": 1})


def test_the_split_of_a_pipeline_is_that_of_the_task():
    settings = SETTINGS | {"task": "image classification", "dataset": "a.pipeline.json", "metrics": ["accuracy"]}
    code = script.train_code("net.labdl", settings)["code"]
    assert "pipeline.open_data()" in code
    assert "validation=1 - pipeline.split.fraction" in code


@pytest.mark.parametrize("change", [{"dataset": "digits"}, {"dataset": "/etc/"}, {"task": "cooking"}, {"size": 0}])
def test_other_settings_of_a_task_are_refused(change):
    settings = SETTINGS | {"task": "image classification", "metrics": ["accuracy"]} | change
    with pytest.raises(ConfigError):
        script.train_code("net.labdl", settings)


@pytest.mark.sample(False)
def test_the_program_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictures(tmp_path / "flowers")
    labdl.saving.save_structure(CLASSIFIER.graph, tmp_path / "net.labdl")
    settings = SETTINGS | {"task": "image classification", "metrics": ["accuracy"]}
    scope = {}
    exec(script.train_code("net.labdl", settings)["code"], scope)
    scope["run"].wait()
    assert scope["run"].status == "finished"
    assert "val_accuracy" in scope["run"].history
