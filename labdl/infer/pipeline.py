"""Post-processing pipeline: a post-processor, functions, or a sequence of them, with settings per call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from labdl.errors import ConfigError
from labdl.infer.postprocess.base import PostProcessor, get_postprocessor, setting_names
from labdl.infer.postprocess.classification import Classification
from labdl.nn.output_kind import OutputKind


class Pipeline:
    """Post-processing steps as one function of an output and the settings of a call.

    ``class_names`` are those of a classification that has none of its own, and ``outputs`` says what the scores of the model
    are, for post-processors whose ``from_logits`` leaves it open.
    """

    def __init__(
        self,
        value: str | Mapping[str, Any] | PostProcessor | Callable | Sequence[Any] | None,
        class_names: Sequence[str] | None = None,
        outputs: OutputKind = "logits",
    ):
        listed: list[Any] = [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
        self.steps: list[Callable[..., Any]] = []
        for step in listed:
            named = isinstance(step, str | Mapping | PostProcessor)
            found = step if callable(step) and not named else get_postprocessor(step)
            if isinstance(found, Classification) and found.names is None and class_names:
                found = found.replace({"names": tuple(class_names)})
            if not self.steps and isinstance(found, PostProcessor) and "from_logits" in (given := found.settings()):
                found = found.replace({} if given["from_logits"] is not None else {"from_logits": outputs == "logits"})
            self.steps.append(found)
        self._own = [_settings_of(step) for step in self.steps]
        self._last: tuple[Mapping[str, Any], list[Callable]] = ({}, self.steps)

    @property
    def names(self) -> list[str]:
        """Names of the settings of all steps, each once."""
        return list(dict.fromkeys(name for names in self._own for name in names))

    @property
    def processor(self) -> PostProcessor | None:
        """The post-processor of the task, if there is one."""
        return next((step for step in self.steps if isinstance(step, PostProcessor)), None)

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting that no step has, listing the existing ones, or a value out of range."""
        names = self.names
        for name in settings:
            if name not in names:
                owners = (
                    ", ".join(getattr(s, "__name__", type(s).__name__) for s in self.steps)
                    or "an inference without steps"
                )
                raise ConfigError(f"{owners} has the settings {', '.join(names) or '(none)'}, received {name!r}")
        self.configure(settings)

    def configure(self, settings: Mapping[str, Any]) -> list[Callable]:
        """Apply the settings of a call to the steps; cached for the samples of the same call."""
        if not settings:
            return self.steps
        last, steps = self._last
        if last is not settings:
            steps = [
                _with_settings(step, {k: settings[k] for k in own if k in settings})
                for step, own in zip(self.steps, self._own, strict=True)
            ]
            self._last = settings, steps
        return steps

    def __call__(self, output: Any, settings: Mapping[str, Any]) -> Any:
        for step in self.configure(settings):
            output = step(output)
        return output


def _settings_of(step: Callable) -> list[str]:
    if isinstance(step, PostProcessor):
        return setting_names(type(step))
    try:
        parameters = list(inspect.signature(step).parameters.values())[1:]
    except ValueError:  # a function written in C may have no signature
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _with_settings(step: Callable, settings: Mapping[str, Any]) -> Callable:
    if isinstance(step, PostProcessor):
        return step.replace(settings)
    return partial(step, **settings) if settings else step
