"""Schema of run events, the lines of events.jsonl, as pydantic models.

`parse` reads an event with these rules: unknown keys and kinds are ignored, an optional field with a wrong value has its
default, and an event whose required field is wrong is not an event. TypeScript types and validators and the reference in
docs/runs.md are generated from here by scripts/generate_schema.py.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType

from labdl.runs.control import COMMANDS
from labdl.runs.reading import values

VERSION = 2
SPARK_POINTS = 32
MAX_METRICS = 500
RESERVED = ("kind", "time", "step", "epoch", "samples_per_second")  # fields beside which metrics stand


def metric_key(name: str) -> str:
    """The key of a metric beside the fields of an event: its name, after "@" where that is the name of a field.

    Example: "accuracy" is ``accuracy``, "step" is ``@step`` and "@step" is ``@@step``.
    """
    return f"@{name}" if name.lstrip("@") in RESERVED else name


def metric_name(key: str) -> str:
    """The name of the metric of a key that is not one of `RESERVED`; see `metric_key`."""
    return key[1:] if key.startswith("@") and key.lstrip("@") in RESERVED else key


def _valid(read):
    """A validator from a function that returns None for what is wrong."""

    def validate(value: Any) -> Any:
        found = read(value)
        if found is None:
            raise ValueError("wrong type")
        return found

    return BeforeValidator(validate)


@dataclasses.dataclass(frozen=True)
class Decimals:
    """Marks a field that is rounded to so many decimal places when it is written."""

    digits: int


_COLUMN = {"type": "array", "items": {"type": ["number", "null"]}, "tsType": "Column"}
_STEPS = {"type": "array", "items": {"type": "integer"}, "tsType": "Indices"}
_Number = Annotated[float, _valid(values.number)]
_Count = Annotated[int, Field(ge=0), _valid(values.count)]
_Text = Annotated[str, _valid(values.text)]
_Seconds = Annotated[float, _valid(values.number), Decimals(6)]
_MaybeSeconds = Annotated[float | None, BeforeValidator(values.number), Decimals(6)]
_MaybeNumber = Annotated[float | None, BeforeValidator(values.number)]
_Steps = Annotated[Any, _valid(values.step_column), WithJsonSchema(_STEPS)]
_Indices = Annotated[Any, _valid(values.column), WithJsonSchema(_STEPS)]
_Column = Annotated[Any, _valid(values.column), WithJsonSchema(_COLUMN)]
_Names = list[Annotated[str, _valid(lambda value: values.text(value, 300))]]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True, protected_namespaces=())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        fields: Any = schema
        while fields["type"] != "model-fields":
            fields = fields["schema"]
        for field in fields["fields"].values():
            if field["schema"]["type"] == "default":
                field["schema"]["on_error"] = "default"  # an optional field with a wrong value has its default
        return schema


# -- objects in events


class Gpu(_Model):
    name: _Text = ""
    memory: _MaybeNumber = Field(default=None, description="bytes")


class Environment(_Model):
    """The software and hardware of a run."""

    python: _Text | None = Field(default=None, description="version")
    labdl: _Text | None = Field(default=None, description="version")
    framework: _Text | None = Field(default=None, description="version")
    numpy: _Text | None = Field(default=None, description="version")
    platform: _Text | None = None
    processor: _Text | None = None
    cores: _Count | None = None
    memory: _MaybeNumber = Field(default=None, description="bytes")
    gpus: list[Gpu] | None = None


class Parent(_Model):
    """The run from which a run branched. Events before ``step`` are in the parent's file only."""

    id: _Text
    folder: _Text | None = Field(default=None, description="relative to the folder of this run")
    step: _Count | None = None


class BestValue(_Model):
    value: _Number
    epoch: _Count | None = None


def _with_value(entries: Any) -> dict[str, Any]:
    return {
        name: best
        for name, best in values.mapping(entries).items()
        if isinstance(best, dict) and values.number(best.get("value")) is not None
    }


def _first_metrics(figures: Any) -> Any:
    return dict(itertools.islice(figures.items(), MAX_METRICS)) if isinstance(figures, dict) else figures


def _first_points(spark: Any) -> Any:
    return spark[:SPARK_POINTS] if isinstance(spark, list) else spark


class RunSummary(_Model):
    """The state of a run that a list of runs shows."""

    step: _Count = 0
    epoch: _Count = 0
    epochs: _Count | None = Field(default=None, description="total epochs planned")
    seconds: Annotated[float, Field(ge=0), _valid(values.number)] = Field(
        default=0.0, description="training time without pauses"
    )
    figures: Annotated[dict[str, _MaybeNumber], BeforeValidator(_first_metrics)] = Field(
        description="the last value of each metric; null is not finite"
    )
    best: Annotated[dict[str, BestValue], BeforeValidator(_with_value)] = Field(
        default_factory=dict, description="the best value of each metric of which the better direction is known"
    )
    higher: _Names = Field(default_factory=list, description="metrics whose higher values are better")
    spark: Annotated[list[_MaybeNumber], BeforeValidator(_first_points)] = Field(
        default_factory=list, description="the loss over the whole run in at most 32 values"
    )


class FaultPlace(_Model):
    """Where the first value that is not finite was found."""

    node: _Text | None = Field(description="the layer")
    what: Literal["output", "gradient", "update", "inputs", "targets", "loss"]


class GpuUsage(_Model):
    use: _MaybeNumber = Field(default=None, description="percent")
    memory: _MaybeNumber = Field(default=None, description="bytes used by the process")
    memory_used: _MaybeNumber = Field(default=None, description="bytes used by all processes")


class ParameterColumns(_Model):
    """Statistics of layers with parameters; columns of equal length."""

    of: _Indices = Field(default_factory=list, description="index in `layers`")
    gradient: _Column = Field(default_factory=list, description="norm of the gradient of the loss")
    weights: _Column = Field(default_factory=list, description="norm of the parameters")
    update: _Column = Field(
        default_factory=list, description="norm of the update of the step over the norm of the parameters"
    )


class OutputColumns(_Model):
    """Statistics of the outputs of layers; columns of equal length."""

    of: _Indices = Field(default_factory=list, description="index in `layers`")
    mean: _Column = Field(default_factory=list)
    std: _Column = Field(default_factory=list)
    largest: _Column = Field(default_factory=list, description="largest magnitude")
    zeros: _Column = Field(default_factory=list, description="share of exact zeros")
    not_finite: _Column = Field(default_factory=list, description="number of values that are NaN or infinite")


class HistogramColumns(_Model):
    """Histograms of layers; columns of equal length."""

    of: _Indices = Field(description="index in `layers`")
    low: _Column
    high: _Column
    counts: list[_Column] = Field(
        description="24 numbers for each layer: how many values are in each of as many equal parts of the range from "
        "`low` to `high`; where `low` equals `high` all are in the first part. Of more than 131,072 values an even "
        "sample is counted"
    )


class Picture(_Model):
    """Pixels, from `labdl.runs.array_preview`."""

    width: _Count
    height: _Count
    tiles: _Count = Field(description="images in `data`, one after the other")
    channels: _Count = Field(description="of the array; only the first are in `data`")
    colors: _Count = Field(description="1 for gray, 3 for RGB")
    low: _MaybeNumber = Field(description="value of a black pixel")
    high: _MaybeNumber = Field(description="value of a white pixel")
    data: str = Field(description="bytes in base64, row by row")


class ShownArray(_Model):
    """An array for display, as one of `picture`, `curve`, `values` and `text`."""

    picture: Picture | None = None
    curve: list[list[_MaybeNumber]] | None = Field(default=None, description="channels of a signal")
    values: list[_MaybeNumber] | None = None
    text: str | None = None
    shape: list[_Count] | None = Field(default=None, description="shape of the whole array")


class ShownTarget(ShownArray):
    """A target for display."""

    class_: _Count | None = Field(default=None, alias="class", description="index of the class")


class ShownOutput(ShownArray):
    """An output of the model for display."""

    classes: list[_Count] | None = Field(default=None, description="the five most probable classes")
    scores: list[_MaybeNumber] | None = Field(default=None, description="probabilities of `classes`")


class WatchedSample(_Model):
    index: _Count = Field(description="in the validation data")
    input: ShownArray
    target: ShownTarget


class WorstSample(WatchedSample):
    loss: _MaybeNumber
    output: ShownOutput


class BranchValue(_Model):
    """Settings of a branch that differ from those of its parent."""

    learning_rate: _Number | None = None
    epochs: _Count | None = Field(default=None, description="total epochs")


# -- events


if TYPE_CHECKING:
    RunCommand = str
else:
    RunCommand = TypeAliasType("RunCommand", Literal[tuple(COMMANDS)])
CommandValue = TypeAliasType("CommandValue", float | str | BranchValue)
AlertKind = TypeAliasType(
    "AlertKind",
    Literal["not_finite", "divergence", "no_progress", "chance_level", "overfitting", "plateau", "starvation"],
)


class _Event(_Model):
    kind: str
    time: _Number = Field(description="seconds since 1970, never less than in the line before")


class StartEvent(_Event):
    """The first event, and again where a run resumes in the same folder."""

    model_config = ConfigDict(extra="allow")
    kind: Literal["start"]
    version: _Count | None = Field(
        default=None, description="2. A reader that finds a higher one should say so and stop"
    )
    id: _Text | None = Field(default=None, description="name of the folder")
    pid: _Count | None = Field(default=None, description="the process")
    host: _Text | None = Field(default=None, description="the computer")
    model: _Text | None = Field(default=None, description="name of the model")
    backend: _Text | None = Field(default=None, description="`torch`, `tensorflow`, `paddle` or `mindspore`")
    parameters: _Count | None = Field(default=None, description="number of trainable values in the model")
    epochs: _Count | None = Field(default=None, description="total epochs planned")
    steps_per_epoch: _Count | None = None
    max_steps: _Count | None = Field(default=None, description="the run ends after so many steps, if not earlier")
    batch_size: _Count | None = Field(default=None, description="samples of one update")
    samples: _Count | None = Field(default=None, description="samples in the training data")
    step: _Count = Field(
        default=0, description="steps done before; what this file says about later steps no longer counts"
    )
    loss: _Text | None = None
    optimizer: _Text | None = None
    metrics: _Names = Field(default_factory=list, description="names of the metrics")
    higher: _Names = Field(default_factory=list, description="metrics whose higher values are better")
    lower: _Names = Field(
        default_factory=list,
        description="metrics whose lower values are better. Metrics in neither list have no best value",
    )
    settings: dict[str, Any] = Field(default_factory=dict)
    environment: Environment | None = None
    parent: Parent | None = None
    history: dict[str, list[_MaybeNumber]] | None = Field(
        default=None, description="of a branch: metrics of the epochs before it, at most the last thousand"
    )
    save_to: _Text | None = Field(default=None, description="file of the parameters, by its path from the folder")
    group: _Text | None = Field(default=None, description="name of the race or sweep to which the run belongs")
    params: dict[str, Any] | None = Field(default=None, description="values that a sweep tries in this run")


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and type(value) is not bool)


class StepsEvent(_Event):
    """Metrics of single steps since the last such event: columns of equal length, `step` and one for each metric.

    The key of a metric is its name, after `@` where that is `kind`, `time`, `step`, `epoch` or `samples_per_second`."""

    model_config = ConfigDict(extra="allow")
    kind: Literal["steps"]
    step: _Steps

    @functools.cached_property
    def metrics(self) -> dict[str, np.ndarray]:
        """The metrics by name; NaN where a value is not finite."""
        columns = {key: values.column(value) for key, value in (self.model_extra or {}).items()}
        return {metric_name(k): column for k, column in columns.items() if column is not None and k not in RESERVED}


class _MetricsEvent(_Event):
    """An event with a key for each metric."""

    model_config = ConfigDict(extra="allow")

    @functools.cached_property
    def metrics(self) -> dict[str, float]:
        """The metrics by name; NaN where one is not finite."""
        numbers = {key: values.number(value) for key, value in (self.model_extra or {}).items() if _is_number(value)}
        return {metric_name(key): math.nan if value is None else value for key, value in numbers.items()}


class EpochEvent(_MetricsEvent):
    """The end of an epoch, with a key for the mean of each metric, as in `steps`; names of validation metrics begin with
    `val_`."""

    kind: Literal["epoch"]
    epoch: _Count
    step: _Count
    samples_per_second: _MaybeNumber = None


class ValidationEvent(_MetricsEvent):
    """A validation within an epoch, with a key for each metric, whose name begins with `val_`."""

    kind: Literal["validation"]
    epoch: _Count = Field(description="the one under way, counted from 1")
    step: _Count


class RateEvent(_Event):
    """The learning rate: ``value`` applies to updates after ``step``. Of a rate that changes at every step not every change
    is recorded."""

    kind: Literal["rate"]
    step: _Steps
    value: _Column


class ThroughputEvent(_Event):
    """Where the time of the last steps went."""

    kind: Literal["pace"]
    step: _Count
    steps: _Count = Field(description="number of steps")
    samples: _Count = Field(description="samples in these steps")
    data: _Seconds = Field(description="seconds waiting for data")
    compute: _Seconds = Field(description="seconds of forward and backward; of the whole step where `update` is null")
    update: _MaybeSeconds = Field(description="seconds of the optimizer; null where the step is compiled as one")


class SystemEvent(_Event):
    """Use of the machine, at most every two seconds."""

    kind: Literal["system"]
    cpu: _MaybeNumber = Field(default=None, description="percent of one core, of the process")
    memory: _MaybeNumber = Field(default=None, description="bytes, of the process")
    cpu_total: _MaybeNumber = Field(default=None, description="percent of all cores, of the computer")
    memory_used: _MaybeNumber = Field(default=None, description="bytes, of the computer")
    gpus: list[GpuUsage] = Field(default_factory=list)


class StatusEvent(_Event):
    """The run was paused, resumed or asked to stop."""

    kind: Literal["status"]
    status: Literal["running", "paused", "stopping"]
    step: _Count | None = None


class LearningRateEvent(_Event):
    """A learning rate set by hand, for the updates after ``step``."""

    kind: Literal["learning_rate"]
    step: _Count
    value: _Number


class EpochsEvent(_Event):
    """The number of epochs planned has changed."""

    kind: Literal["epochs"]
    epochs: _Count = Field(description="total epochs planned")
    step: _Count | None = None


class CheckpointEvent(_Event):
    """A checkpoint was written."""

    kind: Literal["checkpoint"]
    step: _Count
    path: _Text
    automatic: bool = Field(default=False, description="written by `Checkpoint(...)`, not on command")


class BranchEvent(_Event):
    """Another run branched from this one after ``step``."""

    kind: Literal["branch"]
    step: _Count
    id: _Text = Field(description="the other run")
    folder: _Text | None = Field(default=None, description="of the other run, relative to the folder of this one")


class CommandEvent(_Event):
    """The answer to a command, when it has been carried out: to `pause` when the run is paused, to `checkpoint` when the
    file is written, to `stop` right before `end`."""

    kind: Literal["command"]
    id: _Text
    command: RunCommand | Literal[""] = Field(default="", description="empty for an unknown one")
    value: CommandValue | None = None
    step: _Count = 0
    status: Literal["done", "refused"] = "done"
    message: _Text | None = None


class ProblemEvent(_Event):
    """A problem that did not end the run."""

    kind: Literal["problem"]
    message: _Text


class AlertEvent(_Event):
    """A condition that is likely to spoil the training, and what may help."""

    kind: Literal["alert"]
    step: _Count
    alert: AlertKind | None = None
    level: Literal["warning", "error"] = "warning"
    message: _Text
    template: _Text | None = Field(
        default=None, description="the message with `%1`, `%2` … in place of its `values`, for translations"
    )
    values: list[_Text] = Field(default_factory=list)


class LogEvent(_Event):
    """A message of Python's logging or warnings."""

    kind: Literal["log"]
    level: _Text = Field(default="", description="`WARNING`, `ERROR`, ..., as in Python's logging")
    source: _Text = Field(default="", description="name of the logger")
    message: str = ""


class TextEvent(_Event):
    """A text that the training logged with `Trainer.log_text`, such as a generated sample."""

    kind: Literal["text"]
    step: _Count
    name: _Text
    text: Annotated[str, _valid(lambda value: values.text(value, values.MAX_TEXT))]


class HealthEvent(_Event):
    """Statistics of the layers after ``step``."""

    kind: Literal["health"]
    step: _Count
    samples: _Count = Field(default=0, description="samples of the batch that was measured")
    seconds: _MaybeSeconds = Field(default=None, description="duration of the measurement")
    layers: list[_Text] | None = Field(
        default=None, description="names; absent where they are those of the last `health` or `histograms` event"
    )
    classes: list[_Text] | None = Field(default=None, description="classes of the layers; absent where the names are")
    parameters: ParameterColumns
    outputs: OutputColumns


class HistogramsEvent(_Event):
    """Distributions of the values of layers after ``step``."""

    kind: Literal["histograms"]
    step: _Count
    layers: list[_Text] | None = Field(default=None, description="as in `health`")
    weights: HistogramColumns
    gradients: HistogramColumns
    outputs: HistogramColumns


class SamplesEvent(_Event):
    """Samples of the validation data whose predictions are recorded, once in a run."""

    kind: Literal["samples"]
    task: Literal["classification", "regression", "other"] = "other"
    classes: list[_Text] | None = Field(description="names of the classes")
    samples: list[WatchedSample]


class PredictionsEvent(_Event):
    """Outputs for the samples of `samples`, in the same order."""

    kind: Literal["predictions"]
    epoch: _Count
    step: _Count
    outputs: list[ShownOutput]


class ConfusionEvent(_Event):
    """The confusion matrix of the validation data; of more than 100 classes the most frequent mistakes."""

    kind: Literal["confusion"]
    epoch: _Count
    step: _Count
    counts: list[list[_Count]] | None = Field(
        default=None, description="a row for each true class, a column for each predicted one"
    )
    pairs: list[tuple[_Count, _Count, _Count]] | None = Field(
        default=None, description="true class, predicted class, count"
    )


class WorstEvent(_Event):
    """The samples of the validation data with the highest loss, the highest first."""

    kind: Literal["worst"]
    epoch: _Count
    step: _Count
    samples: list[WorstSample]


class EndEvent(_Event):
    """The last event. A killed process leaves none: whether a run is alive is seen from its `pid` on its `host`."""

    kind: Literal["end"]
    status: Literal["finished", "stopped", "failed"]
    message: _Text | None = Field(default=None, description="why it failed")
    place: FaultPlace | None = None
    summary: RunSummary | None = None


# -- events that are not in files


class ResetEvent(_Event):
    """The events that follow are those of another file: forget the ones before."""

    kind: Literal["reset"]


class BestEvent(_Event):
    """The best value of each metric so far; the source of the events adds it after epochs."""

    kind: Literal["best"]
    best: dict[str, BestValue]


Event = (
    StartEvent
    | StepsEvent
    | EpochEvent
    | ValidationEvent
    | RateEvent
    | ThroughputEvent
    | SystemEvent
    | StatusEvent
    | LearningRateEvent
    | EpochsEvent
    | CheckpointEvent
    | BranchEvent
    | CommandEvent
    | ProblemEvent
    | AlertEvent
    | LogEvent
    | TextEvent
    | HealthEvent
    | HistogramsEvent
    | SamplesEvent
    | PredictionsEvent
    | ConfusionEvent
    | WorstEvent
    | EndEvent
)
RunEvent = TypeAliasType("RunEvent", Annotated[Event | BestEvent | ResetEvent, Field(discriminator="kind")])

EVENTS: dict[str, type[_Event]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model for model in get_args(Event)
}


def parse(event: dict[str, Any]) -> Event | None:
    """The event as a model, or None for an unknown kind and for one whose required fields are wrong."""
    model = EVENTS.get(event["kind"])
    try:
        return model and model.model_validate(event)  # type: ignore[return-value]
    except ValidationError:
        return None


def parse_all(events: Iterable[dict[str, Any]]) -> Iterator[Event]:
    """The events that `parse` accepts."""
    return (parsed for event in events if (parsed := parse(event)) is not None)
