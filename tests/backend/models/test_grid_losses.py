"""Losses of YOLOv5, YOLOv6 and YOLOv7 on one backend, against loops over objects, anchors and cells in NumPy."""

import numpy as np
import pytest
from tests.backend.models.test_detection_losses import CLASSES, OBJECTS, SIZE, cells, ciou, iou, real

import labdl
from labdl import ops
from labdl.errors import ModelError
from labdl.models.vision.anchor_head import ANCHORS
from labdl.models.vision.detection_losses import YOLOv5Loss, YOLOv6Loss, YOLOv7Loss
from labdl.models.zoo import ZOO
from labdl.train import Adam, Trainer

pytestmark = pytest.mark.sample(backends=1)

STRIDES = (8, 16, 32)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, "float64")))


def entropy(logit, wanted):
    p = sigmoid(logit)
    return -(wanted * np.log(p) + (1 - wanted) * np.log(1 - p))


def maps():
    rng = np.random.default_rng(0)
    sizes = [SIZE // stride for stride in STRIDES]
    return [rng.normal(size=(3, 3, n, n, 5 + CLASSES)).astype("float32") for n in sizes]


def candidates_of(truth, raw, image):
    """For each object (map, anchor, row, column, raw values, box) of the cells that may predict it; boxes in pixels."""
    for o in truth:
        wide, high = o[2:4] - o[:2]
        own = []
        for at, stride in enumerate(STRIDES):
            x, y, count = (o[0] + o[2]) / 2 / stride, (o[1] + o[3]) / 2 / stride, SIZE // stride
            near = [(0, 0)]
            near += [(-1, 0)] if x % 1 < 0.5 and x > 1 else []
            near += [(0, -1)] if y % 1 < 0.5 and y > 1 else []
            near += [(1, 0)] if 0 < (count - x) % 1 < 0.5 and count - x > 1 else []
            near += [(0, 1)] if 0 < (count - y) % 1 < 0.5 and count - y > 1 else []
            for a, (w, h) in enumerate(ANCHORS[at]):
                if max(wide / w, w / wide, high / h, h / high) >= 4:
                    continue
                for dx, dy in near:
                    column, row = int(x) + dx, int(y) + dy
                    value = raw[at][image, a, row, column].astype("float64")
                    s = sigmoid(value)
                    cx, cy = (s[0] * 2 - 0.5 + column) * stride, (s[1] * 2 - 0.5 + row) * stride
                    bw, bh = (2 * s[2]) ** 2 * w, (2 * s[3]) ** 2 * h
                    box = np.array([cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2])
                    own.append((at, a, row, column, value, box))
        yield o, own


def cheapest(pairs):
    """Of pairs of an object and its candidates, those that the assignment of YOLOv7 chooses."""
    best = {}
    for number, (o, own) in enumerate(pairs):
        kind = np.arange(CLASSES) == o[4]
        overlaps = [iou(o, one[5]) for one in own]
        costs = []
        for one, overlap in zip(own, overlaps, strict=True):
            p = np.sqrt(sigmoid(one[4][4]) * sigmoid(one[4][5:]))
            costs.append(-np.log(np.where(kind, p, 1 - p)).sum() - 3 * np.log(overlap + 1e-8))
        count = max(int(sum(sorted(overlaps)[::-1][:10])), 1)
        for place in np.argsort(costs)[:count]:
            if costs[place] < best.get(own[place][:4], (np.inf,))[0]:
                best[own[place][:4]] = costs[place], number, own[place]
    return [(o, [one for _, n, one in best.values() if n == number]) for number, (o, _) in enumerate(pairs)]


def grid_by_loops(raw, objects, weights, select):
    of_boxes, of_classes = [[] for _ in STRIDES], [[] for _ in STRIDES]
    wanted = [np.zeros(x.shape[:-1]) for x in raw]
    for image, truth in enumerate(map(real, objects)):
        for o, own in select(list(candidates_of(truth, raw, image))):
            for at, a, row, column, value, box in own:
                measure = ciou(box, o)
                of_boxes[at].append(1 - measure)
                of_classes[at].append(entropy(value[5:], np.arange(CLASSES) == o[4]).mean())
                place = image, a, row, column
                wanted[at][place] = max(wanted[at][place], measure)
    box, objectness, classes = weights
    total = sum(box * np.mean(part) for part in of_boxes if part)
    total += sum(classes * CLASSES / 80 * np.mean(part) for part in of_classes if part)
    for x, level, balance in zip(raw, wanted, (4, 1, 0.4), strict=True):
        total += objectness * (SIZE / 640) ** 2 * balance * entropy(x[..., 4], level).mean()
    return total * len(objects)


@pytest.mark.parametrize(
    ("loss", "weights", "select"),
    [
        (YOLOv5Loss(), (0.05, 1.0, 0.5), lambda pairs: pairs),
        (YOLOv7Loss(anchors=ANCHORS), (0.05, 0.7, 0.3), cheapest),
    ],
)
def test_losses_of_anchors_in_cells_are_those_of_loops(loss, weights, select, backend):
    raw = maps()
    value = loss(tuple(map(backend.tensor, raw)), backend.tensor(OBJECTS))
    assert float(labdl.to_numpy(value)) == pytest.approx(grid_by_loops(raw, OBJECTS, weights, select), rel=2e-5)


def siou(a, b):
    """Gevorgyan's loss by its angle."""
    gap = [(b[k] + b[2 + k] - a[k] - a[2 + k]) / 2 for k in range(2)]
    hull = [max(a[2 + k], b[2 + k]) - min(a[k], b[k]) for k in range(2)]
    sides, others = ([box[2 + k] - box[k] for k in range(2)] for box in (a, b))
    angle = np.arcsin(abs(gap[1]) / np.hypot(*gap))
    weight = 2 - (1 - 2 * np.sin(angle - np.pi / 4) ** 2)
    distance = sum(1 - np.exp(-weight * (g / h) ** 2) for g, h in zip(gap, hull, strict=True))
    shape = sum((1 - np.exp(-abs(s - t) / max(s, t))) ** 4 for s, t in zip(sides, others, strict=True))
    return 1 - iou(a, b) + (distance + shape) / 2


def giou(a, b):
    hull = np.prod([max(a[2 + k], b[2 + k]) - min(a[k], b[k]) for k in range(2)])
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    share = iou(a, b)
    union = sum(areas) / (1 + share)
    return 1 - share + (hull - union) / hull


def varifocal_by_loops(distances, logits, objects, box_loss):
    places, of_boxes, of_classes, total = list(cells()), 0.0, 0.0, 0.0
    for distance, logit, truth in zip(distances, logits, map(real, objects), strict=True):
        p = sigmoid(logit.T)
        boxes = [
            (x - d[0] * s, y - d[1] * s, x + d[2] * s, y + d[3] * s)
            for (x, y, s), d in zip(places, distance.T.astype("float64"), strict=True)
        ]
        overlaps, measures = np.zeros((2, len(truth), len(places)))
        for g, o in enumerate(truth):
            for a, (x, y, _) in enumerate(places):
                if o[0] < x < o[2] and o[1] < y < o[3]:
                    overlaps[g, a] = iou(o, boxes[a])
                    measures[g, a] = p[a, int(o[4])] * overlaps[g, a] ** 6
        chosen = np.zeros(measures.shape, bool)
        for g in range(len(truth)):
            best = np.argsort(-measures[g])[:13]
            chosen[g, best] = measures[g, best] > 0
        for a in np.flatnonzero(chosen.sum(0) > 1):
            chosen[:, a] = np.arange(len(truth)) == overlaps[:, a].argmax()
        wanted = np.zeros_like(p)
        for g, a in zip(*np.nonzero(chosen), strict=True):
            weight = measures[g, a] * (overlaps[g] * chosen[g]).max() / ((measures[g] * chosen[g]).max() + 1e-9)
            wanted[a, int(truth[g][4])] = weight
            of_boxes += weight * box_loss(boxes[a], truth[g][:4])
        total += wanted.sum()
        of_classes += (entropy(logit.T, wanted) * np.where(wanted > 0, wanted, 0.75 * p**2)).sum()
    return (of_classes + 2.5 * of_boxes) / max(total, 1)


@pytest.mark.parametrize(("name", "box_loss"), [("siou", siou), ("giou", giou)])
def test_the_loss_of_yolov6_is_that_of_loops(name, box_loss, backend):
    rng = np.random.default_rng(0)
    count = len(list(cells()))
    distances = rng.uniform(0.2, 3, (3, 4, count)).astype("float32")
    logits = rng.normal(size=(3, CLASSES, count)).astype("float32")
    loss = YOLOv6Loss(image_size=(SIZE, SIZE), box_loss=name)
    value = loss((backend.tensor(distances), backend.tensor(logits)), backend.tensor(OBJECTS))
    expected = varifocal_by_loops(distances, logits, OBJECTS, box_loss)
    assert float(labdl.to_numpy(value)) == pytest.approx(expected, rel=5e-5)


DETECTORS = {
    "yolov5n": YOLOv5Loss(),
    "yolov6n": YOLOv6Loss(image_size=(SIZE, SIZE)),
    "yolov7": YOLOv7Loss(),
    "yolov7_tiny": YOLOv7Loss(anchors=ANCHORS),
}


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_learns_objects_with_its_loss(name, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0)
    images = np.random.default_rng(0).normal(size=(3, 3, SIZE, SIZE)).astype("float32")
    trainer = Trainer(model, loss=DETECTORS[name], optimizer=Adam(0.003), backend=backend.name, compiled=False)
    losses = [trainer.train_one_batch(images, OBJECTS)["loss"] for _ in range(12)]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.95 * losses[0]


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", DETECTORS)
def test_any_number_of_objects_has_a_finite_loss_and_gradient(name, backend):
    model = ZOO[name].small()[0].build((None, 3, SIZE, SIZE), backend=backend.name, seed=0).train()
    # of an image of one color the gradients of many batch normalizations in a row would be infinite
    x = backend.tensor(np.random.default_rng(0).normal(size=(2, 3, SIZE, SIZE)).astype("float32"))
    parameters = [p.value for p in model.parameters() if p.trainable]
    many = np.tile(OBJECTS[:1], (2, 100, 1))
    for objects in (np.zeros((2, 0, 5), "float32"), np.full((2, 3, 5), -1, "float32"), OBJECTS[1:, 1:], many):
        target = backend.tensor(objects)
        loss, gradients = backend.gradients(lambda *_: DETECTORS[name](model(x), target), parameters)  # noqa: B023
        assert np.isfinite(labdl.to_numpy(loss))
        assert all(np.isfinite(labdl.to_numpy(ops.sum(g))) for g in gradients if g is not None)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("loss", [YOLOv5Loss(), YOLOv7Loss(), YOLOv6Loss()])
def test_targets_and_outputs_of_other_forms_are_refused(loss, backend):
    outputs = tuple(map(backend.tensor, maps()))
    with pytest.raises(ModelError, match="wants the"):
        loss(outputs[0], backend.tensor(OBJECTS))
    if not isinstance(loss, YOLOv6Loss):
        with pytest.raises(ModelError, match=r"wants objects \(N, objects, 5\)"):
            loss(outputs, backend.tensor(OBJECTS[:, 0]))
        with pytest.raises(ModelError, match="anchors for a map of 2"):
            loss(tuple(x[:, :2] for x in outputs), backend.tensor(OBJECTS))
