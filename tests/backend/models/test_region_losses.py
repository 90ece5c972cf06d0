"""Losses of Faster R-CNN and Mask R-CNN on one backend, against loops in NumPy, and the samples that they are of."""

import numpy as np
import pytest
from tests.backend.models.test_detection_losses import OBJECTS, SIZE, encode, iou, real, softmax

import labdl
from labdl import ops
from labdl.errors import ModelError
from labdl.models.vision.detection_losses import FasterRCNNLoss, MaskRCNNLoss
from labdl.models.vision.detection_losses.objects import read_objects
from labdl.models.vision.detection_losses.sampling import Matches, match_regions, sample_balanced, sample_regions
from labdl.models.zoo import ZOO
from labdl.train import Adam, Trainer

pytestmark = pytest.mark.sample(backends=1)

CLASSES, ANCHORS, REGIONS = 3, 60, 24
ALL = {"anchors": 1000, "anchor_share": 1.0, "regions": 1000, "region_share": 1.0}
MASKS = np.random.default_rng(5).integers(0, 2, (3, 3, SIZE, SIZE)).astype("float32")


def outputs():
    """Outputs of three images; the last regions of each have no area, as where there are fewer proposals."""
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 40, (ANCHORS, 2))
    anchors = np.stack([np.concatenate([corners, corners + rng.uniform(6, 24, (ANCHORS, 2))], 1)] * 3)
    regions = np.zeros((3, REGIONS, 4))
    for at, objects in enumerate(OBJECTS):
        boxes = [o[:4] + rng.uniform(-4, 4, 4) for o in real(objects) for _ in range(6)]
        boxes = np.array([*boxes, *anchors[0, : 20 - len(boxes)]])
        regions[at, :20] = boxes
    objectness, offsets = rng.normal(size=(3, ANCHORS)), rng.normal(size=(3, ANCHORS, 4))
    logits, changes = rng.normal(size=(3, REGIONS, CLASSES)), rng.normal(size=(3, REGIONS, CLASSES, 4))
    masks = rng.normal(size=(3, REGIONS, CLASSES, 28, 28))
    return [a.astype("float32") for a in (objectness, offsets, anchors, regions, logits, changes, masks)]


def smooth(gap):
    gap = np.abs(gap)
    return np.where(gap < 1 / 9, gap**2 * 4.5, gap - 1 / 18).sum()


def points_of_mask(mask, box):
    """The values of a mask at 28 x 28 bins of a box, each the mean of four points between the pixels."""
    sides = np.maximum(box[2:] - box[:2], 1) / 28
    at = [box[k] + (np.arange(56) + 0.5) * sides[k] / 2 for k in range(2)]
    values = np.zeros((56, 56))
    for i, y in enumerate(at[1]):
        for j, x in enumerate(at[0]):
            if -1 <= y <= SIZE and -1 <= x <= SIZE:
                y0, x0 = (min(max(v, 0), SIZE - 1) for v in (y, x))
                top, left = int(y0), int(x0)
                below, right = min(top + 1, SIZE - 1), min(left + 1, SIZE - 1)
                dy, dx = y0 - top, x0 - left
                upper = mask[top, left] * (1 - dx) + mask[top, right] * dx
                values[i, j] = upper * (1 - dy) + (mask[below, left] * (1 - dx) + mask[below, right] * dx) * dy
    return values.reshape(28, 2, 28, 2).mean((1, 3))


def loss_by_loops(parts, objects, masks):
    """Losses of Faster R-CNN and of the masks, of all anchors and regions that count."""
    scores, boxes, classes, pixels = [], [], [], []
    of_regions = []
    for at, (objectness, offsets, anchors, regions, logits, changes, mask_logits) in enumerate(
        zip(*parts, strict=True)
    ):
        truth = real(objects[at])
        best_of = [max(iou(o, a) for a in anchors) for o in truth]
        for a, anchor in enumerate(anchors):
            values = [iou(o, anchor) for o in truth]
            top = any(v == best for v, best in zip(values, best_of, strict=True))
            positive = bool(truth) and (max(values) >= 0.7 or top)
            if not positive and truth and max(values) >= 0.3:
                continue
            scores.append(np.log1p(np.exp(-objectness[a] if positive else objectness[a])))
            if positive:
                boxes.append(smooth(offsets[a] - encode(truth[int(np.argmax(values))], anchor, 1.0)))
        for k, region in enumerate(regions):
            if not (region[2:] > region[:2]).all():
                continue
            values = [iou(o, region) for o in truth]
            place = int(np.argmax(values)) if truth and max(values) >= 0.5 else None
            kind = 0 if place is None else int(truth[place][4])
            classes.append(-np.log(softmax(logits[k])[kind]))
            if place is not None:
                of_regions.append(smooth(changes[k, kind] - encode(truth[place], region, (10, 10, 5, 5))))
                number = next(n for n, o in enumerate(objects[at]) if o is truth[place] or (o == truth[place]).all())
                wanted, logit = points_of_mask(masks[at, number], region), mask_logits[k, kind].astype("float64")
                pixels.append(np.mean(np.log1p(np.exp(-logit)) + (1 - wanted) * logit))
    detection = (sum(scores) + sum(boxes)) / len(scores) + (sum(classes) + sum(of_regions)) / len(classes)
    return detection, np.mean(pixels)


def test_losses_of_all_anchors_and_regions_are_those_of_loops(backend):
    parts = outputs()
    tensors, objects = tuple(map(backend.tensor, parts)), backend.tensor(OBJECTS)
    detection, masks = loss_by_loops(parts, OBJECTS, MASKS)
    value = FasterRCNNLoss(**ALL)(tensors, objects)
    assert float(labdl.to_numpy(value)) == pytest.approx(detection, rel=2e-5)
    value = MaskRCNNLoss(**ALL)(tensors, (objects, backend.tensor(MASKS)))
    assert float(labdl.to_numpy(value)) == pytest.approx(detection + masks, rel=2e-5)


@pytest.mark.parametrize(("size", "share", "wanted"), [(8, 0.5, (4, 4)), (8, 0.25, (2, 6)), (40, 0.5, (9, 30))])
def test_samples_have_the_numbers_that_are_wanted(size, share, wanted, backend):
    positive = np.zeros((2, 50), bool)
    positive[0, 5:14] = True
    negative = np.zeros((2, 50), bool)
    negative[:, 15:45] = True
    matches = Matches(None, backend.tensor(positive), backend.tensor(negative))
    labdl.seed(0)
    draws = [[labdl.to_numpy(part) for part in sample_balanced(matches, size, share)] for _ in range(2)]
    for chosen, other in draws:
        assert not (chosen & ~positive).any()
        assert not (other & ~negative).any()
        assert (chosen[0].sum(), other[0].sum()) == wanted
        # an image without objects has background alone
        assert (chosen[1].sum(), other[1].sum()) == (0, min(size, 30))
    assert size == 40 or any((a != b).any() for a, b in zip(*draws, strict=True))
    labdl.seed(0)
    again = [labdl.to_numpy(part) for part in sample_balanced(matches, size, share)]
    assert all((a == b).all() for a, b in zip(again, draws[0], strict=True))


def test_sampled_regions_begin_with_those_of_objects_and_have_the_objects_themselves(backend):
    proposals, objects = backend.tensor(outputs()[3]), backend.tensor(OBJECTS)
    regions = sample_regions("test", proposals, objects, size=40, share=0.75, threshold=0.5)
    matches = match_regions(read_objects("test", objects), regions, 0.5)
    positive = labdl.to_numpy(matches.positive)
    assert labdl.to_numpy(regions).shape == (3, 40, 4)
    for row, boxes, truth in zip(positive, labdl.to_numpy(regions), map(real, OBJECTS), strict=True):
        assert not row[row.sum() :].any()
        assert row.sum() <= 30
        assert all((boxes == o[:4]).all(1).any() for o in truth)


MODELS = {"fasterrcnn_resnet18_fpn": FasterRCNNLoss(), "maskrcnn_resnet18_fpn": MaskRCNNLoss()}


def targets_of(name, objects):
    masks = np.zeros((*objects.shape[:2], SIZE, SIZE), "float32")
    for at in np.ndindex(objects.shape[:2]):
        x1, y1, x2, y2 = (int(n) for n in objects[at][:4])
        masks[at][y1:y2, x1:x2] = 1
    return (objects, masks) if name.startswith("mask") else objects


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", MODELS)
def test_a_detector_learns_objects_with_its_loss(name, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0)
    images = np.random.default_rng(0).normal(size=(3, 3, SIZE, SIZE)).astype("float32")
    trainer = Trainer(model, loss=MODELS[name], optimizer=Adam(0.003), backend=backend.name, compiled=False)
    # each step draws other regions, and at times none with an object: only the means of many can be compared
    losses = [trainer.train_one_batch(images, targets_of(name, OBJECTS))["loss"] for _ in range(30)]
    assert np.isfinite(losses).all()
    assert np.median(losses[-10:]) < losses[0]
    values = trainer.evaluate(images, targets_of(name, OBJECTS))
    assert np.isfinite(values["loss"])


MANY = np.concatenate([np.random.default_rng(0).uniform(0, 30, (1, 500, 2)), np.full((1, 500, 2), 40)], -1)
MANY = np.concatenate([MANY, np.ones((1, 500, 1))], -1).repeat(2, 0).astype("float32")


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("given", [False, True])
def test_any_number_of_objects_has_a_finite_loss_and_gradient(name, given, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0).train()
    x = backend.tensor(np.zeros((2, 3, SIZE, SIZE), "float32"))
    parameters = [p.value for p in model.parameters() if p.trainable]
    for objects in (np.zeros((2, 0, 5), "float32"), np.full((2, 3, 5), -1, "float32"), OBJECTS[1:, 1:], MANY):
        target = targets_of(name, objects)
        target = tuple(map(backend.tensor, target)) if isinstance(target, tuple) else backend.tensor(target)
        rows = backend.tensor(objects) if given else None
        loss, gradients = backend.gradients(lambda *_: MODELS[name](model(x, None, rows), target), parameters)  # noqa: B023
        assert np.isfinite(labdl.to_numpy(loss))
        assert all(np.isfinite(labdl.to_numpy(ops.sum(g))) for g in gradients if g is not None)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("loss", "at", "target", "words"),
    [
        (FasterRCNNLoss(), 3, OBJECTS, "wants objectness, offsets"),
        (MaskRCNNLoss(), 6, OBJECTS, "and logits of masks"),
        (MaskRCNNLoss(), 7, OBJECTS, "wants two targets"),
        (MaskRCNNLoss(), 7, (OBJECTS, MASKS[:, :2]), "one for each of the objects"),
        (FasterRCNNLoss(), 7, OBJECTS[:, 0], r"wants objects \(N, objects, 5\)"),
    ],
)
def test_targets_and_outputs_of_other_forms_are_refused(loss, at, target, words, backend):
    parts = tuple(map(backend.tensor, outputs()[:at]))
    target = tuple(map(backend.tensor, target)) if isinstance(target, tuple) else backend.tensor(target)
    with pytest.raises(ModelError, match=words):
        loss(parts, target)
