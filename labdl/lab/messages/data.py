"""Schema of the data view: samples as they are drawn, statistics of a data set, and the steps of its pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import Field
from typing_extensions import TypeAliasType

from labdl.lab.messages.base import Answer, Request, any_of
from labdl.lab.messages.graph import FormJson, Json, Shape

DataUrl = TypeAliasType("DataUrl", str)
Phase = TypeAliasType("Phase", Literal["always", "training", "evaluation"])


# -- steps of a pipeline


class StepObject(Answer):
    """A function or an object of a notebook that no settings describe; the kernel has it by its number."""

    number: int
    kind: Literal["function", "object"]
    name: str
    module: str = Field(description="`__main__` is the notebook.")


class StepData(Answer):
    """A transform of a pipeline, as in a pipeline file."""

    type: str = Field(description="Name of the transform.")
    settings: dict[str, Json] = Field(description="Settings that differ from the default.")
    phase: Phase = Field(
        "always", description="Whether the step is for training, for evaluation, or for both; inner ones have no own."
    )
    inner: list[StepData] = Field([], description="The transforms inside of it.")
    object: StepObject | None = Field(None, description="What the step applies, where it is only in the kernel.")


class SplitData(Answer):
    fraction: float = Field(0.8, description="Share of the samples in the training part.")
    seed: int = 0
    stratify: bool = Field(True, description="Whether both parts have the same shares of the classes.")


class PipelineData(Answer):
    steps: list[StepData]
    split: SplitData


if TYPE_CHECKING:
    PipelineJson = dict[str, Any]
else:
    PipelineJson = any_of(PipelineData)


class TransformInfo(Answer):
    name: str
    category: str
    summary: str
    description: str = Field(description="Further text; empty where the summary says all.")
    source: str = Field("", description="The library that it follows.")
    kinds: list[str] = Field(description="Kinds of parts that it changes: image, mask, boxes, audio and so on.")
    random: bool = Field(description="Whether it draws random numbers with its default settings.")
    form: FormJson = Field(alias="schema")
    initial: dict[str, Json] = Field({}, description="Values of the settings without a default, for a new step.")
    inner: Literal["none", "one", "many"] = Field("none", description="How many transforms it has inside of it.")
    mixes: bool = Field(False, description="Whether it reads further samples, and so cannot be inside of another.")


class TransformsAnswer(Answer):
    transforms: list[TransformInfo]


# -- a data set


class EntryInfo(Answer):
    """A part of the samples."""

    name: str
    kind: str = Field(
        description="image, mask, boxes, keypoints, audio, spectrogram, video, text, tokens, label, number or array."
    )
    description: str = Field(description="Shape, dtype and the like of the first sample.")


class SplitCount(Answer):
    """A part of a data set that is divided already."""

    name: str = Field(description="training, validation or test; a widget may have parts of other names.")
    samples: int


class DatasetSummary(Answer):
    name: str
    kind: str = Field(description="Class of the data set, such as ImageFolder.")
    samples: int
    classes: list[str] | None
    entries: list[EntryInfo]
    split: str = Field("", description="The part that this is about; empty in a data set without parts.")
    splits: list[SplitCount] = Field([], description="All parts.")
    pipeline: PipelineJson = Field(description="The saved steps; none in a new data set.")
    applied: list[StepData] = Field([], description="Steps that the samples have passed already, by `Dataset.map`.")
    pipeline_file: str | None = Field(
        description="Where the steps are saved; null in a widget, which keeps them as its attribute `pipeline`."
    )
    code: str = Field(description="Python code that opens the data set.")


class BoxView(Answer):
    """A bounding box, in shares of the picture's width and height."""

    left: float
    top: float
    width: float
    height: float
    label: str


class PartView(Answer):
    """A part of a sample as it is drawn; the fields depend on the kind."""

    name: str
    kind: Literal["image", "audio", "video", "text", "values"]
    description: str = Field(description="Size, duration, dtype and the like.")
    picture: DataUrl = Field("", description="A picture, an animation of a clip, or the mel spectrogram of a sound.")
    width: int = Field(0, description="Of the picture in full size.")
    height: int = 0
    boxes: list[BoxView] = Field([])
    points: list[tuple[float, float]] = Field([], description="Key points, in shares of width and height.")
    mask: DataUrl = Field("", description="A transparent picture of the masks.")
    waveform: list[tuple[float, float]] = Field([], description="Least and greatest value of equal sections, -1 to 1.")
    seconds: float = 0
    tokens: list[str] = Field([], description="Text in pieces: tokens, or the whole text as one.")
    text: str = Field("", description="Values as text.")


class SampleView(Answer):
    index: int
    name: str = Field(description="File of the sample, or its position.")
    label: str
    parts: list[PartView]
    problem: str = Field("", description="Why the sample could not be read or transformed.")


class SamplesAnswer(Answer):
    samples: list[SampleView]
    total: int = Field(description="Number of samples that the filter lets through.")


class ClassCount(Answer):
    name: str
    count: int


class Histogram(Answer):
    name: str = Field(description="What is counted: width, height, seconds, tokens and so on.")
    unit: str
    edges: list[float] = Field(description="One more than counts.")
    counts: list[int]
    integers: bool = Field(False, description="Values are whole numbers, and edges lie between two of them.")


class BrokenSample(Answer):
    index: int
    name: str
    problem: str
    path: str = Field(
        "",
        description="File of the sample, from the folder that Jupyter serves; in a widget that of the kernel's computer.",
    )


class StatisticsAnswer(Answer):
    """Statistics of the samples that were read so far; a page asks again until they are complete."""

    read: int = Field(description="Number of samples that were read.")
    samples: int
    complete: bool
    classes: list[ClassCount]
    histograms: list[Histogram]
    broken: list[BrokenSample] = Field(description="The first that could not be read.")
    broken_count: int


class StepProblem(Answer):
    """Why a step cannot be applied."""

    step: list[int] = Field(description="Its number, after those of the steps around it: [2, 1] is step 2.1.")
    message: str


class PreviewAnswer(Answer):
    """One sample, transformed several times."""

    original: SampleView
    results: list[SampleView] = Field(description="None where the settings of a step are wrong.")
    problems: list[StepProblem] = Field([], description="Steps that are wrong, or that failed.")


class MediaAnswer(Answer):
    """A sound as WAV, a clip as WebM, or a picture in full size, to play or show."""

    mime: str
    data: str = Field(description="Bytes in base64.")


class SavedPipeline(Answer):
    path: str = Field(description="The file; empty in a widget.")
    code: str = Field(description="Python code that trains with the pipeline.")
    input_shape: Shape = Field(description="Shape of a batch for the model.")
    target: str = Field(description="What the targets are, in words.")


# -- requests; over REST at labdl/dataset/NAME with a path, over the comm of a widget with the name and without a path

_Count = Annotated[int, Ge(1), Le(200)]
_Index = Annotated[int, Ge(0)]


class DatasetRequest(Request):
    """Ask for the summary, or further statistics; `path` is that of the files, empty in a widget."""

    path: str = ""
    split: str = Field("", description="The part that is asked for; empty for the one that trains.")


class SamplesRequest(DatasetRequest):
    start: _Index
    count: _Count
    label: str | None = Field(None, description="Only samples of this class.")
    size: Annotated[int, Ge(16), Le(512)] = Field(128, description="Longest side of pictures, in pixels.")


class PreviewRequest(DatasetRequest):
    index: _Index
    pipeline: PipelineJson
    step: Annotated[int, Ge(0)] = Field(description="Number of steps that are applied.")
    count: _Count = 8
    seed: int = 0
    size: Annotated[int, Ge(16), Le(512)] = 160
    phase: Literal["training", "evaluation"] = "training"


class Variant(Request):
    """One of the results of a preview."""

    pipeline: PipelineJson
    step: Annotated[int, Ge(0)] = Field(description="Number of steps that are applied.")
    seed: int = 0
    phase: Literal["training", "evaluation"] = "training"
    number: Annotated[int, Ge(0), Le(199)] = Field(description="Position among the results.")


class MediaRequest(DatasetRequest):
    index: _Index
    entry: str = Field(description="Name of the part that is played or shown.")
    variant: Variant | None = Field(None, description="The result of a preview; null for the sample as it is.")


class SavePipelineRequest(DatasetRequest):
    pipeline: PipelineJson
