"""Annex B.6: evaluators, under the standard's spelling and the English one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ConfigError
from labdl.infer import Evaluator, Inference
from labdl.infer.data_adapter import is_evaluable
from labdl.infer.evaluator import resolve_metrics
from labdl.standard import validation
from labdl.train.metrics import Metric


def construct_evalvater(infer: Inference, eval_config: Mapping[str, Any]) -> Evaluator:
    """An evaluator of an inference (B.6.1, table B.15).

    ``eval_config`` may have the ``default_dataset``, the ``eval_metric`` (a name, an object or a function (output, target), or
    several in a list), and LabDL's ``loss`` and ``batch_size``. Raises ConfigError for unknown keys and values.
    """
    validation.check_instance(infer, Inference, "construct_evalvater", "construct_inference")
    config = validation.read(eval_config, "eval_config", ("default_dataset", "eval_metric", "loss", "batch_size"))
    dataset = config.get("default_dataset")
    if dataset is not None and not is_evaluable(dataset):
        raise ConfigError(
            "eval_config: default_dataset wants a data set, a loader, a pair (x, y) of arrays or rows (input, ..., target), "
            f"received {dataset!r:.60}"
        )
    return Evaluator(
        infer,
        dataset,
        _metrics(config.get("eval_metric")),
        loss=config.get("loss"),
        batch_size=config.get("batch_size"),
    )


def evalvate(evalvater: Evaluator, dataset=None, eval_config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The scores of an inference over a data set, or over the default one, by the names of the metrics (B.6.2, table B.16).

    ``eval_config`` has settings for this call: the ``eval_metric``, and settings of the post-processing. Raises
    ConfigError without a data set or an evaluator; the standard defines no errors here.
    """
    validation.check_instance(evalvater, Evaluator, "evalvate", "construct_evalvater")
    config = validation.read(eval_config or {}, "eval_config")
    metric = _metrics(config.pop("eval_metric")) if "eval_metric" in config else None
    return evalvater.evaluate(dataset, metrics=metric, **config)


def _metrics(value: Any) -> list[Metric]:
    with validation.naming("eval_config", "eval_metric"):
        return list(resolve_metrics(() if value is None else value).values())


construct_evaluator, evaluate = construct_evalvater, evalvate
