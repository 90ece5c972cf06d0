"""Clauses 6.2.1.2 g) and 6.2.3.2 f), and the draft's 6.4.4: the models, small, against NumPy and for a training step."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np

from labdl import dispatch, models, nn, standard
from labdl.conformance.row import Missing, array, close, holds, row
from labdl.models.zoo import ZOO
from labdl.spec import Spec

Trial = tuple[nn.Module, tuple[np.ndarray, ...]]

# clause, task, and its models: the name in the standard, then names to look for where they differ
_FIRST, _SECOND, _THIRD, _FOURTH = (f"6.2.1.2 g){n}, 6.2.3.2 f){n}" for n in (1, 2, 3, 4))
_DRAFT = "draft 6.4.4"
_MODELS = [
    (_FIRST, "image classification", "ResNet, VGGNet=VGG, EfficientNet"),
    (_DRAFT, "image classification", "Vision Transformer=VisionTransformer"),
    (_FIRST, "object detection", "YOLO=YOLO/YOLOv5/YOLOv8, SSD, Faster RCNN=FasterRCNN, RetinaNet"),
    (_DRAFT, "object detection", "YOLOv5, YOLOv6, YOLOv7, YOLOv8"),
    (_FIRST, "key points", "HRNet=PoseHRNet, PFLD"),
    (_DRAFT, "key points", "OpenPose"),
    (_FIRST, "image segmentation", "DeepLabv3=DeepLabV3, UNet, Mask RCNN=MaskRCNN"),
    (_DRAFT, "image segmentation", "DeepLabv3+=DeepLabV3Plus"),
    (_FIRST, "character recognition", "TrOCR"),
    (_SECOND, "similarity, classification and generation of texts", "BERT"),
    (_SECOND, "text classification", "TextCNN, XLNet"),
    (_SECOND, "text classification and translation", "T5"),
    (_SECOND, "translation", "ByteNet"),
    (_DRAFT, "translation", "Transformer=TranslationTransformer, mBART=mBART_large"),
    (_DRAFT, "text generation", "GPT=GPT/GPT2, BART"),
    (_THIRD, "speech recognition", "Conformer, RNNT"),
    (_THIRD, "speech synthesis", "WaveNet"),
    (_DRAFT, "speech synthesis", "Tacotron2"),
    (_FOURTH, "video classification", "S3D, Resnet3D=ResNet3D"),
    (_DRAFT, "video classification", "SlowFast"),
]


def _all_names() -> Iterator[tuple[str, Any]]:
    for found in pkgutil.walk_packages(models.__path__, "labdl.models."):
        module = importlib.import_module(found.name)
        yield from (
            (name.lower(), value)
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == found.name
        )


def find(*names: str) -> Any:
    """A model of `labdl.models` by one of its names, whatever the letters. Raises Missing."""
    wanted = [name.lower() for name in names]
    for name, value in _all_names():
        if name in wanted:
            return value
    raise Missing(f"labdl.models has no {' or '.join(names)}")


def small_model(kind: Any) -> Trial:
    """A small model of a class or of the class that a function makes, and inputs. Raises AssertionError for none."""
    for entry in ZOO.values():
        model, specs = entry.small() if entry.small else (None, ())
        if model is not None and (entry.make is kind or (isinstance(kind, type) and isinstance(model, kind))):
            return model, tuple(map(draw, specs))
    raise AssertionError(f"{kind.__name__}: zoo.register(..., small=...) must say how a small one is made")


def draw(spec: Spec) -> np.ndarray:
    rng, shape = np.random.default_rng(0), tuple(n or 2 for n in spec.shape)
    return rng.integers(1, 20, shape) if spec.dtype == "int64" else rng.standard_normal(shape).astype(spec.dtype)


def _outputs(model: nn.Module, inputs, backend: str) -> list[np.ndarray]:
    owner = dispatch.get(backend)
    found = model(*map(owner.tensor, inputs))
    return [array(v) for v in (found if isinstance(found, tuple) else (found,))]


def train_step(model: nn.Module, inputs) -> None:
    """One update by the standard's own interfaces: the parameters move, and stay finite."""
    before = model.state_dict()
    optimizer = standard.construct_optimizer(model, {"optimizer_method": "SGD", "base_learningrate": 0.1})
    standard.forward(model.train(), tuple(map(standard.initialize, inputs)))
    standard.backward(model, None)
    standard.update_learnable_parameter(model, optimizer)
    after = model.state_dict()
    holds(any(not np.array_equal(before[name], after[name]) for name in before), "a training step changes parameters")
    holds(all(np.isfinite(value).all() for value in after.values()), "all parameters are finite after a training step")


def try_model(names: tuple[str, ...]) -> None:
    """Define a small one, compare its forward with NumPy's, and train it for a step."""
    found = find(*names)
    results = []
    for backend in (dispatch.default(), "numpy"):
        model, inputs = small_model(found)
        model.build(*map(dispatch.spec_of, inputs), backend=backend, seed=0)
        results.append(_outputs(model.eval(), inputs, backend))
    for ours, reference in zip(*results, strict=True):
        close(ours, reference, rtol=1e-3, atol=1e-4)
    model, inputs = small_model(found)
    model.build(*map(dispatch.spec_of, inputs), seed=0)
    train_step(model, inputs)


for _clause, _task, _listed in _MODELS:
    for _entry in _listed.split(", "):
        _title, _, _known = _entry.partition("=")
        _names = tuple((_known or _title).split("/"))
        row(
            _clause, f"A model of {_task}: {_title}", "a small one: forward against NumPy, a training step", name=_title
        )(lambda names=_names: try_model(names))
