"""Schema of lists of runs, of runs that a page follows, and of their names, tags and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from labdl.lab.messages.base import Answer, Request, any_of
from labdl.runs.schema import BestValue, CommandValue, RunCommand

RunCode = TypeAliasType("RunCode", dict[str, str])
if TYPE_CHECKING:
    _Command = Any
    _Value = Any
    _Id = Any
    _Count = Any
    _Best = Any
else:
    _Command = any_of(RunCommand)
    _Value = any_of(CommandValue)
    _Id = any_of(str)
    _Count = any_of(int)
    _Best = any_of(dict[str, BestValue] | None)


MAX_RUNS = 64  # runs that a page follows
MAX_WAIT = 20.0  # seconds for an answer; proxies give up after 30 or more


# -- lists


class BestFigure(Answer):
    value: float | None
    epoch: int | None


class ParentRun(Answer):
    id: str
    folder: str | None
    step: int | None


class Brief(Answer):
    """Summary of a run in a list."""

    path: str = Field(description="Relative to the folder of the list.")
    id: str
    name: str | None = Field(description="Written by people; empty or null where they wrote none.")
    tags: list[str]
    note: str | None
    status: Literal[
        "waiting", "running", "paused", "stopping", "finished", "stopped", "failed", "lost", "unreadable"
    ] = Field(description="A lost run has no end, and no process works on it.")
    alive: bool
    time: float | None = Field(description="Unix seconds of the start.")
    seconds: float | None = Field(description="Time of training, without pauses.")
    step: int | None
    epoch: int | None
    epochs: int | None
    model: str | None
    backend: str | None
    loss: str | None
    optimizer: str | None
    parameters: int | None
    metrics: list[str] = Field([])
    settings: dict[str, Any]
    params: dict[str, Any] = Field(description="Parameters of a trial of a sweep.")
    figures: dict[str, float | None] = Field(description="The last value of each metric; null is not finite.")
    best: dict[str, BestFigure]
    higher: list[str] = Field(description="Names of metrics that are better high.")
    spark: list[float | None]
    parent: ParentRun | None
    group: str | None
    message: str | None


class Group(Answer):
    """The race or sweep of a folder of runs (group.json)."""

    kind: Literal["race", "sweep"]
    name: str | None = None
    time: float | None = None
    method: str | None = None
    trials: int | None = Field(None, description="The planned number of trials of a sweep, where it is known.")
    metric: str | None = Field(None, description="The metric by which trials are compared.")
    mode: Literal["min", "max"] | None = None
    status: Literal["finished", "stopped", "failed"] | None = Field(None, description="How a sweep has ended.")
    choices: dict[str, list[Any]] = Field({}, description="The choices of a sweep by the name of the setting.")


class RunChanges(Answer):
    """Changes to a list of runs since the answer with the sent token."""

    token: str
    unchanged: Literal[True] = Field(True, description="Nothing is new; the other fields are left out.")
    whole: bool = Field(False, description="These are all runs, and not only those that have changed.")
    runs: list[Brief] = Field([])
    gone: list[str] = Field([])
    group: Group | None = None
    truncated: str | None = None


class RunsAnswer(RunChanges):
    folder: str


# -- runs that a page follows


class FollowedRun(Request):
    """A run of which a page has read `offset` bytes."""

    path: str
    offset: Annotated[int, Field(ge=0, lt=2**63)]
    alive: bool | None = Field(description="As in the last answer; null where there was no run.")
    kinds: list[str] | None = Field(None, description="Kinds of events to send; all without it.")


class FollowRequest(Request):
    runs: Annotated[list[FollowedRun], Field(min_length=1, max_length=MAX_RUNS)]
    wait: Annotated[float, Field(ge=0, le=MAX_WAIT)] = Field(0, description="Seconds until an answer without news.")


class RunNews(Answer):
    """New events of a run, before the binary columns of the steps among them."""

    path: str
    offset: int
    alive: bool | None
    reset: bool = Field(description="The run has begun anew.")
    best: _Best = Field(None, description="The best value of each metric, where epochs are among the events.")
    events: list[Any]
    bytes: int = Field(description="Size of the columns of this run.")


class FollowAnswer(Answer):
    runs: list[RunNews]


class ControlRequest(Request):
    """A command for a run, checked by `labdl.runs.control`."""

    path: str
    command: _Command = None
    value: _Value = None
    id: _Id = None


class ControlAnswer(Answer):
    id: str


class FindAnswer(Answer):
    path: str | None


class PictureAnswer(Answer):
    svg: str
    final: bool


class CodeFiles(Answer):
    files: RunCode


# -- what people write about a run


class About(Answer):
    """Name, tags and note of a run."""

    name: str
    tags: list[str]
    note: str


class AboutRequest(Request):
    """Fields of `About` to write, where the run still has those of `before`."""

    path: str
    name: str = ""
    tags: list[Any] = Field([])
    note: str = ""
    before: dict[str, Any] | None = None

    def fields(self) -> dict[str, Any]:
        """The fields to write."""
        return self.model_dump(include={"name", "tags", "note"}, exclude_unset=True)


class AboutAnswer(Answer):
    done: bool
    about: About = Field(description="As it is now.")


# -- comm messages of the dashboard and runs widgets


class ListRequest(Request):
    type: Literal["list"]
    token: str = ""


class SyncRequest(Request):
    """Asks for the events after the first `after` of a run."""

    type: Literal["sync"]
    run: _Count = None
    after: _Count = None
    path: str | None = None


class CommandRequest(Request):
    type: Literal["command"]
    command: _Command = None
    value: _Value = None
    id: _Id = None
    path: str | None = None


class CodeRequest(Request):
    type: Literal["code"]
    path: str | None = None


class WriteRequest(Request):
    type: Literal["write"]
    id: str
    path: str
    words: dict[str, Any]
    before: dict[str, Any] | None = None


class ListMessage(RunChanges):
    type: Literal["runs"]
    folder: str
    since: str = Field(description="The token to which the changes apply.")
    trouble: str = Field("", description="Why the folder could not be read.")


class WrittenMessage(Answer):
    type: Literal["written"]
    id: str
    done: bool = False
    about: About = Field(None, description="As it is now.")  # type: ignore[assignment]
    error: str = ""


class EventsMessage(Answer):
    """Events of a run in order, with the columns of steps in a binary buffer."""

    type: Literal["events"]
    path: str = Field("", description="Of the runs of a folder.")
    run: int = Field(description="Number of the run in the widget; a later run replaces those before.")
    first: int = Field(description="Number of events of the run before these.")
    events: list[Any]
    best: _Best = Field(None, description="The best value of each metric, where epochs are among the events.")
    alive: bool


class CodeMessage(Answer):
    type: Literal["code"]
    path: str = ""
    files: RunCode
