"""Short and other names of losses, metrics, settings and keywords beside the full ones."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from labdl import habits
from labdl.errors import ConfigError

Kind = TypeVar("Kind", bound=type)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

LOSSES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "l1": "mean_absolute_error",
    "l1_loss": "mean_absolute_error",
    "mse_loss": "mean_squared_error",
    "msle": "mean_squared_logarithmic_error",
    "bce": "binary_cross_entropy",
    "bce_with_logits": "binary_cross_entropy",
    "binary_cross_entropy_with_logits": "binary_cross_entropy",
    "ce": "cross_entropy",
    "softmax_cross_entropy": "cross_entropy",
    "kld": "kl_divergence",
    "kl_div": "kl_divergence",
    "logcosh": "log_cosh",
}
_OF_KERAS = ": that of Keras takes probabilities; write 'cross_entropy' and leave the last softmax out"
_OF_BINARY = (
    ": that of {framework} takes probabilities, as loss=nn.BinaryCrossEntropyLoss(from_logits=False) does; "
    "'binary_cross_entropy' takes logits"
)
_PERCENTAGE = ": write a function (output, target), such as the mean of ops.abs((target - output) / target)"
_KULLBACK = ": that of Keras takes probabilities; 'kl_divergence' takes the logarithm of the predicted ones"
LOSS_HINTS = {
    "binary_crossentropy": _OF_BINARY.format(framework="Keras"),
    "categorical_crossentropy": _OF_KERAS,
    "sparse_categorical_crossentropy": _OF_KERAS,
    "bce_loss": _OF_BINARY.format(framework="PyTorch"),
    "mape": _PERCENTAGE,
    "mean_absolute_percentage_error": _PERCENTAGE,
    "rmse": ": write 'mse', which has the same minimum, and metrics=['rmse']",
    "poisson": ": that of Keras takes rates, as loss=nn.PoissonNLLLoss(log_input=False) does",
    "kullback_leibler_divergence": _KULLBACK,
    "cosine_proximity": ": write 'cosine_similarity', which is 1 minus it",
    "binary_focal_crossentropy": ": that of Keras takes probabilities; 'focal' takes logits",
    "categorical_focal_crossentropy": ": write a function (output, target); 'focal' is that of two classes",
    "categorical_hinge": ": write nn.MultiMarginLoss(), which takes class numbers",
    "circle": ": write nn.TripletMarginLoss() in a subclass of Trainer that overrides loss(output, target)",
}  # names of losses that are not equal, of classes in snake case
METRICS = {
    "acc": "accuracy",
    "binary_accuracy": "accuracy",
    "categorical_accuracy": "accuracy",
    "sparse_categorical_accuracy": "accuracy",
    "top_k_categorical_accuracy": "top_k_accuracy",
    "sparse_top_k_categorical_accuracy": "top_k_accuracy",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "rmse": "root_mean_squared_error",
    "mape": "mean_absolute_percentage_error",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "f1_score": "f1",
    "r2_score": "r2",
    "matthews_corrcoef": "matthews_correlation",
    "mrr": "mean_reciprocal_rank",
    "ece": "expected_calibration_error",
    "mce": "maximum_calibration_error",
    "pq": "panoptic_quality",
}
METRIC_HINTS = {
    "error_rate": ": write 'accuracy', which is 1 minus it",
    "iou": ": write 'mean_iou' for masks, 'jaccard' for classes",
    "loss": ": every training has the loss, leave it out",
    "cosine_similarity": ": write a function (output, target)",
    **dict.fromkeys(
        ("crossentropy", "binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
        ": write 'log_loss'",
    ),
}
PRECISIONS = {
    **dict.fromkeys(("bf16-mixed", "bf16", "mixed_bfloat16"), "bfloat16"),
    **dict.fromkeys(("16-mixed", "16", "fp16", "mixed_float16", 16), "float16"),
    **dict.fromkeys(("32-true", "32", "fp32", 32), "float32"),
}  # of Lightning and Keras
PRECISION_HINTS = {
    **dict.fromkeys(("64-true", "64", "float64", "double", 64), ": parameters and steps are float32, leave it out"),
    **dict.fromkeys(
        ("bf16-true", "16-true", "half"), ": parameters keep their dtype; 'bfloat16' and 'float16' are mixed precision"
    ),
}
SETTINGS = {"lr": "learning_rate"}
OPTIMIZER = {**SETTINGS, "eps": "epsilon"}
TRAINER = {
    **SETTINGS,
    "max_epochs": "epochs",
    "accumulate_grad_batches": "accumulate",
    "gradient_clip_val": "clip_norm",
}
TRAINING = {"validation_data": "validation", "val_dataloaders": "validation", "ckpt_path": "resume"}
STOPPING = {"restore_best_weights": "restore_best"}
CHECKPOINT = {"dirpath": "folder"}


def find_name(received: str, names: Collection[str], other_names: Mapping[str, str]) -> str | None:
    """The registered name for one that a person writes, also as a class of PyTorch or Keras: "MSELoss", "Adam"."""
    words = _CAPITAL.sub("_", received).lower()
    for word in (received, received.lower(), words, words.removesuffix("_loss")):
        word = other_names.get(word, word)
        if word in names:
            return word
    without = {name.replace("_", ""): name for name in (*names, *other_names)}
    word = without.get(received.lower().replace("_", "").removesuffix("loss"))
    return other_names.get(word, word) if word is not None else None


def advise(received: Any, hints: Mapping[Any, str]) -> str:
    """The end of an error for a name, or its words as one of a class, that stands for something else; or ""."""
    if not isinstance(received, str):
        return hints.get(received, "") if isinstance(received, int) else ""
    words = _CAPITAL.sub("_", received).lower()
    return next((hints[word] for word in (received, received.lower(), words) if word in hints), "")


def accept_other_names(where: str, other_names: Mapping[str, str]) -> Callable[[Kind], Kind]:
    """Let a class take settings under other names too; one that stands for something else is refused with advice."""

    def decorate(cls: Kind) -> Kind:
        init = cls.__init__

        @functools.wraps(init)
        def __init__(self, *args, **settings):  # noqa: N807
            init(
                self,
                *args,
                **(_check_settings(type(self), where, full_names(settings, other_names)) if settings else settings),
            )

        cls.__init__ = __init__  # type: ignore[misc]
        return cls

    return decorate


def _check_settings(cls: type, where: str, settings: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(cls)}
    for name in settings.keys() - names:
        advice = habits.hint(where, name)
        if advice:
            raise ConfigError(f"{cls.__name__} has no setting {name!r}{advice}")
    return settings


def full_names(settings: Mapping[str, Any], aliases: Mapping[str, str] = SETTINGS) -> dict[str, Any]:
    """Settings under their full names. Raises ConfigError for one that is given under both."""
    for other, name in aliases.items():
        if other in settings and name in settings:
            raise ConfigError(f"{other} is another name of {name}: give one of them")
    return {aliases.get(name, name): value for name, value in settings.items()}
