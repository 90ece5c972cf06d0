"""Losses of detectors on one backend, against loops over objects and anchors in NumPy, and as the loss of a trainer."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.errors import ModelError
from labdl.models.vision.detection_losses import RetinaNetLoss, SSDLoss, TaskAlignedLoss
from labdl.models.zoo import ZOO
from labdl.train import Adam, Trainer

pytestmark = pytest.mark.sample(backends=1)

# the second image has padding and an object without an area, the third has no objects
OBJECTS = np.array(
    [
        [[4, 4, 30, 40, 1], [20, 10, 60, 33, 2], [22, 12, 58, 36, 1]],
        [[1, 30, 14, 60, 2], [9, 9, 9, 20, 1], [0, 0, 0, 0, -1]],
        [[0, 0, 0, 0, -1]] * 3,
    ],
    "float32",
)
SIZE, CLASSES = 64, 3


def real(objects):
    return [o for o in objects if o[4] >= 0 and (o[2:4] > o[:2]).all()]


def iou(a, b):
    w, h = (min(a[2 + k], b[2 + k]) - max(a[k], b[k]) for k in range(2))
    common = max(w, 0) * max(h, 0)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def encode(box, anchor, weights):
    w, h = anchor[2] - anchor[0], anchor[3] - anchor[1]
    moves = ((box[0] + box[2] - anchor[0] - anchor[2]) / 2 / w, (box[1] + box[3] - anchor[1] - anchor[3]) / 2 / h)
    changes = (np.log((box[2] - box[0]) / w), np.log((box[3] - box[1]) / h))
    return np.array([*moves, *changes]) * weights


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def raw_outputs(count=60):
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 48, (count, 2))
    anchors = np.concatenate([corners, corners + rng.uniform(6, 30, (count, 2))], 1)
    offsets, logits = rng.normal(size=(3, count, 4)), rng.normal(size=(3, count, CLASSES))
    return [a.astype("float32") for a in (offsets, logits, np.stack([anchors] * 3))]


def ssd_by_loops(offsets, logits, anchors, objects):
    total, matches = 0.0, 0
    for offset, logit, anchor, truth in zip(offsets, logits, anchors, map(real, objects), strict=True):
        owner = dict.fromkeys(range(len(anchor)))
        for a in owner:
            best = max(truth, key=lambda o: iou(o, anchor[a]), default=None)
            owner[a] = best if best is not None and iou(best, anchor[a]) >= 0.5 else None
        for o in truth:
            owner[max(owner, key=lambda a: iou(o, anchor[a]))] = o
        losses = {a: -np.log(softmax(logit[a])[0 if o is None else int(o[4])]) for a, o in owner.items()}
        found = [a for a, o in owner.items() if o is not None]
        rest = sorted((losses[a] for a in owner if owner[a] is None), reverse=True)
        total += sum(losses[a] for a in found) + sum(rest[: 3 * len(found)])
        for a in found:
            gap = np.abs(offset[a] - encode(owner[a], anchor[a], (10, 10, 5, 5)))
            total += np.where(gap < 1, gap**2 / 2, gap - 0.5).sum()
        matches += len(found)
    return total / max(matches, 1)


def retinanet_by_loops(offsets, logits, anchors, objects):
    losses = []
    for offset, logit, anchor, truth in zip(offsets, logits, anchors, map(real, objects), strict=True):
        total, matches = 0.0, 0
        best_of = [max(iou(o, a) for a in anchor) for o in truth]
        for a in range(len(anchor)):
            values = [iou(o, anchor[a]) for o in truth]
            at = int(np.argmax(values)) if truth else -1
            top = any(value == best for value, best in zip(values, best_of, strict=True))
            positive = bool(truth) and (values[at] >= 0.5 or top)
            if not positive and truth and values[at] >= 0.4:
                continue
            wanted = np.arange(CLASSES) == (truth[at][4] if positive else -1)
            p = 1 / (1 + np.exp(-logit[a].astype("float64")))
            right = np.where(wanted, p, 1 - p)
            total += (np.where(wanted, 0.25, 0.75) * (1 - right) ** 2 * -np.log(right)).sum()
            if positive:
                total += np.abs(offset[a] - encode(truth[at], anchor[a], 1.0)).sum()
                matches += 1
        losses.append(total / max(matches, 1))
    return np.mean(losses)


@pytest.mark.parametrize(("loss", "by_loops"), [(SSDLoss(), ssd_by_loops), (RetinaNetLoss(), retinanet_by_loops)])
def test_losses_of_anchors_are_those_of_loops(loss, by_loops, backend):
    outputs = raw_outputs()
    value = loss(tuple(map(backend.tensor, outputs)), backend.tensor(OBJECTS))
    assert float(labdl.to_numpy(value)) == pytest.approx(by_loops(*outputs, OBJECTS), rel=2e-5)


def cells():
    for stride in (8, 16, 32):
        for y in range(SIZE // stride):
            for x in range(SIZE // stride):
                yield (x + 0.5) * stride, (y + 0.5) * stride, stride


def ciou(a, b):
    hull = [max(a[2 + k], b[2 + k]) - min(a[k], b[k]) for k in range(2)]
    centers = [(a[k] + a[2 + k] - b[k] - b[2 + k]) / 2 for k in range(2)]
    overlap = iou(a, b)
    gap = 4 / np.pi**2 * (np.arctan2(a[2] - a[0], a[3] - a[1]) - np.arctan2(b[2] - b[0], b[3] - b[1])) ** 2
    trade_off = gap / (1 - overlap + gap + 1e-9)
    return overlap - np.dot(centers, centers) / np.dot(hull, hull) - trade_off * gap


def task_aligned_by_loops(sides, logits, objects):
    places, total, wanted_sum = list(cells()), 0.0, 0.0
    classes = 0.0
    for side, logit, truth in zip(sides, logits, map(real, objects), strict=True):
        shares = softmax(side.T.reshape(len(places), 4, 16).astype("float64"))
        distance = shares @ np.arange(16)
        probability = 1 / (1 + np.exp(-logit.T.astype("float64")))
        boxes = [
            (x - d[0] * s, y - d[1] * s, x + d[2] * s, y + d[3] * s)
            for (x, y, s), d in zip(places, distance, strict=True)
        ]
        measures, overlaps = np.zeros((2, len(truth), len(places)))
        for g, o in enumerate(truth):
            for a, (x, y, _) in enumerate(places):
                if o[0] < x < o[2] and o[1] < y < o[3]:
                    overlaps[g, a] = max(ciou(o, boxes[a]), 0)
                    measures[g, a] = probability[a, int(o[4])] ** 0.5 * overlaps[g, a] ** 6
        chosen = np.zeros(measures.shape, bool)
        for g in range(len(truth)):
            best = np.argsort(-measures[g])[:10]
            chosen[g, best] = measures[g, best] > 0
        for a in np.flatnonzero(chosen.sum(0) > 1):
            chosen[:, a] = np.arange(len(truth)) == overlaps[:, a].argmax()
        wanted = np.zeros_like(probability)
        for g, a in zip(*np.nonzero(chosen), strict=True):
            scale = (overlaps[g] * chosen[g]).max() / ((measures[g] * chosen[g]).max() + 1e-9)
            weight = measures[g, a] * scale
            wanted[a, int(truth[g][4])] = weight
            x, y, s = places[a]
            box = truth[g][:4] / s
            target = np.clip([x / s - box[0], y / s - box[1], box[2] - x / s, box[3] - y / s], 0, 14.99)
            low = np.floor(target).astype(int)
            near = [-np.log(shares[a, k, low[k]]) * (low[k] + 1 - target[k]) for k in range(4)]
            far = [-np.log(shares[a, k, low[k] + 1]) * (target[k] - low[k]) for k in range(4)]
            total += weight * (7.5 * (1 - ciou(truth[g], boxes[a])) + 1.5 * (np.sum(near) + np.sum(far)) / 4)
        wanted_sum += wanted.sum()
        classes -= (wanted * np.log(probability) + (1 - wanted) * np.log(1 - probability)).sum()
    return len(sides) * (total + 0.5 * classes) / max(wanted_sum, 1)


def test_task_aligned_loss_is_that_of_loops(backend):
    rng = np.random.default_rng(0)
    count = len(list(cells()))
    outputs = [rng.normal(size=(3, n, count)).astype("float32") for n in (64, CLASSES)]
    loss = TaskAlignedLoss(image_size=(SIZE, SIZE))
    value = loss(tuple(map(backend.tensor, outputs)), backend.tensor(OBJECTS))
    assert float(labdl.to_numpy(value)) == pytest.approx(task_aligned_by_loops(*outputs, OBJECTS), rel=5e-5)


DETECTORS = {
    "ssd300_vgg16": SSDLoss(),
    "retinanet_resnet18_fpn": RetinaNetLoss(),
    "yolov8n": TaskAlignedLoss(image_size=(SIZE, SIZE)),
}


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_learns_objects_with_its_loss(name, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0)
    images = np.random.default_rng(0).normal(size=(3, 3, SIZE, SIZE)).astype("float32")
    trainer = Trainer(model, loss=DETECTORS[name], optimizer=Adam(0.003), backend=backend.name, seed=0)
    losses = [trainer.train_one_batch(images, OBJECTS)["loss"] for _ in range(8)]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", DETECTORS)
def test_images_without_objects_have_a_finite_loss_and_gradient(name, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0).train()
    x = backend.tensor(np.zeros((2, 3, SIZE, SIZE), "float32"))
    parameters = [p.value for p in model.parameters() if p.trainable]
    for objects in (np.zeros((2, 0, 5), "float32"), np.full((2, 3, 5), -1, "float32"), OBJECTS[1:, 1:]):
        target = backend.tensor(objects)
        loss, gradients = backend.gradients(lambda *_: DETECTORS[name](model(x), target), parameters)  # noqa: B023
        assert np.isfinite(labdl.to_numpy(loss))
        assert all(np.isfinite(labdl.to_numpy(ops.sum(gradient))) for gradient in gradients)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("loss", DETECTORS.values())
def test_targets_and_outputs_of_other_forms_are_refused(loss, backend):
    outputs = tuple(map(backend.tensor, raw_outputs()))
    with pytest.raises(ModelError, match="wants the"):
        loss(outputs[0], backend.tensor(OBJECTS))
    with pytest.raises(ModelError, match=r"wants objects \(N, objects, 5\)|give it the image_size"):
        loss(outputs, backend.tensor(OBJECTS[:, 0]))
