"""Detectors of the zoo from a picture to boxes, on one backend: the public implementations' results, and every family."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from labdl import models
from labdl.errors import ConfigError, DataError
from labdl.infer import Inference
from labdl.models.zoo import ZOO

ORACLES = Path(__file__).parents[2] / "oracles" / "zoo"
sys.path.insert(0, str(ORACLES))
import public_model  # noqa: E402


@pytest.mark.sample(False)
@pytest.mark.parametrize(
    ("name", "oracle", "settings"),
    [
        ("ssd300_vgg16", "ssd300_e2e", {"threshold": 0.3, "max_detections": 20}),
        ("fasterrcnn_resnet18_fpn", "fasterrcnn_r18_e2e", {"threshold": 0.2, "max_detections": 20}),
    ],
)
def test_detections_are_those_of_the_public_implementation(name, oracle, settings, backend):
    path = ORACLES / "end_to_end" / f"{oracle}.npz"
    with np.load(path) as file:
        expected = {key: file[f"y:{key}"] for key in ("boxes", "scores", "labels")}
        classes = json.loads(str(file["config"]))["settings"]["classes"]
    model = models.create(name, classes=classes)
    size = None
    if "rcnn" in name:
        model.proposals.most, size = 100, (128, 160)
    infer = Inference.of(model, weights=public_model.load(path), backend=backend.name, size=size, **settings)
    found = infer.infer_one(public_model.inputs(path)["0"][0].transpose(1, 2, 0))
    assert len(found) == len(expected["scores"])
    free = set(range(len(found)))
    for box, score, label in zip(*expected.values(), strict=True):
        partner = min(free, key=lambda at: np.abs(found.boxes[at] - box).max() + 1e3 * (found.labels[at] != label))
        assert np.abs(found.boxes[partner] - box).max() <= 0.05
        assert found.labels[partner] == label
        assert abs(found.scores[partner] - score) <= max(1e-6, 2e-5 * expected["scores"].max())
        free.remove(partner)


DETECTORS = [name for name, entry in ZOO.items() if entry.task == "object detection" and entry.small]


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", DETECTORS)
def test_every_family_goes_from_a_picture_to_boxes_in_it(name, backend):
    model = ZOO[name].small()[0]
    size = getattr(model, "size", 64)
    infer = Inference.of(model, backend=backend.name, size=(size, size), threshold=0.0, max_detections=7)
    picture = np.random.default_rng(0).integers(0, 256, (50, 30, 3), "uint8")
    for sample in (picture, picture / np.float32(255)):
        found = infer.infer_one(sample)
        assert 0 < len(found) <= 7
        assert (found.boxes >= 0).all()
        assert (found.boxes <= [30, 50, 30, 50]).all()
        assert (np.diff(found.scores) <= 0).all()
    np.testing.assert_array_equal(infer.infer_one(picture, max_detections=1).boxes, infer.infer_one(picture).boxes[:1])


@pytest.mark.sample(backends=1)
def test_what_is_no_picture_and_what_is_no_detector(backend, tmp_path):
    infer = Inference.of(ZOO["yolov8n"].small()[0], backend=backend.name, size=(64, 64))
    for wrong in (np.zeros((4, 4, 2)), np.zeros((0, 4, 3)), "nowhere.png", 3, np.array([["a"]])):
        with pytest.raises((DataError, FileNotFoundError), match=r"a picture wants|nowhere\.png"):
            infer.infer_one(wrong)
    with pytest.raises(ConfigError, match="ResNet is no detector of the zoo"):
        Inference.of(models.create("resnet18"), backend=backend.name)
    with pytest.raises(ConfigError, match="yolov8n has no public weights by name"):
        Inference.of("yolov8n", backend=backend.name)
    with pytest.raises(ConfigError, match="treshold"):
        Inference.of(ZOO["yolov8n"].small()[0], backend=backend.name, treshold=0.3)
