"""Clauses 6.2.1.2 g) and 6.2.3.2 f), and the draft's 6.4.4: the models, small, against NumPy and for a training step."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labdl import dispatch, models, nn, standard
from labdl.conformance.row import Missing, array, close, holds, row

Trial = tuple[nn.Module, tuple[np.ndarray, ...]]

# clause, task, and its models: the name in the standard, then names to look for where they differ
_FIRST, _SECOND, _THIRD, _FOURTH = (f"6.2.1.2 g){n}, 6.2.3.2 f){n}" for n in (1, 2, 3, 4))
_DRAFT = "draft 6.4.4"
_MODELS = [
    (_FIRST, "image classification", "ResNet, VGGNet=VGG, EfficientNet"),
    (_DRAFT, "image classification", "Vision Transformer=VisionTransformer"),
    (_FIRST, "object detection", "YOLO=YOLO/YOLOv5/YOLOv8, SSD, Faster RCNN=FasterRCNN, RetinaNet"),
    (_DRAFT, "object detection", "YOLOv5, YOLOv6, YOLOv7, YOLOv8"),
    (_FIRST, "key points", "HRNet, PFLD"),
    (_DRAFT, "key points", "OpenPose"),
    (_FIRST, "image segmentation", "DeepLabv3=DeepLabV3, UNet, Mask RCNN=MaskRCNN"),
    (_DRAFT, "image segmentation", "DeepLabv3+=DeepLabV3Plus"),
    (_FIRST, "character recognition", "TrOCR"),
    (_SECOND, "similarity, classification and generation of texts", "BERT"),
    (_SECOND, "text classification", "TextCNN, XLNet"),
    (_SECOND, "text classification and translation", "T5"),
    (_SECOND, "translation", "ByteNet"),
    (_DRAFT, "translation", "Transformer=TranslationTransformer, mBART"),
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


# -- how a small one is made


def images(size: int, count: int = 2) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((count, 3, size, size)).astype("float32")


def tokens(count: int = 2, length: int = 5) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 20, (count, length))


def small_resnet() -> Trial:
    resnet = importlib.import_module("labdl.models.vision.resnet")
    return resnet.ResNet(resnet.BasicBlock, (1, 1), classes=3, channels=4), (images(16),)


def small_vision_transformer() -> Trial:
    vit = importlib.import_module("labdl.models.vision.vit")
    return vit.VisionTransformer(16, 8, layers=1, heads=2, features=8, feed_forward=16, classes=3), (images(16),)


def bert_settings():
    """A small BERT's settings."""
    bert = importlib.import_module("labdl.models.text.bert")
    return bert, bert.BertConfig(
        vocabulary=20, features=8, layers=1, heads=2, feed_forward=16, positions=8, rate=0.0, attention_rate=0.0
    )


def small_bert() -> Trial:
    bert, config = bert_settings()
    return bert.Bert(config), (tokens(),)


def small_transformer() -> Trial:
    """A small Transformer that translates."""
    module = importlib.import_module("labdl.models.text.transformer")
    return module.TranslationTransformer(20, features=8, heads=2, layers=1, feed_forward=16), (
        tokens(),
        tokens(length=4),
    )


_TRIALS: dict[str, Callable[[], Trial]] = {
    "ResNet": small_resnet,
    "Vision Transformer": small_vision_transformer,
    "BERT": small_bert,
    "Transformer": small_transformer,
}


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


def try_model(title: str, names: tuple[str, ...]) -> None:
    """Define a small one, compare its forward with NumPy's, and train it for a step."""
    found = find(*names)
    if title not in _TRIALS:
        raise AssertionError(
            f"there is {found.__name__} now: labdl/conformance/zoo.py must say how a small one is made"
        )
    results = []
    for backend in (dispatch.default(), "numpy"):
        model, inputs = _TRIALS[title]()
        model.build(*(a.shape if a.dtype.kind == "f" else dispatch.spec_of(a) for a in inputs), backend=backend, seed=0)
        results.append(_outputs(model.eval(), inputs, backend))
    for ours, reference in zip(*results, strict=True):
        close(ours, reference, rtol=1e-3, atol=1e-4)
    model, inputs = _TRIALS[title]()
    model.build(*(a.shape if a.dtype.kind == "f" else dispatch.spec_of(a) for a in inputs), seed=0)
    train_step(model, inputs)


for _clause, _task, _listed in _MODELS:
    for _entry in _listed.split(", "):
        _title, _, _known = _entry.partition("=")
        _names = tuple((_known or _title).split("/"))
        row(
            _clause, f"A model of {_task}: {_title}", "a small one: forward against NumPy, a training step", name=_title
        )(lambda title=_title, names=_names: try_model(title, names))
