"""`labdl train` with a detector: folders of YOLO, COCO and VOC, and a saved detector that is trained further."""

import json

import numpy as np
import PIL.Image
import pytest
from tests.zoo.pasted_objects import CLASSES, PastedObjects

import labdl
from labdl import cli
from labdl.models.vision.yolov8 import YOLOv8
from labdl.runs.reading.record import Record

HEIGHT, WIDTH = 48, 64


def write_yolo(root, samples):
    (root / "labels").mkdir()
    for at, (boxes, labels) in enumerate(samples):
        middle, sides = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
        rows = np.concatenate([middle, sides], 1) / (WIDTH, HEIGHT, WIDTH, HEIGHT)
        lines = [f"{label} {' '.join(map(str, row))}" for label, row in zip(labels, rows.tolist(), strict=True)]
        (root / "labels" / f"{at}.txt").write_text("\n".join(lines))
    (root / "data.yaml").write_text(f"names: [{', '.join(CLASSES)}]\n")


def write_coco(root, samples):
    content = {
        "images": [],
        "annotations": [],
        "categories": [{"id": 7 + at, "name": n} for at, n in enumerate(CLASSES)],
    }
    for at, (boxes, labels) in enumerate(samples):
        content["images"].append({"id": at, "file_name": f"{at}.png", "height": HEIGHT, "width": WIDTH})
        for (x1, y1, x2, y2), label in zip(boxes.tolist(), labels, strict=True):
            own = {"bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1), "iscrowd": 0}
            number = len(content["annotations"]) + 1
            content["annotations"].append({"id": number, "image_id": at, "category_id": 7 + label, **own})
    (root / "annotations.json").write_text(json.dumps(content))


def write_voc(root, samples):
    (root / "images").rename(root / "JPEGImages")
    (root / "Annotations").mkdir()
    for at, (boxes, labels) in enumerate(samples):
        size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
        objects = ""
        for row, label in zip(boxes.astype(int).tolist(), labels, strict=True):
            edges = zip(("xmin", "ymin", "xmax", "ymax"), (row[0] + 1, row[1] + 1, *row[2:]), strict=True)
            corners = "".join(f"<{name}>{value}</{name}>" for name, value in edges)
            objects += f"<object><name>{CLASSES[label]}</name><bndbox>{corners}</bndbox></object>"
        text = f"<annotation><filename>{at}.png</filename>{size}{objects}</annotation>"
        (root / "Annotations" / f"{at}.xml").write_text(text)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("write", [write_yolo, write_coco, write_voc])
def test_a_detector_trains_on_a_folder(write, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "objects/images").mkdir(parents=True)
    samples = []
    for at in range(4):
        sample = PastedObjects(4, (HEIGHT, WIDTH), classes=CLASSES)[at]
        PIL.Image.fromarray(np.asarray(sample["image"])).save(f"objects/images/{at}.png")
        samples.append((np.asarray(sample["boxes"]), sample["labels"].tolist()))
    write(tmp_path / "objects", samples)
    model = YOLOv8(len(CLASSES), (4, 8, 8, 8, 16), (1, 1, 1, 1))
    labdl.save(model.build((None, 3, 64, 64), backend="torch", seed=0), "net")
    settings = "{task: object detection, model: net.labdl, backend: torch, train_dataset: objects, size: 64, epochs: 1}"
    (tmp_path / "train.yaml").write_text(settings)
    assert cli.main(["train", "train.yaml", "--folder", "one", "--no-progress"]) == 0
    assert capsys.readouterr().out.startswith("one: finished, loss ")
    history = Record("one").history
    assert set(history) == {"loss", "val_loss", "val_mean_average_precision"}
    assert np.isfinite(history["loss"]).all()
    assert cli.main(["train", "train.yaml", "--set", "size=65"]) == 1
    assert "multiples of 32" in capsys.readouterr().err
