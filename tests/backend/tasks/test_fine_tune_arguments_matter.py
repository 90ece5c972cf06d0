"""Two values of an argument of `labdl.fine_tune` give other models, data or records, or it stands in a list with its reason."""

import inspect
import warnings

import numpy as np
import pytest

import labdl
from labdl import data, nn, tasks
from labdl.data.codecs.image import encode_image
from labdl.tasks.fine_tuning import create_trainer
from labdl.tasks.image_classification import ImageClassification
from labdl.train.options import TrainerOptions

pytestmark = pytest.mark.sample(every=8, backends=1)


class Other(ImageClassification):
    """Classes of pictures with another loss."""

    loss = nn.CrossEntropyLoss(label_smoothing=0.5)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    root, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for name in "ab":
        (root / name).mkdir()
        for i in range(8):
            (root / name / f"{i}.png").write_bytes(encode_image(rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)))
    return root


@pytest.fixture(scope="module")
def damaged(pictures, tmp_path_factory):
    root = tmp_path_factory.mktemp("damaged")
    for path in sorted(pictures.rglob("*.png")):
        (root / path.parent.name).mkdir(exist_ok=True)
        (root / path.parent.name / path.name).write_bytes(path.read_bytes())
    (root / "a" / "3.png").write_bytes(b"no picture")
    return root


def classifier():
    return nn.Sequential(
        nn.Conv2d(4, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3), nn.ReLU(), nn.Linear(2)
    )


VALUES = {
    "task": Other(),
    "validation": 0.5,
    "size": 12,
    "loss": nn.CrossEntropyLoss(label_smoothing=0.5),
    "metrics": ("top_k_accuracy",),
    "optimizer": "sgd",
    "schedule": "cosine_decay",
    "seed": 4,
    "lora": {"r": 2, "target_modules": ["4"]},
}
REASONS = {
    "model": "what is trained",
    "dataset": "what it is trained with",
    "classes": "of a model of the zoo; test_the_arguments_of_a_model_by_name has it",
    "weights": "of a model of the zoo; test_the_arguments_of_a_model_by_name has it",
    "backend": "where it is trained",
    "compiled": "the same values, sooner",
    "group_by_length": "of texts; test_text_task_losses.py has it",
    "errors": "of samples that cannot be read; test_errors has it",
    **dict.fromkeys(TrainerOptions.__annotations__, "of the trainer; test_every_setting_of_a_trainer has it"),
}


def observe(dataset, backend, **options):
    labdl.seed(0)
    settings = {"task": "image classification", "size": 16, "epochs": 2, "batch_size": 4, "lr": 0.01, **options}
    model = classifier().build((None, 3, 16, 16), backend=backend.name, seed=0)
    trainer = labdl.fine_tune(model, dataset, backend=backend.name, compiled=False, **settings)
    return trainer.progress.history, len(trainer.settings.val_dataset)


@pytest.mark.parametrize("name", VALUES)
def test_every_argument(name, pictures, backend):
    assert observe(pictures, backend, **{name: VALUES[name]}) != observe(pictures, backend), name


def test_errors(damaged, backend):
    with pytest.raises(labdl.errors.DataError, match=r"3\.png"):
        observe(damaged, backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the picture
        skipped, replaced = (observe(damaged, backend, errors=errors) for errors in ("skip", "replace"))
    assert skipped != replaced


@pytest.mark.sample(False)
def test_the_arguments_of_a_model_by_name(pictures, backend):
    def build(**options):
        options = {"size": 32, "backend": backend.name, **options}
        return create_trainer("resnet18", data.ImageFolder(pictures), **options).model

    assert build(classes=5).build((None, 3, 32, 32))._shapes_of(labdl.Spec((1, 3, 32, 32))).shape == (1, 5)
    other = labdl.models.create("resnet18").build(backend="numpy", seed=7)
    with pytest.warns(UserWarning, match="all but the head is loaded"):
        model = build(weights=labdl.models.public_state_dict(other))
    name, expected = next(iter(other.state_dict().items()))
    np.testing.assert_array_equal(model.state_dict()[name], expected)


def test_every_argument_has_its_case():
    arguments = {n for n, p in inspect.signature(create_trainer).parameters.items() if p.kind is not p.VAR_KEYWORD}
    assert arguments | TrainerOptions.__annotations__.keys() == VALUES.keys() | REASONS.keys()
    assert tasks.find("image classification").name == ImageClassification.name
