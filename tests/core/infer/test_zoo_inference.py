"""Inference with models of the zoo by name: files, arrays and pictures become classes, masks and drawings."""

import numpy as np
import PIL.Image
import pytest

import labdl
from labdl import models
from labdl.data import Video
from labdl.data.codecs.video import encode_video
from labdl.errors import ConfigError, DataError, MissingFileError, ModelError
from labdl.infer import Classes, Detections, Inference, Points
from labdl.lab import show
from labdl.models import weights, zoo
from labdl.models.video.video_resnet import VideoResNet
from labdl.models.vision.deeplabv3 import DeepLabV3
from labdl.models.vision.resnet import BasicBlock, ResNet
from labdl.models.weights import ClipPreprocessing, PicturePreprocessing, WeightSet
from labdl.tasks.task import TASKS, Task, task

PICTURE = np.random.default_rng(0).integers(0, 256, (24, 37, 3), dtype=np.uint8)
PATH = "weights.npz"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Small models of three tasks with a weight set each, whose files are in the cache."""
    monkeypatch.setenv("LABDL_WEIGHTS", str(tmp_path / "cache"))
    monkeypatch.setattr(zoo, "ZOO", dict(zoo.ZOO))
    (tmp_path / "cache/here").mkdir(parents=True)
    sets = []

    def publish(make, task, inputs, preprocessing, labels):
        zoo.register(task, inputs=inputs, parameters=0, paper="https://example.org")(make)
        model = models.create(make.__name__).build(backend="numpy")
        np.savez(tmp_path / f"cache/here/{make.__name__}.npz", **models.public_state_dict(model))
        source = f"https://example.org/{make.__name__}.npz"
        sets.append(WeightSet(make.__name__, "here", "V1", source, preprocessing, labels))
        return model

    def small_resnet(classes: int | None = 21):
        """Classes of pictures."""
        return ResNet(BasicBlock, (1, 1, 1, 1), classes=classes, channels=4)

    def small_segmentation(classes: int = 21, auxiliary: bool = False):
        """Classes of pixels."""
        depths = (1, 1, 1, 1)
        settings = {"width": 2, "dilations": (1, 2, 3), "channels": 4}
        return DeepLabV3(BasicBlock, depths, classes=classes, auxiliary=auxiliary, **settings)

    monkeypatch.setattr(weights, "WEIGHT_SETS", sets)
    return {
        "classes": publish(small_resnet, "image classification", zoo.images(16), PicturePreprocessing(18, 16), "voc"),
        "masks": publish(small_segmentation, "image segmentation", zoo.images(24), PicturePreprocessing(16), "voc"),
    }


def inference(name, **settings):
    return Inference.of(name, backend="numpy", progress=False, **settings)


def test_files_arrays_and_pictures_give_classes_with_names(published, tmp_path):
    PIL.Image.fromarray(PICTURE).save(tmp_path / "picture.png")
    found = inference("small_resnet")
    results = found.infer(
        [PICTURE, PIL.Image.fromarray(PICTURE), tmp_path / "picture.png", str(tmp_path / "picture.png")]
    )
    prepared = PicturePreprocessing(18, 16).pipeline()(PICTURE).array.transpose(2, 0, 1)[None]
    logits = labdl.infer.predict(published["classes"], prepared)[0]
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    order = np.argsort(-shares)[:5]
    for result in results:
        assert result.labels.tolist() == order.tolist()
        np.testing.assert_allclose(result.probabilities, shares[order], rtol=1e-5)
        assert result.names == tuple(weights.class_names("voc")[at] for at in order)
    assert len(found.infer_one(PICTURE, top_k=2).labels) == 2
    grey = PICTURE[:, :, 0]
    same = found.infer([grey, grey[:, :, None], grey / 255, PIL.Image.fromarray(grey), np.stack([grey] * 4, 2)])
    for result in same[1:]:
        np.testing.assert_allclose(result.probabilities, same[0].probabilities, rtol=0.02)  # integers are rounded


def test_a_mask_has_the_size_and_the_names_of_its_picture(published):
    for auxiliary in (False, True):
        values = models.public_state_dict(models.create("small_segmentation", auxiliary=True).build(backend="numpy"))
        found = inference("small_segmentation", weights=values, auxiliary=auxiliary, preprocess="here")
        results = found.infer([PICTURE, PICTURE[:, :20]])
        assert [result.mask.shape for result in results] == [(24, 37), (24, 20)]
    found = inference("small_segmentation")
    result = found.infer_one(PICTURE)
    assert result.names == weights.class_names("voc")
    prepared = PicturePreprocessing(16).pipeline()(PICTURE).array.transpose(2, 0, 1)[None]
    scores = labdl.infer.predict(published["masks"], prepared)
    whole = labdl.ops.interpolate(scores, (24, 37), mode="bilinear")[0].argmax(0)
    assert (result.mask == whole).all()


@pytest.mark.sample(False)
def test_the_model_keeps_its_preprocessing_and_names_in_a_file(published, tmp_path):
    found = inference("small_resnet")
    labdl.save(found.model, tmp_path / "saved")
    opened = Inference(tmp_path / "saved", postprocess="classification", backend="numpy")
    expected, result = found.infer_one(PICTURE), opened.infer_one(PIL.Image.fromarray(PICTURE))
    assert result.names[:5] == expected.names
    np.testing.assert_allclose(result.probabilities[:5], expected.probabilities, rtol=1e-5)


def test_weights_without_a_table_need_a_preprocessing(published, tmp_path):
    np.savez(tmp_path / PATH, **models.public_state_dict(published["classes"]))
    path = str(tmp_path / PATH)
    expected = inference("small_resnet").infer_one(PICTURE).probabilities
    with pytest.raises(ModelError, match=r"pre-processing of these weights of small_resnet is not known.*\(here/V1\)"):
        inference("small_resnet", weights=path)
    own = PicturePreprocessing(18, 16)
    for preprocess in ("here/V1", own, own.pipeline(), [own.pipeline()]):
        result = inference("small_resnet", weights=path, preprocess=preprocess).infer_one(PICTURE)
        np.testing.assert_allclose(result.probabilities, expected, rtol=1e-6)
        assert result.names is None
    with pytest.raises(ConfigError, match="preprocess wants a function of a sample"):
        inference("small_resnet", weights=path, preprocess=[5])
    with pytest.raises(ConfigError, match="unet has no public weights by name"):
        Inference.of("unet")


@pytest.mark.sample(False)
def test_other_classes_have_no_names(published):
    with pytest.warns(UserWarning, match="all but the head"):
        found = inference("small_resnet", classes=2)
    assert found.infer_one(PICTURE).names is None
    assert found.model.class_names is None


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (PICTURE.transpose(2, 0, 1), r"\(height, width, 3\), received the shape \(3, 24, 37\): move the channels"),
        (PICTURE.astype("float32"), "those from 0 to 1, received 0 to 255: divide by 255"),
        (np.full((4, 4, 3), np.nan), "those from 0 to 1"),
        (PICTURE.astype("int64"), "uint8 or floating-point numbers"),
        (np.zeros((0, 4, 3), "uint8"), "received the shape"),
        (PICTURE[None], r"received the shape \(1, 24, 37, 3\)"),
        (b"no picture", "cannot be decoded"),
        (7, "received the shape"),
    ],
)
def test_other_samples_are_refused(published, sample, message):
    with pytest.raises(DataError, match=message):
        inference("small_resnet").infer_one(sample)


def test_a_missing_file_is_named(published):
    with pytest.raises(MissingFileError, match=r"nowhere\.png"):
        inference("small_resnet").infer_one("nowhere.png")


def test_a_task_without_steps_says_so():
    with pytest.raises(
        ConfigError, match=r"hrnet_pose_w32 is a model for key points, for which Inference\.of has no steps"
    ):
        Inference.of("hrnet_pose_w32")
    with pytest.raises(ConfigError, match="there is a task 'image classification' already"):
        task(type("Other", (Task,), {"name": "image classification"}))
    assert {"image classification", "image segmentation", "video classification"} <= set(TASKS)


@pytest.mark.sample(False)
def test_clips(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "ZOO", dict(zoo.ZOO))

    @zoo.register("video classification", inputs=zoo.clips(4, 16), parameters=0, paper="https://example.org")
    def small_video(classes: int = 5):
        """Classes of clips."""
        kinds = ("factored", "space", "space", "space")
        return VideoResNet(kinds, (1, 1, 1, 1), classes=classes, channels=4, stem_channels=3)

    values = models.public_state_dict(models.create("small_video").build(backend="numpy"))
    own = ClipPreprocessing((20, 24), 16)
    found = inference("small_video", weights=values, preprocess=own)
    clip = np.random.default_rng(1).integers(0, 256, (4, 30, 40, 3), dtype=np.uint8)
    result = found.infer_one(clip)
    assert np.array_equal(found.infer_one(Video(clip)).probabilities, result.probabilities)
    assert len(result.labels) == 5
    (tmp_path / "clip.mp4").write_bytes(encode_video(np.repeat(clip, 4, axis=0), fps=8))
    assert len(found.infer_one(tmp_path / "clip.mp4").labels) == 5
    with pytest.raises(DataError, match=r"a clip wants an array \(frames, height, width, 3\)"):
        found.infer_one(clip[0])


def test_show(published, tmp_path):
    PIL.Image.fromarray(PICTURE).save(tmp_path / "picture.png")
    classes = inference("small_resnet").infer_one(PICTURE)
    view = show(tmp_path / "picture.png", classes)
    assert (view.picture == PICTURE).all()
    assert [row.text for row in view.legend] == list(classes.names)
    mask = inference("small_segmentation").infer_one(PICTURE)
    view = show(PICTURE, mask)
    changed = (view.picture != PICTURE).any(axis=2)
    assert not changed[mask.mask == 0].any()
    assert changed.any() == (mask.mask != 0).any()
    names = {row.text for row in view.legend}
    assert names == {weights.class_names("voc")[number] for number in np.unique(mask.mask) if number}
    boxes = Detections(np.array([[2.0, 3, 20, 15]]), np.array([0.9]), np.array([4]), ("<b>cat",))
    view = show(PICTURE / 255, boxes)
    assert (view.picture[3, 2:20] != PICTURE[3, 2:20]).any()
    assert "&lt;b&gt;cat" in view._repr_html_()
    assert "<b>cat" not in view._repr_html_()
    points = Points(np.array([[5.0, 6], [30, 20]]), np.array([0.8, 0.1]), np.array([True, False]))
    assert [row.text for row in show(PICTURE, points).legend] == ["point 0"]
    assert "90.0%" in repr(show(PICTURE, boxes))
    assert not show(PICTURE, Classes(np.array([], int), np.array([]))).legend
    with pytest.raises(ConfigError, match=r"one of Classes, Mask, Detections, Points, .*, received ndarray"):
        show(PICTURE, PICTURE)
