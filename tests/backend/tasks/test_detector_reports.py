"""Bugs and questions that were reported for other trainings of detectors, tried here.

| source | subject | here |
|---|---|---|
| pytorch/vision#2740, #5163, alankbi/detecto#56 | right edge left of the left one | refused, with what to write |
| alankbi/detecto#63, microsoft/computervision-recipes#646 | a box without an area stops the training | left out |
| open-mmlab/mmdetection#7485, #3315 | boxes and masks that a transform empties, loss NaN | left out, finite |
| open-mmlab/mmdetection#3397, #3013 | boxes beyond the picture, loss NaN | finite |
| pytorch/vision#5098, open-mmlab/mmyolo#843 | a batch of pictures without objects | trained, all cells are background |
| ultralytics/ultralytics#6235, #3009, #9029, ultralytics/yolov5#968, #4092 | some pictures without objects | trained |
| ultralytics/ultralytics#1450 | empty and missing files of labels | pictures without objects |
| pytorch/vision#2555, #4263, open-mmlab/mmdetection#743, #222 | weights of other classes | all but the head is loaded |
| open-mmlab/mmdetection#10617, #1837, rwightman/efficientdet-pytorch#95 | what is not loaded | a warning names them |

The last two have their tests in tests/core/models/test_weights.py.
"""

import numpy as np
import PIL.Image
import pytest

from labdl import data, tasks
from labdl.errors import DataError
from labdl.models.vision.yolov8 import YOLOv8

pytestmark = pytest.mark.sample(False)

CLASSES = ["cat", "dog"]


def sample(boxes=(), labels=None):
    pixels = np.random.default_rng(len(boxes)).integers(0, 256, (40, 50, 3), "uint8")
    return {"image": pixels, "boxes": list(boxes), "labels": [0] * len(boxes) if labels is None else labels}


def trainer_of(samples, backend):
    dataset = samples if isinstance(samples, data.Dataset) else data.SampleDataset(samples, classes=CLASSES)
    model = YOLOv8(2, (4, 8, 8, 8, 16), (1, 1, 1, 1))
    return tasks.create_trainer(
        model, dataset, task="object detection", validation=dataset, size=64, backend=backend.name, compiled=False
    )


def first_loss(trainer):
    samples = [trainer.settings.train_dataset[at] for at in range(len(trainer.settings.train_dataset))]
    return trainer.train_one_batch(*trainer.preprocess(data.stack_samples(samples)))["loss"]


WHOLE = (5, 5, 30, 30)


@pytest.mark.parametrize("box", [(30, 10, 20, 30), (10, 30, 20, 20)])
def test_crossed_edges_are_refused(box, backend):
    with pytest.raises(DataError, match='format="xywh"'):
        trainer_of([sample([WHOLE, box])], backend).settings.train_dataset[0]


def test_boxes_without_an_area_are_left_out(backend):
    whole = trainer_of([sample([WHOLE])] * 2, backend)
    odd = [{**sample([WHOLE]), "boxes": [(10, 10, 10, 20), WHOLE, (3, 7, 3, 7)], "labels": [1, 0, 1]}] * 2
    trainer = trainer_of(odd, backend)
    assert len(trainer.settings.train_dataset[0]["boxes"]) == 1
    assert first_loss(trainer) == pytest.approx(first_loss(whole), rel=1e-5)


def test_boxes_beyond_the_picture_and_of_one_pixel(backend):
    boxes = [(-20, -9, 15, 20), (40, 30, 400, 300), (60, 60, 90, 90), (4, 4, 5, 5), (0, 0, 50, 40)]
    trainer = trainer_of([sample(boxes), sample()], backend)
    assert np.isfinite(first_loss(trainer))
    assert np.isfinite([np.abs(value).max() for value in trainer.model.state_dict().values()]).all()


@pytest.mark.sample(False)
def test_pictures_without_objects(backend):
    for samples in ([sample(), sample()], [sample(), sample([WHOLE])]):
        trainer = trainer_of(samples, backend)
        before = trainer.model.state_dict() if trainer.model.built else {}
        assert 0 < first_loss(trainer) < 1e4
        after = trainer.model.state_dict()
        assert any((before[key] != value).any() for key, value in after.items())


@pytest.mark.sample(False)
def test_empty_and_missing_files_of_labels(backend, tmp_path):
    for name in ("images", "labels"):
        (tmp_path / name).mkdir()
    for at in range(3):
        PIL.Image.fromarray(sample()["image"]).save(tmp_path / "images" / f"{at}.png")
    (tmp_path / "labels" / "0.txt").write_text("1 0.5 0.5 0.4 0.4\n")
    (tmp_path / "labels" / "1.txt").write_text("")
    (tmp_path / "data.yaml").write_text("names: [cat, dog]\n")
    trainer = trainer_of(data.open_dataset(tmp_path), backend)
    assert [len(trainer.settings.train_dataset[at]["boxes"]) for at in range(3)] == [1, 0, 0]
    assert np.isfinite(first_loss(trainer))
