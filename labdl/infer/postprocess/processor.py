"""What a post-processor is: checked settings, and the outputs of one sample read as what they mean (R6.5)."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from annotated_types import Ge, Le

from labdl import dispatch
from labdl.errors import ConfigError, ModelError, meant
from labdl.train import settings
from labdl.train.metrics.metric import spelled

POSTPROCESSORS: dict[str, type[PostProcessor]] = {}
Kind = TypeVar("Kind", bound=type)
Share = Annotated[float, Ge(0), Le(1)]
Side = Annotated[int, Ge(1)]  # of a picture, in pixels


class PostProcessor(ABC):
    """Base class of post-processors: a task's own reading of what a model gives.

    A post-processor is a class with annotated settings and one method, ``__call__(output)``: the outputs of one sample as
    NumPy arrays, without the axis of samples, give its result. `postprocessor` registers it under its name in small letters.
    Settings are fixed; `changed` gives one with others, which is what settings of a single call of `Inference` do.

    Metrics of an `Evaluator` see the outputs of the model, or, of a post-processor that has one, the result of `for_metrics`.
    """

    name: ClassVar[str] = "post_processor"
    measured: ClassVar[bool] = False  # whether it has a `for_metrics`

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.name = cls.__dict__.get("name", spelled(cls))
        cls.measured = cls.for_metrics is not PostProcessor.for_metrics

    @abstractmethod
    def __call__(self, output: Any) -> Any:
        """The result for the outputs of one sample."""

    def check(self) -> None:  # noqa: B027 (few have settings that depend on each other)
        """Raise ConfigError for settings that do not go together."""

    def for_metrics(self, results: Sequence[Any]) -> Any:
        """The results of a batch in the form that the metrics of the task take."""
        raise ModelError(f"{type(self).__name__} has no for_metrics(results): give metrics the outputs of the model, or write "
                         "one that returns what they take")  # fmt: skip

    def targets_for_metrics(self, targets: list[Any]) -> Any:
        """Targets of a batch that are texts, or arrays of different shapes, in the form that the metrics take."""
        return targets

    def changed(self, given: Mapping[str, Any]) -> PostProcessor:
        """One with other settings. Raises ConfigError for one that does not exist, naming those that do."""
        return settings.make(type(self), {**self.settings(), **given}) if given else self

    def settings(self) -> dict[str, Any]:
        """All settings by name."""
        return {name: getattr(self, name) for name in allowed(type(self))}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of the settings, for a form."""
        return settings.settings_schema(cls)


@dataclass_transform(frozen_default=True)
def postprocessor(cls: Kind) -> Kind:
    """Register a post-processor: its annotated fields are its settings, its name in small letters is what `Inference` knows."""

    def __post_init__(self):  # noqa: N807
        for field in dataclasses.fields(cls):  # lists, as JSON has them
            value = getattr(self, field.name)
            if isinstance(value, list) and field.metadata.get("form", True):
                object.__setattr__(self, field.name, _tuples(value))
        settings.check(self)
        self.check()

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    dataclasses.dataclass(frozen=True, eq=False)(cls)
    POSTPROCESSORS[cls.name] = cls  # type: ignore[attr-defined]
    return cls


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def allowed(cls: type) -> list[str]:
    """The names of the settings of a post-processor."""
    return [f.name for f in dataclasses.fields(cls) if f.init]


def find(value: str | Mapping[str, Any] | PostProcessor) -> PostProcessor:
    """A post-processor by name, by name and settings (``{"name": "detection", "threshold": 0.3}``), or as given.

    Raises ConfigError that lists the names or the settings.
    """
    if isinstance(value, PostProcessor):
        return value
    given = {"name": value} if isinstance(value, str) else dict(value)
    name = given.pop("name", None)
    if name not in POSTPROCESSORS:
        raise ConfigError(f"postprocess wants one of {', '.join(POSTPROCESSORS)}, an object such as "
                          f"labdl.infer.Classification(top_k=5), or functions of an output, received {value!r}"
                          f"{meant(name, POSTPROCESSORS)}")  # fmt: skip
    return settings.make(POSTPROCESSORS[name], given)


# -- what readings of outputs share


def single(asked: PostProcessor, output: Any, wanted: str, *ndims: int) -> np.ndarray:
    """The one array of an output, with a number of axes that the task knows. Raises ModelError that says what it wants."""
    if isinstance(output, tuple) and len(output) == 1:
        output = output[0]
    if isinstance(output, tuple | dict):
        raise ModelError(
            f"{type(asked).__name__} wants {wanted} as the output for a sample, received {len(output)} outputs"
        )
    array = array_of(output)
    if array.ndim not in ndims:
        raise ModelError(
            f"{type(asked).__name__} wants {wanted} as the output for a sample, received the shape {array.shape}"
        )
    return array


def array_of(value: Any) -> np.ndarray:
    """A tensor of any backend as a NumPy array."""
    owner = None if isinstance(value, np.ndarray) else dispatch.owner_of_type(type(value))
    return np.asarray(value) if owner is None else owner.to_numpy(value)


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities of logits, in float64 for what follows."""
    raised = np.exp(np.asarray(scores, "float64") - np.max(scores, axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


def sigmoid(scores: np.ndarray) -> np.ndarray:
    """Probabilities of "yes" from logits; exp of what is not positive only, so that nothing overflows."""
    scores = np.asarray(scores, "float64")
    small = np.exp(-np.abs(scores))
    return np.where(scores >= 0, 1.0, small) / (1 + small)


def probabilities(activation: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, from_logits: bool) -> np.ndarray:
    """Probabilities in float64: those that an activation makes of logits, or the scores themselves."""
    return activation(scores) if from_logits else scores.astype("float64")


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k largest scores, largest first; of equal ones the earlier."""
    k = min(k, scores.size)
    if k < scores.size:  # a vocabulary is too long to be sorted for five of its tokens
        near = np.flatnonzero(scores >= np.partition(scores, scores.size - k)[scores.size - k])
        return near[np.argsort(-scores[near], kind="stable")][:k]
    return np.argsort(-scores, kind="stable")[:k]
