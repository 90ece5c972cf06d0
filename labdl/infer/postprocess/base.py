"""Base class and registry of post-processors, which convert the outputs of one sample to a result."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from annotated_types import Ge, Le

from labdl import dispatch, settings
from labdl.errors import ConfigError, ModelError, suggest_name
from labdl.signature import show_plain_types
from labdl.train.metrics.metric import snake_case

POSTPROCESSORS: dict[str, type[PostProcessor]] = {}
Kind = TypeVar("Kind", bound=type)
Share = Annotated[float, Ge(0), Le(1)]
Side = Annotated[int, Ge(1)]  # of a picture, in pixels


class PostProcessor(ABC):
    """Base class of post-processors, which convert the outputs of a model to the results of a task.

    A post-processor is a class with annotated settings and one method, ``__call__(output)``, which returns the result for
    the outputs of one sample as NumPy arrays without the batch axis. `postprocessor` registers it under its name in snake
    case. Settings are immutable; `replace` returns a copy with other ones, which a single call of `Inference` uses.

    Metrics of an `Evaluator` get the outputs of the model, or the result of `for_metrics` where it is overridden.
    """

    name: ClassVar[str] = "post_processor"
    has_metrics: ClassVar[bool] = False  # whether `for_metrics` is overridden

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.name = cls.__dict__.get("name", snake_case(cls))
        cls.has_metrics = cls.for_metrics is not PostProcessor.for_metrics

    @abstractmethod
    def __call__(self, output: Any) -> Any:
        """Compute the result for the outputs of one sample."""

    def check(self) -> None:  # noqa: B027 (optional override)
        """Raise ConfigError for inconsistent settings."""

    def for_metrics(self, results: Sequence[Any]) -> Any:
        """Convert the results of a batch to outputs for the metrics of the task."""
        raise ModelError(
            f"{type(self).__name__} has no for_metrics(results): use metrics of the model's outputs, or implement it"
        )

    def targets_for_metrics(self, targets: list[Any]) -> Any:
        """Convert targets that are strings, or arrays of different shapes, for the metrics of the task."""
        return targets

    def replace(self, given: Mapping[str, Any]) -> PostProcessor:
        """Copy with other settings. Raises ConfigError for an unknown one, listing the existing ones."""
        return settings.create(type(self), {**self.settings(), **given}) if given else self

    def settings(self) -> dict[str, Any]:
        """All settings by name."""
        return {name: getattr(self, name) for name in setting_names(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """JSON Schema of the settings, for forms."""
        return settings.settings_schema(cls)


@dataclass_transform(frozen_default=True)
def postprocessor(cls: Kind) -> Kind:
    """Register a post-processor: its annotated fields are its settings, its name for `Inference` is in snake case."""

    def __post_init__(self):  # noqa: N807
        for field in dataclasses.fields(cls):  # lists, as in JSON
            value = getattr(self, field.name)
            if isinstance(value, list) and field.metadata.get("form", True):
                object.__setattr__(self, field.name, _tuples(value))
        settings.check(self)
        self.check()

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    show_plain_types(dataclasses.dataclass(frozen=True, eq=False)(cls))
    POSTPROCESSORS[cls.name] = cls  # type: ignore[attr-defined]
    return cls


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def setting_names(cls: type) -> list[str]:
    """Names of the settings of a post-processor."""
    return [f.name for f in dataclasses.fields(cls) if f.init]


def get_postprocessor(value: str | Mapping[str, Any] | PostProcessor) -> PostProcessor:
    """Look up a post-processor by name, by name and settings (``{"name": "detection", "threshold": 0.3}``), or as given.

    Raises ConfigError that lists the names or the settings.
    """
    if isinstance(value, PostProcessor):
        return value
    given = {"name": value} if isinstance(value, str) else dict(value)
    name = given.pop("name", None)
    if name not in POSTPROCESSORS:
        raise ConfigError(
            f"postprocess wants one of {', '.join(POSTPROCESSORS)}, an object such as "
            f"labdl.infer.Classification(top_k=5), or functions of an output, received {value!r}"
            f"{suggest_name(name, POSTPROCESSORS)}"
        )
    return settings.create(POSTPROCESSORS[name], given)


# -- functions for several tasks


def single_array(processor: PostProcessor, output: Any, wanted: str, *ndims: int) -> np.ndarray:
    """The array of an output with one of the given numbers of axes. Raises ModelError for any other output."""
    if isinstance(output, tuple) and len(output) == 1:
        output = output[0]
    if isinstance(output, tuple | dict):
        raise ModelError(
            f"{type(processor).__name__} wants {wanted} as the output for a sample, received {len(output)} outputs"
        )
    array = array_of(output)
    if array.ndim not in ndims:
        raise ModelError(
            f"{type(processor).__name__} wants {wanted} as the output for a sample, received the shape {array.shape}"
        )
    return array


def array_of(value: Any) -> np.ndarray:
    """Convert a tensor of any backend to a NumPy array."""
    owner = None if isinstance(value, np.ndarray) else dispatch.owner_of_type(type(value))
    return np.asarray(value) if owner is None else owner.to_numpy(value)


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Softmax in float64."""
    raised = np.exp(np.asarray(scores, "float64") - np.max(scores, axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


def sigmoid(scores: np.ndarray) -> np.ndarray:
    """Sigmoid in float64, without overflow: exp is only computed of non-positive values."""
    scores = np.asarray(scores, "float64")
    small = np.exp(-np.abs(scores))
    return np.where(scores >= 0, 1.0, small) / (1 + small)


def probabilities(
    activation: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, from_logits: bool | None
) -> np.ndarray:
    """Probabilities in float64, from logits by the activation, or the scores themselves; None stands for logits."""
    return scores.astype("float64") if from_logits is False else activation(scores)


def top_k_indices(scores: np.ndarray, k: int) -> np.ndarray:
    """Indices of the k largest scores, largest first, ties by index."""
    k = min(k, scores.size)
    if k < scores.size:  # sorting a whole vocabulary for its best five tokens is slow
        near = np.flatnonzero(scores >= np.partition(scores, scores.size - k)[scores.size - k])
        return near[np.argsort(-scores[near], kind="stable")][:k]
    return np.argsort(-scores, kind="stable")[:k]
