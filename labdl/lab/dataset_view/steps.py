"""The steps of a pipeline as the page has them: read, written, fitted, and found where they fail."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from labdl.data.pipeline import Phase, Pipeline, Split
from labdl.data.transforms import from_dict
from labdl.data.transforms.inner import Path, inner_setting, inner_transforms, path_text, replace_inner, walk
from labdl.data.transforms.serialization import DEEPEST, settings_of
from labdl.data.transforms.transform import TRANSFORMS, Transform
from labdl.errors import ConfigError
from labdl.lab.dataset_view.kernel_objects import KernelObjects

_MOST_STEPS = 500  # with those inside of others
_NO_OBJECTS = "only a notebook can have a function as a step: remove it, or open the data set with labdl.lab.Data"


class StepReader:
    """Reads the steps of a page; ``problems`` has the paths of those that are wrong, and why."""

    def __init__(self, objects: KernelObjects | None):
        self._objects = objects
        self.problems: dict[Path, str] = {}

    def read(self, step: Any, path: Path) -> Transform | None:
        """The transform of a step with those inside of it; None if one of them is wrong."""
        try:
            return self._read(step, path)
        except ConfigError as error:
            self.problems[path] = str(error)
            return None

    def _read(self, step: Any, path: Path) -> Transform | None:
        if len(path) > DEEPEST:
            raise ConfigError(f"steps are at most {DEEPEST} deep inside of each other")
        if not isinstance(step, Mapping) or not isinstance(step.get("settings", {}), Mapping):
            raise ConfigError(f"a step wants a type and settings, received {step!r:.80}")
        listed = step.get("inner", [])
        if not isinstance(listed, list):
            raise ConfigError(f"a step wants a list of inner steps, received {listed!r:.80}")
        inner = [self.read(one, (*path, number)) for number, one in enumerate(listed, 1)]
        if None in inner:
            return None
        if isinstance(step.get("object"), Mapping):
            if self._objects is None:
                raise ConfigError(_NO_OBJECTS)
            return self._objects.transform(step["object"].get("number"))
        name = step.get("type")
        settings = {key: value for key, value in step.get("settings", {}).items() if key not in ("type", "state")}
        return from_dict({"type": name, **settings, **_inner_values(name, inner)})


def _inner_values(name: Any, inner: Sequence[Any]) -> dict[str, Any]:
    """The setting that holds the inner transforms. Raises ConfigError for a transform that cannot have these."""
    cls = TRANSFORMS.get(name) if isinstance(name, str) else None
    setting = None if cls is None else inner_setting(cls)
    if setting is None:
        if inner and cls is not None:
            raise ConfigError(f"{name} has no transforms inside of it: move them out")
        return {}
    if not setting.many and len(inner) != 1:
        raise ConfigError(f"{name} wants one transform inside of it, received {len(inner) or 'none'}")
    return {setting.name: setting.write(tuple(inner))}


def read_steps(values: Any, objects: KernelObjects | None = None) -> tuple[list[Transform | None], dict[Path, str]]:
    """The transforms of a page's steps, None for those that are wrong, and why, by their paths.

    Raises ConfigError for what is no list of steps, and for too many.
    """
    if not isinstance(values, Mapping) or not isinstance(values.get("steps"), list):
        raise ConfigError("a pipeline wants a list of steps")
    if _count(values["steps"]) > _MOST_STEPS:
        raise ConfigError(f"a pipeline has at most {_MOST_STEPS} steps, those inside of others counted too")
    reader = StepReader(objects)
    return [reader.read(step, (number,)) for number, step in enumerate(values["steps"], 1)], reader.problems


def _count(steps: list[Any]) -> int:
    pending, count = list(steps), 0
    while pending:
        count += 1
        inner = step.get("inner") if isinstance(step := pending.pop(), Mapping) else None
        pending += inner if isinstance(inner, list) else []
    return count


def pipeline_of(values: Any, objects: KernelObjects | None = None) -> Pipeline:
    """The pipeline of the page's steps. Raises ConfigError that names an unknown transform or a wrong setting."""
    transforms, problems = read_steps(values, objects)
    for path, message in problems.items():
        raise ConfigError(f"Step {path_text(path)}: {message}")
    return with_phases(transforms, values)


def with_phases(transforms: Sequence[Any], values: Mapping[str, Any]) -> Pipeline:
    """The pipeline of the first transforms of a page's steps, with their phases and the split. Raises ConfigError."""
    phases = [step.get("phase", "always") for step in values["steps"][: len(transforms)]]
    split = values.get("split")
    known = Split.__dataclass_fields__
    chosen = Split(**{k: v for k, v in split.items() if k in known}) if isinstance(split, Mapping) else Split()
    return Pipeline(list(transforms), phases=phases, split=chosen)


def check_reads_no_files(values: Any) -> None:
    """Raise ConfigError for settings that name files, such as those of noises and tokenizers, which transforms would read."""
    pending: list[Any] = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif isinstance(value, str) and _is_file(value):
            raise ConfigError(
                f"a step names the file {value!r:.200}, and the panel reads none but those of the data set: show this pipeline "
                "in a notebook with labdl.lab.Data"
            )


def _is_file(text: str) -> bool:
    return len(text) < 4096 and "\0" not in text and any(c in text for c in "/\\.") and os.path.lexists(text)


def to_json(pipeline: Pipeline, objects: KernelObjects | None = None) -> dict[str, Any]:
    """The steps of a pipeline for the page, without what they have been fitted to.

    ``objects`` takes the functions and objects that no settings describe. Raises ConfigError for these without it.
    """
    steps = [
        step_json(one, objects) | {"phase": phase}
        for one, phase in zip(pipeline.transforms, pipeline.phases, strict=True)
    ]
    return {"steps": steps, "split": dataclasses.asdict(pipeline.split)}


def step_json(one: Transform, objects: KernelObjects | None) -> dict[str, Any]:
    """Fields of the `StepData` of a transform."""
    setting = inner_setting(type(one))
    step: dict[str, Any] = {"type": type(one).__name__, "settings": {}}
    try:
        step["settings"] = settings_of(one, without=setting and setting.name)
    except ConfigError:
        if objects is None:
            raise
        return step | {"object": objects.describe(one)}
    if inner := inner_transforms(one):
        step["inner"] = [step_json(each, objects) for each in inner]
    return step


def first_steps(pipeline: Pipeline, count: int, phase: Phase) -> Pipeline:
    """The first ``count`` steps, of which those of another phase are left out."""
    pairs = list(zip(pipeline.transforms, pipeline.phases, strict=True))[:count]
    return Pipeline([one for one, own in pairs if own in ("always", phase)])


def failing_step(pipeline: Pipeline, error: BaseException) -> Path | None:
    """The path of the step that raised an error: the innermost transform whose method its traceback has.

    A transform of a notebook that applies others needs no code for it.
    """
    paths: dict[int, Path] = {}
    for path, one in walk(pipeline.transforms):
        paths.setdefault(id(one), path)
    deepest, frame = None, error.__traceback__
    while frame is not None:
        deepest = paths.get(id(frame.tb_frame.f_locals.get("self")), deepest)
        frame = frame.tb_next
    return deepest


# -- steps that are fitted to data


def is_fitted(pipeline: Pipeline) -> bool:
    """Whether no step has to be fitted to data before it can be applied."""
    return all(getattr(one, "is_fitted", True) for _, one in walk(pipeline.transforms))


def keep_fitted(pipeline: Pipeline, former: Pipeline) -> None:
    """Replace steps that are not fitted by those of another pipeline of the same settings that are."""
    fitted = [one for _, one in walk(former.transforms) if getattr(one, "is_fitted", False)]

    def keep(step: Transform) -> Transform:
        replace_inner(step, keep)
        if getattr(step, "is_fitted", True):
            return step
        return next((one for one in fitted if type(one) is type(step) and settings_of(one) == settings_of(step)), step)

    pipeline.transforms[:] = [keep(step) for step in pipeline.transforms]
