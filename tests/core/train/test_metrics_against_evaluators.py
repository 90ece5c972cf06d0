"""ROUGE and chrF against public evaluators, panoptic quality against its definition and published values."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ModelError
from labdl.train import metrics as M

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "oracles" / "evaluators"
ROUGE = json.loads((FOLDER / "rouge.json").read_text(encoding="utf-8"))
SETS = json.loads((FOLDER / "sacrebleu.json").read_text(encoding="utf-8"))["sets"]
TAGGED = json.loads((FOLDER / "seqeval.json").read_text(encoding="utf-8"))["sets"]
SEVERAL = json.loads((FOLDER / "references.json").read_text(encoding="utf-8"))["sets"]


@pytest.mark.parametrize(("entry", "key"), [(M.Rouge1, "rouge1"), (M.Rouge2, "rouge2"), (M.RougeL, "rougeL")])
@pytest.mark.parametrize("at", range(3), ids=["precision", "recall", "f1"])
def test_rouge_equals_rouge_score(entry, key, at):
    measure = ["precision", "recall", "f1"][at]
    metric = entry(measure=measure, tokenizer="alphanumeric")
    expected = [pair["expected"][key][at] for pair in ROUGE["pairs"]]
    assert len(set(expected)) > 10
    for pair, value in zip(ROUGE["pairs"], expected, strict=True):
        assert metric([pair["prediction"]], [pair["target"]]) == pytest.approx(value, abs=1e-9)
    sides = ([pair[side] for pair in ROUGE["pairs"]] for side in ("prediction", "target"))
    assert metric(*sides) == pytest.approx(np.mean(expected), abs=1e-9)


def test_rouge_by_hand():
    """Lin (2004): three of the four words, one of the three pairs of neighbors."""
    said, true = ["police kill the gunman"], ["police killed the gunman"]
    assert M.Rouge1()(said, true) == pytest.approx(3 / 4)
    assert M.Rouge2()(said, true) == pytest.approx(1 / 3)
    assert M.Rouge1(measure="recall")(["the"], ["the cat"]) == 0.5
    assert M.Rouge1(measure="precision")(["the the cat"], ["the cat"]) == pytest.approx(2 / 3)
    assert M.Rouge2()(["the"], ["the"]) == 0


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        ("chrf", {}),
        ("chrf_plus_plus", {"word_order": 2}),
        ("chrf_beta1_order4", {"beta": 1.0, "char_order": 4}),
        ("chrf_whitespace", {"whitespace": True}),
    ],
)
def test_chrf_equals_sacrebleu(key, chosen):
    metric = M.CHRF(**chosen)
    for each in SETS:
        references = [list(texts) for texts in zip(*each["references"], strict=True)]
        assert 100 * metric(each["hypotheses"], references) == pytest.approx(each["expected"][key], abs=1e-9)
        if len(each["references"]) == 1:
            assert metric(each["hypotheses"], each["references"][0]) == metric(each["hypotheses"], references)


def test_chrf_by_hand():
    assert M.CHRF(char_order=1)(["abcc"], ["abcd"]) == pytest.approx(3 / 4)
    assert M.CHRF()(["a b"], ["ab"]) == 1
    assert M.CHRF(whitespace=True)(["a b"], ["ab"]) < 1
    assert M.CHRF()(["AB"], ["ab"]) == 0
    assert M.CHRF(lowercase=True)(["AB"], ["ab"]) == 1
    assert M.CHRF()(["", "xyz"], ["abc", "abc"]) == 0
    # words "hi" and "!": one of two words and no pair is shared, and all but one of the characters
    assert M.CHRF(char_order=1, word_order=1)(["hi!"], ["hi?"]) == pytest.approx((2 / 3 + 1 / 2) / 2)


# -- several references


def by_text(each):
    """The references of each text."""
    return [list(texts) for texts in zip(*each["references"], strict=True)]


@pytest.mark.parametrize(("key", "chosen"), [("none", {}), ("add_1", {"smooth": True}), ("order_2", {"n": 2})])
def test_bleu_of_several_references_equals_sacrebleu(key, chosen):
    metric = M.BLEU(**chosen)
    expected = [each["bleu"][key] for each in SEVERAL]
    assert any(value["sys_len"] < value["ref_len"] for value in expected)  # with a brevity penalty
    assert len({len(each["references"]) for each in SEVERAL}) > 1
    for each, value in zip(SEVERAL, expected, strict=True):
        assert 100 * metric(each["hypotheses"], by_text(each)) == pytest.approx(value["score"], abs=1e-9)
        *_, lengths = metric.statistics(each["hypotheses"], by_text(each))
        assert lengths.tolist() == [value["sys_len"], value["ref_len"]]


@pytest.mark.parametrize(("entry", "key"), [(M.Rouge1, "rouge1"), (M.Rouge2, "rouge2"), (M.RougeL, "rougeL")])
@pytest.mark.parametrize("at", range(3), ids=["precision", "recall", "f1"])
def test_rouge_of_several_references_equals_rouge_score(entry, key, at):
    metric = entry(measure=["precision", "recall", "f1"][at], tokenizer="alphanumeric")
    for each in SEVERAL:
        expected = np.mean([row[at] for row in each["rouge"][key]])
        assert metric(each["hypotheses"], by_text(each)) == pytest.approx(expected, abs=1e-9)


def test_forms_of_several_references():
    texts, references = ["a b c", "b b"], [["a b d", "a b c a"], ["b", "c c"]]
    numbers = {"a": 0, "b": 1, "c": 2, "d": 3}
    tokens = [text.split() for text in texts]
    rows = np.array([[0, 1, 2], [1, 1, -1]])
    padded = np.full((2, 3, 4), -1)
    for i, each in enumerate(references):
        for j, one in enumerate(each):
            padded[i, j, : len(one.split())] = [numbers[word] for word in one.split()]
    for metric in (M.BLEU(n=2, smooth=True), M.Rouge1(), M.RougeL(), M.ExactMatch()):
        expected = metric(texts, references)
        assert metric(tokens, [[one.split() for one in each] for each in references]) == pytest.approx(expected)
        assert metric(rows, padded) == pytest.approx(expected)
        assert metric(rows, list(padded)) == pytest.approx(expected)
        assert metric(texts, [["x", "a b c"], ["b b"]]) == 1
    assert M.ExactMatch()(texts, [["x", "a  b c"], ["b"]]) == 0.5
    with pytest.raises(ModelError, match="WordErrorRate takes one reference for each text, received a list of 2"):
        M.WordErrorRate()(texts, references)
    with pytest.raises(ModelError, match="BLEU wants a reference for each text"):
        M.BLEU()(texts, [["a"], []])


# -- panoptic quality


def brute_force(predicted, true, stuff, void):
    """Kirillov et al. (2019), segment by segment: sums of IoUs, matches, and missed and wrong segments of each class."""
    found = {}
    for one, other in zip(predicted.reshape(len(predicted), -1, 2), true.reshape(len(true), -1, 2), strict=True):
        ours, theirs = (
            {
                key: {i for i, (c, s) in enumerate(side.tolist()) if (c, 0 if c in stuff else s) == key}
                for key in {(c, 0 if c in stuff else s) for c, s in side.tolist()}
            }
            for side in (one, other)
        )
        empty = {i for i, (c, _) in enumerate(other.tolist()) if c == void}
        matched = set()
        for (c, _), pixels in theirs.items():
            if c == void:
                continue
            row = found.setdefault(c, [0.0, 0, 0, 0])
            best = None
            for key, own in ours.items():
                union = (own - empty) | pixels
                if key[0] == c and len(own & pixels) / len(union) > 0.5:
                    best = key
                    row[0] += len(own & pixels) / len(union)
            row[1 if best else 3] += 1
            matched.add(best)
        for key, own in ours.items():
            if key[0] != void and key not in matched and len(own & empty) / len(own) <= 0.5:
                found.setdefault(key[0], [0.0, 0, 0, 0])[2] += 1
    return found


def panoptic(found):
    values = [
        total / (hit + 0.5 * wrong + 0.5 * missed)
        for total, hit, wrong, missed in found.values()
        if hit + wrong + missed
    ]
    return float(np.mean(values)) if values else 0.0


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(), (1,), (0, 2)]), st.sampled_from([-1, 3]))
def test_panoptic_quality_matches_its_definition(seed, stuff, void):
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(1, 4)), 3, 4)
    true = np.stack([rng.choice([0, 1, 2, void], size), rng.integers(0, 2, size)], -1)
    changed = rng.random(size) < 0.25
    other = np.stack([rng.choice([0, 1, 2, void], size), rng.integers(0, 3, size)], -1)
    predicted = np.where(changed[..., None], other, true)
    found = brute_force(predicted, true, stuff, void)
    metric = M.PanopticQuality(stuff=stuff, ignore_index=void)
    assert metric(predicted, true) == pytest.approx(panoptic(found))
    for image in range(size[0]):
        metric.update(predicted[image : image + 1], true[image : image + 1])
    assert metric.compute() == pytest.approx(panoptic(found))
    for kind, each in (
        ("segmentation", lambda total, hit, wrong, missed: total / hit if hit else 0.0),
        ("recognition", lambda total, hit, wrong, missed: 2 * hit / (2 * hit + wrong + missed)),
    ):
        values = M.PanopticQuality(stuff=stuff, ignore_index=void, quality=kind, average="none")(predicted, true)
        for c, row in found.items():
            if sum(row[1:]):
                assert values[c] == pytest.approx(each(*row))
        absent = [c for c in range(len(values)) if c not in found or not sum(found[c][1:])]
        assert np.isnan(values[absent]).all()


def test_panoptic_quality_of_a_published_example():
    """The example in the documentation of torchmetrics: things 0 and 1, stuff 6 and 7."""
    predicted = [
        [[6, 0], [0, 0], [6, 0], [6, 0]],
        [[0, 0], [0, 0], [6, 0], [0, 1]],
        [[0, 0], [0, 0], [6, 0], [0, 1]],
        [[0, 0], [7, 0], [6, 0], [1, 0]],
        [[0, 0], [7, 0], [7, 0], [7, 0]],
    ]
    true = [
        [[6, 0], [0, 1], [6, 0], [0, 1]],
        [[0, 1], [0, 1], [6, 0], [0, 1]],
        [[0, 1], [0, 1], [6, 0], [1, 0]],
        [[0, 1], [7, 0], [1, 0], [1, 0]],
        [[0, 1], [7, 0], [7, 0], [7, 0]],
    ]
    metric = M.PanopticQuality(stuff=(6, 7))
    assert metric(np.array([predicted]), np.array([true])) == pytest.approx(0.5463, abs=5e-5)


# -- detections of the COCO challenge


def mask_of(runs):
    values = np.arange(len(runs["counts"])) % 2 == 1
    return np.repeat(values, runs["counts"]).reshape(runs["size"], order="F")


def coco_arrays(each, kind):
    """Detections and objects of a recorded set as arrays, padded with rows of class -1."""
    images = sorted(map(int, each["sizes"]))
    sides = []
    for rows, width in ((each["detections"], 6), (each["objects"], 7)):
        by_image = [[row for row in rows if row["image_id"] == i] for i in images]
        most = max(map(len, by_image))
        boxes = np.zeros((len(images), most, width))
        boxes[..., 5 if width == 6 else 4] = -1
        masks = [np.zeros((most, *each["sizes"][str(i)]), bool) for i in images]
        for n, own in enumerate(by_image):
            for k, row in enumerate(own):
                x, y, wide, high = row.get("bbox", (0, 0, 0, 0))
                names = ("score", "category_id") if width == 6 else ("category_id", "iscrowd", "area")
                boxes[n, k] = [x, y, x + wide, y + high, *(row[name] for name in names)]
                if kind == "segm":
                    masks[n][k] = mask_of(row["mask"])
        sides.append({"boxes": boxes, "masks": masks} if kind == "segm" else boxes)
    return sides


COCO = [
    (M.MeanAveragePrecision, "AP", {}),
    (M.MeanAveragePrecision, "AP50", {"iou_thresholds": (0.5,)}),
    (M.MeanAveragePrecision, "AP75", {"iou_thresholds": (0.75,)}),
    *((M.MeanAveragePrecision, f"AP_{area}", {"area": area}) for area in ("small", "medium", "large")),
    *((M.BoxRecall, f"AR_{limit}", {"max_detections": limit}) for limit in (1, 10, 100)),
    *((M.BoxRecall, f"AR_{area}", {"area": area}) for area in ("small", "medium", "large")),
]


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("kind", ["bbox", "segm"])
@pytest.mark.parametrize(("entry", "key", "chosen"), COCO, ids=[key for _, key, _ in COCO])
def test_detections_equal_pycocotools(kind, entry, key, chosen):
    sets = json.loads((FOLDER / f"coco_{kind}.json").read_text(encoding="utf-8"))["sets"]
    assert all(any(row["iscrowd"] for row in each["objects"]) for each in sets)
    metric = entry(masks=kind == "segm", **chosen)
    for each in sets:
        output, target = coco_arrays(each, kind)
        value = metric(output, target)
        expected = each["stats"][key]
        assert np.isnan(value) if expected == -1 else value == pytest.approx(expected, abs=1e-9)


def coco_keypoints(each):
    """Detections and objects with keypoints of a recorded set as arrays, padded with rows of class -1."""
    images = [image["id"] for image in each["truth"]["images"]]
    sides = []
    for rows, width in ((each["detections"], 6), (each["truth"]["annotations"], 7)):
        by_image = [[row for row in rows if row["image_id"] == i] for i in images]
        most = max(map(len, by_image))
        boxes, points = np.zeros((len(images), most, width)), np.zeros((len(images), most, 17, 3))
        boxes[..., 5 if width == 6 else 4] = -1
        for n, own in enumerate(by_image):
            for k, row in enumerate(own):
                x, y, wide, high = row.get("bbox", (0, 0, 0, 0))
                names = ("score", "category_id") if width == 6 else ("category_id", "iscrowd", "area")
                boxes[n, k] = [x, y, x + wide, y + high, *(row[name] for name in names)]
                points[n, k] = np.reshape(row["keypoints"], (17, 3))
        sides.append({"boxes": boxes, "keypoints": points})
    return sides


PARTS = {
    "": {},
    "50": {"iou_thresholds": (0.5,)},
    "75": {"iou_thresholds": (0.75,)},
    "_medium": {"area": "medium"},
    "_large": {"area": "large"},
}


@pytest.mark.parametrize(("entry", "short"), [(M.MeanAveragePrecision, "AP"), (M.BoxRecall, "AR")])
@pytest.mark.parametrize("part", PARTS)
def test_keypoints_equal_pycocotools(entry, short, part):
    key, chosen = short + part, PARTS[part]
    metric = entry(keypoints=True, max_detections=20, **chosen)
    for each in json.loads((FOLDER / "coco_keypoints.json").read_text(encoding="utf-8"))["sets"]:
        assert metric(*coco_keypoints(each)) == pytest.approx(each["stats"][key], abs=1e-9)


def test_keypoints_that_do_not_fit():
    boxes, points = np.zeros((1, 2, 6)), np.zeros((1, 2, 17, 2))
    objects, true = np.zeros((1, 3, 5)), np.zeros((1, 3, 17, 3))
    good = {"boxes": boxes, "keypoints": points}
    with pytest.raises(ModelError, match="wants a dictionary"):
        M.MeanAveragePrecision(keypoints=True)(boxes, objects)
    for other in (true[..., :2], true[:, :2], true[:, :, :5]):
        with pytest.raises(ModelError, match="a sigma for each of the points, of which there are 17"):
            M.MeanAveragePrecision(keypoints=True)(good, {"boxes": objects, "keypoints": other})
    with pytest.raises(ModelError, match="2 boxes a picture and keypoints of 1"):
        M.BoxRecall(keypoints=True)({**good, "keypoints": points[:, :1]}, {"boxes": objects, "keypoints": true})
    with pytest.raises(ModelError, match="masks or keypoints"):
        M.BoxRecall(keypoints=True, masks=True)(good, {"boxes": objects, "keypoints": true})


def test_masks_and_crowds_by_hand():
    """A crowd neither counts as an object nor makes detections wrong, however many are in it."""
    masks = np.zeros((1, 3, 4, 4), bool)
    masks[0, 0, :2], masks[0, 1, 2:], masks[0, 2, 2:, :2] = True, True, True  # object, crowd, part of the crowd
    boxes = np.zeros((1, 3, 6))
    boxes[0, :, 4] = 0.5, 0.9, 0.8
    objects = np.array([[[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]])
    output, target = {"boxes": boxes, "masks": masks}, {"boxes": objects, "masks": masks[:, :2]}
    assert M.MeanAveragePrecision(masks=True)(output, target) == M.BoxRecall(masks=True)(output, target) == 1
    plain = {**target, "boxes": objects[..., :5]}
    assert M.MeanAveragePrecision(masks=True)(output, plain) == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert np.isnan(M.MeanAveragePrecision(masks=True, area="large")(output, target))
    with pytest.raises(ModelError, match=r"wants a dictionary .*, received ndarray"):
        M.MeanAveragePrecision(masks=True)(boxes, objects)
    with pytest.raises(
        ModelError, match=r"wants masks \(boxes, height, width\) of one size for the 3 detections and 2"
    ):
        M.BoxRecall(masks=True)(output, {**target, "masks": masks})


@pytest.mark.parametrize("at", range(len(TAGGED)))
def test_entities_equal_seqeval(at):
    each = TAGGED[at]
    names = sorted({tag for row in (*each["true"], *each["predicted"]) for tag in row})
    length = max(map(len, each["true"])) + 2
    sides = [
        np.array([[names.index(tag) for tag in row] + [-100] * (length - len(row)) for row in each[side]])
        for side in ("predicted", "true")
    ]
    sides[0][sides[1] == -100] = 0  # a model predicts something for padding too
    metric = M.EntityF1(names=tuple(names))
    assert metric(*sides) == pytest.approx(each["f1"], abs=1e-12)
    scores = np.eye(len(names))[sides[0]]
    assert metric(scores, sides[1]) == pytest.approx(each["f1"], abs=1e-12)


def test_answers_by_hand():
    """Examples of the evaluation of SQuAD: case, punctuation and articles do not count, the best reference does."""
    answers, references = (
        ["The Wind!", "", "the old town hall", "sea"],
        [["wind"], [], ["town", "old town"], "the sea, sea"],
    )
    assert M.SquadExactMatch()(answers, references) == 0.5
    assert M.SquadF1()(answers, references) == pytest.approx((1 + 1 + 4 / 5 + 2 / 3) / 4)
    assert M.SquadF1()([""], [["wind"]]) == M.SquadF1()(["wind"], [[]]) == 0
    with pytest.raises(ModelError, match="SquadF1 wants as many answers as targets"):
        M.SquadF1()(["a"], [])


def test_entities_without_names_and_wrong_classes():
    assert M.EntityF1()(np.array([[0, 1, 1, 2]]), np.array([[0, 1, 1, 0]])) == pytest.approx(2 / 3)
    assert M.EntityF1()(np.array([[0]]), np.array([[0]])) == 0
    with pytest.raises(ModelError, match="has 1 names, received the class 1"):
        M.EntityF1(names=("O",))(np.array([[1]]), np.array([[0]]))
    with pytest.raises(ModelError, match="wants scores"):
        M.EntityF1()(np.array([1]), np.array([1]))
