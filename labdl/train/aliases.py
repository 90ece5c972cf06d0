"""Short and other names of losses, metrics, settings and keywords beside the full ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ConfigError

LOSSES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "l1": "mean_absolute_error",
    "l1_loss": "mean_absolute_error",
    "mse_loss": "mean_squared_error",
    "msle": "mean_squared_logarithmic_error",
    "bce": "binary_cross_entropy",
    "bce_with_logits": "binary_cross_entropy",
    "ce": "cross_entropy",
    "kld": "kl_divergence",
}
_OF_KERAS = ": that of Keras takes probabilities; write 'cross_entropy' and leave the last softmax out"
LOSS_HINTS = {
    "binary_crossentropy": ": that of Keras takes probabilities, as loss=nn.BinaryCrossEntropyLoss(from_logits=False) does; "
    "'binary_cross_entropy' takes logits",
    "categorical_crossentropy": _OF_KERAS,
    "sparse_categorical_crossentropy": _OF_KERAS,
}  # names of losses that are not equal
METRICS = {
    "acc": "accuracy",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "rmse": "root_mean_squared_error",
    "mape": "mean_absolute_percentage_error",
    "auc": "roc_auc",
    "mrr": "mean_reciprocal_rank",
    "ece": "expected_calibration_error",
    "mce": "maximum_calibration_error",
    "pq": "panoptic_quality",
}
SETTINGS = {"lr": "learning_rate"}
TRAINING = {"validation_data": "validation"}


def full_names(settings: Mapping[str, Any], aliases: Mapping[str, str] = SETTINGS) -> dict[str, Any]:
    """Settings under their full names. Raises ConfigError for one that is given under both."""
    for other, name in aliases.items():
        if other in settings and name in settings:
            raise ConfigError(f"{other} is another name of {name}: give one of them")
    return {aliases.get(name, name): value for name, value in settings.items()}
