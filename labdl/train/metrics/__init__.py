"""Metrics on NumPy arrays: exact over any split into batches, known to the trainer by their names in `METRICS`.

Each file of the folder is imported, in alphabetical order.
"""

from importlib import import_module
from pathlib import Path

from labdl.train.metrics.classification import (
    F1,
    Accuracy,
    BalancedAccuracy,
    CohenKappa,
    ConfusionMatrix,
    FBeta,
    HammingLoss,
    Jaccard,
    MatthewsCorrelation,
    Precision,
    Recall,
    Specificity,
    TopKAccuracy,
)
from labdl.train.metrics.detection import BoxRecall, MeanAveragePrecision
from labdl.train.metrics.keypoints import PCK, NormalizedMeanError, ObjectKeypointSimilarity
from labdl.train.metrics.metric import METRICS, Metric, metric
from labdl.train.metrics.ranking import ROCAUC, AveragePrecision, LogLoss
from labdl.train.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    PearsonCorrelation,
    RootMeanSquaredError,
    SpearmanCorrelation,
)
from labdl.train.metrics.segmentation import Dice, MeanIoU, PixelAccuracy
from labdl.train.metrics.signals import PSNR, SSIM, SignalToNoise
from labdl.train.metrics.text import (
    BLEU,
    CharacterErrorRate,
    EditDistance,
    ExactMatch,
    Perplexity,
    RougeL,
    WordErrorRate,
)

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem != "__init__":
        import_module(f"labdl.train.metrics.{_file.stem}")

__all__ = [
    "BLEU",
    "F1",
    "METRICS",
    "PCK",
    "PSNR",
    "R2",
    "ROCAUC",
    "SSIM",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "BoxRecall",
    "CharacterErrorRate",
    "CohenKappa",
    "ConfusionMatrix",
    "Dice",
    "EditDistance",
    "ExactMatch",
    "FBeta",
    "HammingLoss",
    "Jaccard",
    "LogLoss",
    "MatthewsCorrelation",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanAveragePrecision",
    "MeanIoU",
    "MeanSquaredError",
    "Metric",
    "NormalizedMeanError",
    "ObjectKeypointSimilarity",
    "PearsonCorrelation",
    "Perplexity",
    "PixelAccuracy",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "RougeL",
    "SignalToNoise",
    "SpearmanCorrelation",
    "Specificity",
    "TopKAccuracy",
    "WordErrorRate",
    "metric",
]
