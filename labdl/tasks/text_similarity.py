"""Similarity of two texts, and other numbers that are told of texts."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError, DataError
from labdl.nn.module import Module
from labdl.tasks.task import task
from labdl.tasks.text_task import TextTask


@task
class TextSimilarity(TextTask):
    """A number for two texts, such as their similarity, or for one: `labdl.data.TextDataset` with numbers as labels.

    The head of the classification has one output. Trained with the mean squared error, evaluated by the correlations of Pearson
    and Spearman. Source: transformers' run_glue for STS-B (Cer et al., 2017).
    """

    name = "text similarity"
    targets = ("label",)
    loss = "mean_squared_error"
    metrics = ("pearson_correlation", "spearman_correlation")
    postprocess = None
    head = "text classification"

    def count_classes(self, dataset: Dataset) -> int:
        return 1

    def check(self, model: Module, dataset: Dataset) -> None:
        super().check(model, dataset)
        if dataset.classes:
            raise ConfigError(
                f"{self.name} wants numbers as labels, {dataset!r} has the classes "
                f"{', '.join(map(str, dataset.classes)):.80}: "
                "train a text classification"
            )

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        parts = super().prepare_datasets(model, opened, pipeline, classes)
        inputs = pipeline.transforms[0].outputs  # type: ignore[attr-defined]
        pairs = []
        for part in parts:
            pairs.append(part.map(functools.partial(_pair, inputs=inputs, target=(*part.targets, "label")[0])))
            pairs[-1].inputs = pairs[-1].targets = ()  # samples are pairs
        return pairs[0], pairs[1]


def _pair(sample: Mapping[str, Any], *, inputs: Sequence[str], target: str) -> tuple[Any, np.ndarray]:
    """The inputs, and the number (1,) as float32."""
    value = sample.get(target)
    try:
        number = np.array([value], "float32")
    except (TypeError, ValueError):
        raise DataError(f"the label {value!r:.60} is no number: text similarity wants numbers") from None
    if not np.isfinite(number).all():
        raise DataError(f"the label {value!r:.60} is no finite number")
    rows = tuple(sample[name] for name in inputs)
    return (rows if len(rows) > 1 else rows[0]), number
