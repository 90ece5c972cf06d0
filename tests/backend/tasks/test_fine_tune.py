"""Training in one line: pictures and clips by class, and masks, from folders to a model that is saved with its transforms."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_sample_images

import labdl
from labdl import data, nn, ops, tasks
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, DataError

pytestmark = pytest.mark.sample(backends=2)

PHOTOGRAPHS = load_sample_images().images


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Sixteen parts of two photographs, of more than one size, in a folder for each of them."""
    root, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for name, photograph in zip(("temple", "flower"), PHOTOGRAPHS, strict=True):
        (root / name).mkdir()
        for i in range(8):
            top, left, height = rng.integers(300), rng.integers(500), 40 + i
            picture = photograph[top : top + height, left : left + 60]
            (root / name / f"{i}.png").write_bytes(encode_image(picture))
    return root


@pytest.fixture(scope="module")
def masks(tmp_path_factory):
    """Photographs with a bright square, and masks of it with a border that does not count."""
    root, rng = tmp_path_factory.mktemp("masks"), np.random.default_rng(0)
    for name in ("images", "masks"):
        (root / name).mkdir()
    for i in range(8):
        picture, mask = PHOTOGRAPHS[0][100:148, 8 * i : 8 * i + 48].copy(), np.zeros((48, 48, 1), "uint8")
        top, left = rng.integers(2, 28, 2)
        mask[top - 2 : top + 20, left - 2 : left + 20] = 255
        mask[top : top + 18, left : left + 18] = 1
        picture[mask[..., 0] == 1] = 250
        (root / "images" / f"{i}.png").write_bytes(encode_image(picture))
        (root / "masks" / f"{i}.png").write_bytes(encode_image(mask))
    return root


def classifier(classes=2):
    return nn.Sequential(
        nn.Conv2d(4, kernel_size=3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(classes)
    )


def test_pictures_from_a_folder_to_a_saved_model(pictures, backend, tmp_path):
    trainer = labdl.fine_tune(
        classifier(),
        pictures,
        task="image classification",
        size=32,
        epochs=2,
        batch_size=4,
        lr=0.01,
        compiled=False,
        backend=backend.name,
    )
    assert len(trainer.progress.history["loss"]) == len(trainer.progress.history["val_accuracy"]) == 2
    assert trainer.model.class_names == ("flower", "temple")
    assert (len(trainer.settings.train_dataset), len(trainer.settings.val_dataset)) == (12, 4)
    labdl.save(trainer.model, tmp_path / "kinds")
    inference = labdl.infer.Inference(tmp_path / "kinds", postprocess="classification")
    picture = data.ImageFolder(pictures)[0]["image"]
    prepared = trainer.model.preprocessing({"image": picture})["image"]
    assert prepared.shape == (32, 32, 3)
    scores = labdl.to_numpy(trainer.model.eval()(backend.tensor(np.moveaxis(prepared, -1, 0)[None])))[0]
    assert inference.infer_one(picture).names[0] == trainer.model.class_names[scores.argmax()]


class Pixels(nn.Module):
    """Two convolutions with the classes on axis 1."""

    def __init__(self):
        self.first, self.last = nn.Conv2d(8, kernel_size=3, padding="same"), nn.Conv2d(2, kernel_size=3, padding="same")

    def forward(self, x):
        return self.last(ops.relu(self.first(x)))


def segment(masks, backend, epochs):
    folder = data.SegmentationFolder(masks / "images", masks / "masks", classes=["background", "square"])
    settings = {"size": 24, "batch_size": 2, "lr": 0.01, "compiled": False, "backend": backend.name}
    return labdl.fine_tune(Pixels(), folder, task="image segmentation", epochs=epochs, **settings)


def test_the_border_of_masks_does_not_count(masks, backend):
    trainer = segment(masks, backend, 1)
    assert trainer.model.class_names == ("background", "square")
    pictures, targets = (np.stack(part) for part in zip(*trainer.settings.val_dataset, strict=True))
    logits = labdl.to_numpy(trainer.model.eval()(backend.tensor(np.moveaxis(pictures, -1, 1))))
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    counted = targets != 255
    right = np.take_along_axis(logs, np.where(counted, targets, 0)[:, None].astype(int), 1)[:, 0]
    assert 0 < counted.sum() < targets.size
    assert trainer.progress.history["val_loss"][0] == pytest.approx(-right[counted].mean(), rel=1e-4)
    chosen = logits.argmax(1)
    overlaps = [
        ((chosen == kind) & (targets == kind)).sum() / (((chosen == kind) & counted) | (targets == kind)).sum()
        for kind in (0, 1)
    ]
    assert trainer.progress.history["val_mean_iou"][0] == pytest.approx(np.mean(overlaps), rel=1e-4)


@pytest.mark.sample(False)
def test_squares_are_found(masks, backend):
    assert segment(masks, backend, 40).progress.history["val_mean_iou"][-1] > 0.8


@pytest.mark.sample(backends=["torch"])
def test_a_zoo_model_gets_the_classes_of_the_folder(pictures, backend):
    trainer = tasks.create_trainer("resnet18", str(pictures), size=32, validation=0.25, seed=3, backend=backend.name)
    assert trainer.model.head.out_features == 2
    assert len(trainer.settings.val_dataset) == 4
    sample = trainer.settings.train_dataset[0]
    assert sample[0].shape == (32, 32, 3)
    assert sample[0].dtype == "float32"


@pytest.mark.sample(backends=["torch"])
def test_colors_are_normalized_as_the_model_says(pictures, backend):
    model = classifier()
    model.preprocessing = data.Pipeline([T.Resize(40), T.Normalize((0.5,), (0.5,))])
    settings = {"task": "image classification", "size": 32, "backend": backend.name}
    own, usual = (tasks.create_trainer(each, str(pictures), **settings) for each in (model, classifier()))
    first, second = (trainer.settings.val_dataset[0][0] for trainer in (own, usual))
    colors = second * np.array([0.229, 0.224, 0.225]) + np.array([0.485, 0.456, 0.406])
    np.testing.assert_allclose(first, (colors - 0.5) / 0.5, atol=1e-5)


@pytest.mark.sample(backends=["torch"])
def test_clips(tmp_path, backend):
    from labdl.data.codecs.video import encode_video

    for kind, direction in (("left", -1), ("right", 1)):
        (tmp_path / kind).mkdir()
        for i in range(3):
            frames = [np.roll(PHOTOGRAPHS[0][100:164, 64 * i : 64 * i + 64], direction * 4 * t, 1) for t in range(6)]
            (tmp_path / kind / f"{i}.mp4").write_bytes(encode_video(np.stack(frames)))
    clips = data.VideoFolder(tmp_path, frames=4)
    model = nn.Sequential(nn.Conv3d(2, kernel_size=3), nn.Flatten(), nn.Linear(2))
    trainer = labdl.fine_tune(
        model, clips, task="video classification", size=16, epochs=1, validation=0.34, backend=backend.name
    )
    assert trainer.progress.history["val_accuracy"][0] in (0.0, 0.5, 1.0)


@pytest.mark.sample(backends=["torch"])
@pytest.mark.sample(False)
@pytest.mark.parametrize("errors", ["skip", "replace"])
def test_pictures_that_cannot_be_read_are_left_out(pictures, backend, tmp_path, errors):
    shutil.copytree(pictures, tmp_path / "torn")
    for folder in (tmp_path / "torn").iterdir():
        (folder / "torn.png").write_bytes(b"")
    settings = {"task": "image classification", "size": 16, "backend": backend.name, "epochs": 1, "batch_size": 8}
    with pytest.raises(DataError, match=r"torn\.png\) cannot be read"):
        labdl.fine_tune(classifier(), tmp_path / "torn", **settings)
    with pytest.warns(UserWarning, match=r"could not be read.*torn\.png"):
        trainer = labdl.fine_tune(classifier(), tmp_path / "torn", errors=errors, **settings)
    assert np.isfinite(trainer.progress.history["val_loss"]).all()


def test_what_cannot_be_trained_in_one_line_is_refused(pictures, masks, backend):
    folder = data.ImageFolder(pictures)
    for call, part in [
        (lambda: tasks.create_trainer(classifier(), folder), "give task="),
        (lambda: tasks.create_trainer("bert_base", folder), "no task 'text encoding'"),
        (lambda: tasks.create_trainer(classifier(), folder, task="image clasification"), "did you mean 'image class"),
        (lambda: tasks.create_trainer("slowfast_r50", folder, classes=2), "has 2 inputs"),
        (lambda: tasks.create_trainer("r3d_18", folder), "wants samples with video"),
        (lambda: tasks.create_trainer(classifier(), folder, task="image classification"), "give size="),
        (lambda: tasks.create_trainer("resnet18", folder, validation=1.5), "share between 0 and 1"),
        (
            lambda: tasks.create_trainer("resnet18", data.ImageFolder(pictures, classes=folder.classes[:1])),
            "has one class alone",
        ),
        (lambda: tasks.create_trainer("resnet18", np.zeros((4, 3, 8, 8))), "received ndarray"),
        (
            lambda: tasks.create_trainer("unet", data.SegmentationFolder(masks / "images", masks / "masks")),
            "give their number, classes=",
        ),
    ]:
        with pytest.raises(ConfigError, match=part):
            call()
