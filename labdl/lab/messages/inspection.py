"""Schema of statistics of parameters, and of the activations of one sample."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from labdl.lab.messages.base import Answer
from labdl.runs.schema import Picture


class HistogramData(Answer):
    low: float
    high: float
    counts: list[int] = Field(
        description="A count for each bin, from low to high; a single one if all values are the same."
    )


class ArrayStats(Answer):
    """Statistics of an array; null is what cannot be computed, of texts for example."""

    shape: list[int]
    dtype: str
    size: int = Field(description="Number of values, of which `counted` were read.")
    counted: int
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    zeros: float | None = Field(description="Share of the values that are 0, from 0 to 1.")
    not_finite: int | None
    histogram: HistogramData | None


class ParameterStats(ArrayStats):
    name: str = Field(description='Standard name, such as "conv1/kernel:0".')


class WeightsAnswer(Answer):
    source: Literal["file", "model"] = Field(description="A file beside the document, or a model in the kernel.")
    file: str | None = Field(description="The file's name; null where there is none.")
    saved: float | None = Field(description="When the file was written, in seconds since 1970.")
    parameters: list[ParameterStats]
    left_out: int = Field(description="Number of further parameters.")


class Activation(ArrayStats):
    picture: Picture | None


class SampleOrigin(Answer):
    """Source of a sample and of the weights."""

    backend: str
    dataset: str | None = Field(description="The data set; null for a random sample.")
    index: int | None
    weights: Literal["file", "model", "new"]
    file: str | None = None
    reason: str | None = Field(None, description="Why the parameters of the file were not used.")


class ClassShare(Answer):
    name: str
    probability: float


class SamplePrediction(Answer):
    """Prediction for the sample by a model for classes, the most probable classes first."""

    classes: list[ClassShare]
    target: str | None = Field(description="The true class; null where the data set does not say.")


class SampleAnswer(SampleOrigin):
    nodes: dict[str, dict[str, Activation]] = Field(description="By node and output port.")
    seconds: float = 0
    prediction: SamplePrediction | None = None
