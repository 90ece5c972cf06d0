"""Schema of the training form: the choices, the settings, and the code that trains."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

from labdl.data.csv_features import Encode, Missing
from labdl.lab.messages.base import Answer, Request
from labdl.lab.messages.graph import FormJson, GraphJson, Json, Shape

TargetKind = TypeAliasType("TargetKind", Literal["classes", "numbers"])


class BackendInfo(Answer):
    name: str
    version: str | None
    problem: str | None = Field(description="Why the backend cannot be used, and what to do; null where it can.")


class DatasetInfo(Answer):
    name: str
    summary: str
    kind: TargetKind
    classes: int | None
    input_shape: Shape
    samples: int


class DataFileInfo(Answer):
    """A data set, often in a file; null is what is not known without reading a large file."""

    name: str
    summary: str = ""
    kind: TargetKind | None
    columns: list[str] | None = Field(None, description="Of a table.")
    target: str | None = Field(None, description="The target column of a table.")
    classes: int | None = None
    samples: int | None = None
    input_shape: Shape | None
    target_shape: Shape | None = None
    problem: str | None = Field(None, description="Why the table cannot be read with these settings.")


class Choice(Answer):
    name: str
    summary: str


class ChoiceWithSettings(Choice):
    form: FormJson = Field(alias="schema")


class ChoiceOfKind(Choice):
    kind: TargetKind | None = Field(description="The data sets that it is for; null for any.")


class MetricChoice(ChoiceOfKind):
    higher_is_better: bool | None = Field(None, description="Null: it has no better direction.")


class LossChoice(ChoiceWithSettings):
    kind: TargetKind | None = Field(description="The data sets that it is for; null for any.")


class FirstChoice(Answer):
    loss: str
    metrics: list[str]


class TaskChoice(Choice):
    loss: str | None = Field(description="Null: the loss is that of the model.")
    loss_settings: dict[str, Json]
    metrics: list[str]


class TrainingDefaults(Answer):
    """Values of `TrainingSettings` in a new form."""

    backend: str | None = None
    dataset: str
    loss: str
    metrics: list[str]
    optimizer: str
    learning_rate: float
    epochs: int
    batch_size: int
    seed: int
    parameters: Literal["new", "saved"]


class TrainingChoices(Answer):
    datasets: list[DatasetInfo]
    backends: list[BackendInfo]
    losses: list[LossChoice]
    metrics: list[MetricChoice]
    optimizers: list[ChoiceWithSettings]
    schedules: list[ChoiceWithSettings]
    stopping: FormJson = Field(description="The settings of early stopping.")
    options: FormJson = Field(description="Further settings of a trainer.")
    tasks: list[TaskChoice]
    first: dict[TargetKind, FirstChoice] = Field(description="Usual choices for data sets of a kind.")
    defaults: TrainingDefaults


ChosenSettings = TypeAliasType("ChosenSettings", dict[str, Json])


class TrainingSettings(Request):
    """The settings of a training; values are checked where the code is written (labdl.lab.training.script)."""

    backend: str
    dataset: str = Field(
        description="A name, or the path of a file from the document's folder, of a folder with / at its end."
    )
    task: str | None = Field(None, description="A task of labdl.tasks, whose transforms prepare the samples.")
    size: int | None = Field(None, description="Height and width that a task gives samples; null is that of the model.")
    target: str | None = Field(description="The target column of a table; null is the last.")
    scale: bool = Field(description="Whether columns of a table are standardized.")
    missing: Missing = Field(description="What happens with missing values of a table.")
    encode: Encode = Field(description="What columns of texts of a table become.")
    loss: str
    loss_settings: ChosenSettings
    metrics: list[str]
    optimizer: str
    optimizer_settings: ChosenSettings
    learning_rate: float
    schedule: str | None
    schedule_settings: ChosenSettings
    stopping: ChosenSettings | None = Field(description="Null: the training goes on to its last epoch.")
    options: ChosenSettings
    epochs: int
    batch_size: int
    seed: int
    parameters: Literal["new", "saved"] = Field(description="Whether training starts from the document's parameters.")


class TrainingRequest(Request):
    """A training of the model file at `path`; `graph` is what is being edited, null for what was saved."""

    model_config = ConfigDict(extra="allow")  # the settings

    path: str
    graph: GraphJson | None = None

    def settings(self) -> dict[str, Any]:
        """The fields of `TrainingSettings`, not validated."""
        return dict(self.model_extra or {})


class TrainingCode(Answer):
    """Python code that trains a saved model, and whether model, data and loss fit together."""

    code: str
    run: str = Field(description="The folder of the run.")
    inputs: list[Shape] = Field(description="Shapes of the model's inputs.")
    outputs: list[Shape]
    problems: list[str] = Field(description="What does not fit, in sentences.")
    tasks: list[str] = Field([], description="Names of the tasks that fit the model and the data set.")
    tasks_problem: str = Field("", description="Why there are none.")
    needs_task: bool = Field(False, description="Whether the data set can be trained on by a task alone.")
    transforms: list[str] = Field([], description="Transforms of the task, by name.")
    has_parameters: bool = Field(description="Whether parameters lie beside the document.")
