"""What every metric is tried with: outputs and targets of each kind, and settings beside its own."""

import numpy as np
import scipy.special

from labdl.train.metrics import METRICS

N = 24
rng = np.random.default_rng(0)
SCORES, CLASSES = rng.normal(size=(N, 4)), rng.integers(0, 4, N)
SOFT = scipy.special.softmax(SCORES, -1)
YES, IS = rng.normal(size=N), rng.integers(0, 2, N)
LABEL_SCORES, LABELS = rng.normal(size=(N, 3)), rng.integers(0, 2, (N, 3))
REAL, TRUE = rng.normal(size=(2, N, 2))
TRUE = TRUE + 0.7 * REAL
PIXELS, MASKS = rng.normal(size=(N, 3, 5, 4)), rng.integers(0, 3, (N, 5, 4))
CLEAN = rng.normal(size=(N, 30))
NOISY = 2 * CLEAN + 0.3 * rng.normal(size=(N, 30))
IMAGES = rng.uniform(size=(N, 2, 13, 14))
BLURRED = np.clip(IMAGES + 0.1 * rng.normal(size=IMAGES.shape), 0, 1)
POINTS = rng.uniform(0, 100, (N, 17, 2))
SEEN = np.concatenate([POINTS, rng.integers(0, 2, (N, 17, 1))], -1)
GUESSED = POINTS + 6 * rng.normal(size=POINTS.shape)
TOKENS, TRUE_TOKENS = rng.integers(0, 4, (2, N, 9))
WORDS = ["a", "b", "c", "d"]
TEXTS, TRUE_TEXTS = ([" ".join(WORDS[t] for t in row) for row in side] for side in (TOKENS, TRUE_TOKENS))


RELEVANCE = rng.integers(-1, 4, (N, 4))
HEARD = [" ".join(WORDS[t] * (t + 1) + "." for t in row) for row in TOKENS]
TRUE_HEARD = [" ".join(WORDS[t] * (t + 1) + "." for t in row) for row in TRUE_TOKENS]


def panoptic_maps():
    """Rectangles of three classes with a segment number each, and predictions that move and rename some of them."""
    draws = np.random.default_rng(4)
    maps = np.stack([np.tile(draws.integers(-1, 3, (N, 1, 1)), (1, 8, 9)), np.zeros((N, 8, 9), "int64")], -1)
    for i in range(N):
        for number in range(1, 5):
            top, left, high, wide = draws.integers(1, 6, 4)
            maps[i, top : top + high, left : left + wide] = draws.integers(-1, 3), number
    moved = np.roll(maps, draws.integers(0, 2), axis=2)
    changed = draws.random((N, 8, 9)) < 0.1
    return np.where(changed[..., None], np.roll(moved, 1, axis=1), moved), maps


PANOPTIC, TRUE_PANOPTIC = panoptic_maps()


def detections():
    """Boxes near objects and elsewhere, of three classes, in images of up to 6; rows of class -1 fill up."""
    draws = np.random.default_rng(3)
    low = draws.uniform(0, 50, (N, 6, 2))
    objects = np.concatenate([low, low + draws.uniform(5, 30, (N, 6, 2)), draws.integers(-1, 3, (N, 6, 1))], -1)
    near = objects[:, draws.integers(0, 6, 10), :4] + draws.normal(size=(N, 10, 4)) * 2
    kinds, others = objects[:, draws.integers(0, 6, 10), 4:], draws.integers(-1, 3, (N, 10, 1))
    kinds = np.where(draws.random((N, 10, 1)) < 0.8, kinds, others)
    kinds = np.where(kinds < 0, draws.integers(-1, 3, kinds.shape), kinds)
    return np.concatenate([near, draws.random((N, 10, 1)), kinds], -1), objects


BOXES, OBJECTS = detections()

# for each metric inputs that it is tried with, and settings beside its own
INPUTS = {
    **{name: (SCORES, CLASSES) for name, cls in METRICS.items() if cls.task == "classification"},
    "perplexity": (SCORES, CLASSES),
    **{name: (REAL, TRUE) for name, cls in METRICS.items() if cls.task == "regression"},
    **dict.fromkeys(["mean_iou", "pixel_accuracy", "dice"], (np.moveaxis(PIXELS, 1, -1), MASKS)),
    **dict.fromkeys(["mean_average_precision", "box_recall"], (BOXES, OBJECTS)),
    **dict.fromkeys(["pck", "normalized_mean_error", "object_keypoint_similarity"], (GUESSED, SEEN)),
    **dict.fromkeys(
        [
            "bleu",
            "rouge1",
            "rouge2",
            "rouge_l",
            "word_error_rate",
            "character_error_rate",
            "edit_distance",
            "exact_match",
            "squad_f1",
            "squad_exact_match",
        ],
        (TEXTS, TRUE_TEXTS),
    ),
    "chrf": (HEARD, TRUE_HEARD),
    "entity_f1": (TOKENS, TRUE_TOKENS),
    "ndcg": (SCORES, RELEVANCE),
    "panoptic_quality": (PANOPTIC, TRUE_PANOPTIC),
    "signal_to_noise": (NOISY, CLEAN),
    "psnr": (BLURRED, IMAGES),
    "ssim": (BLURRED, IMAGES),
}
VARIANTS = {
    "top_k_accuracy": {"k": 2},
    "f_beta": {"beta": 0.5, "average": "weighted"},
    "precision": {"average": "none"},
    "recall": {"average": "micro"},
    "roc_auc": {"average": "weighted"},
    "r2": {"average": "none"},
    "mean_iou": {"ignore_index": 1},
    "dice": {"average": "none"},
    "bleu": {"n": 2, "smooth": True},
    "mean_average_precision": {"iou_thresholds": (0.5,), "max_detections": 2},
    "pck": {"pair": (0, 3)},
    "edit_distance": {"normalized": True},
    "signal_to_noise": {"scale_invariant": False},
    "log_loss": {"from_logits": False},
    "box_recall": {"max_detections": 1},
    "expected_calibration_error": {"bins": 4, "from_logits": True},
    "maximum_calibration_error": {"bins": 4},
    "roc_curve": {"drop_intermediate": False},
    "precision_recall_curve": {"drop_intermediate": True},
    "ndcg": {"k": 2, "gain": "exponential"},
    "mean_reciprocal_rank": {"k": 2},
    "rouge1": {"measure": "recall"},
    "rouge2": {"measure": "precision"},
    "rouge_l": {"tokenizer": "alphanumeric"},
    "chrf": {"char_order": 3, "word_order": 2, "beta": 1.0, "lowercase": True, "whitespace": True},
    "panoptic_quality": {"stuff": (1,), "average": "none"},
}


def made(name):
    """The metric with its defaults, and with other settings."""
    plain = METRICS[name]()
    return [plain, METRICS[name](**VARIANTS[name])] if name in VARIANTS else [plain]


def numbers_in(value):
    """All numbers of the value of a metric in one array: of a number, an array, a curve or several curves."""
    if isinstance(value, list | tuple):
        return np.concatenate([numbers_in(part) for part in value])
    return np.ravel(value)
