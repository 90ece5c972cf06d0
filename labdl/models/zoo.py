"""Models by name: each registers itself where it is written, with what it is for, its inputs and its published size."""

from __future__ import annotations

import difflib
import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.nn.schema import describe
from labdl.spec import Spec

Inputs = Callable[[Any], tuple[Spec, ...]]
Maker = typing.TypeVar("Maker", bound=Callable[..., Module])

ZOO: dict[str, ZooModel] = {}


@dataclass(frozen=True)
class ZooModel:
    """A published model: how it is made, what for, and what is known of it without making it."""

    name: str
    task: str
    summary: str
    paper: str
    parameters: int  # as published, with the settings left as they are
    make: Callable[..., Module]
    inputs: Inputs

    @functools.cached_property
    def _settings(self):
        import pydantic  # here, because importing it takes longer than everything else in labdl

        hints = typing.get_type_hints(self.make, include_extras=True)
        chosen: dict[str, Any] = {name: (hints[name], ... if p.default is p.empty else p.default)
                                  for name, p in inspect.signature(self.make).parameters.items()}  # fmt: skip
        return pydantic.create_model(self.name, __config__=pydantic.ConfigDict(strict=True, extra="forbid"), **chosen)

    def schema(self) -> dict[str, Any]:
        """The settings as JSON Schema, which a form is made of."""
        form = self._settings.model_json_schema(mode="validation")
        return {"type": "object", "properties": form.get("properties", {}), "required": form.get("required", [])}

    def create(self, **settings) -> Module:
        """The model with these settings, not built yet; it knows the inputs it is meant for. Raises ConfigError."""
        import pydantic

        try:
            self._settings(**settings)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            hint = typing.get_type_hints(self.make, include_extras=True).get(name)
            if hint is None:
                known = ", ".join(inspect.signature(self.make).parameters) or "none"
                raise ConfigError(f"{self.name} has no setting {name!r:.80}; its settings: {known}") from None
            raise ConfigError(
                f"{self.name}: {name} wants {describe(hint)}, received {settings.get(name)!r:.80}"
            ) from None
        model = self.make(**settings)
        # a trace, the editor and a summary then need no shapes, as those of a model that was built
        model.__dict__["_input_specs"] = self.inputs(model)
        return model


def register(task: str, *, inputs: Inputs, parameters: int, paper: str):
    """Put a function that makes a model into the zoo, under its own name.

    The function's annotated arguments are the model's settings, the first line of its docstring stands in lists.
    ``inputs`` gives the Specs of a model's inputs, ``parameters`` is the number that the paper or the first implementation
    states for the settings as they are. Raises ConfigError for a name that another model has.
    """

    def put(make: Maker) -> Maker:
        name = make.__name__
        known = ZOO.get(name)
        if known is not None and known.make.__module__ != make.__module__:
            raise ConfigError(f"the zoo has a model {name!r} already, that of {known.make.__module__}")
        summary = (inspect.getdoc(make) or "").partition("\n")[0]
        ZOO[name] = ZooModel(name, task, summary, paper, parameters, make, inputs)
        return make

    return put


def images(size: int = 224, channels: int = 3) -> Inputs:
    """One input: images of this size, (N, channels, size, size)."""
    return lambda model: (Spec((None, channels, size, size)),)


def tokens(*lengths: int) -> Inputs:
    """Inputs of tokens, (N, length) each."""
    return lambda model: tuple(Spec((None, length), "int64") for length in lengths)


def find(name: str) -> ZooModel:
    """What the zoo knows of a model. Raises ConfigError that names models with similar names."""
    if name not in ZOO:
        near = difflib.get_close_matches(str(name)[:80].lower().replace("-", "_"), ZOO, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "labdl.models.list_models() lists them"
        raise ConfigError(f"the zoo has no model {name!r:.80}: {hint}")
    return ZOO[name]


def create(name: str, **settings) -> Module:
    """A model of the zoo by name: ``labdl.models.create("resnet50", classes=10)``; it is not built yet.

    Names are those of the published implementations; `list_models` lists them. Raises ConfigError for a name or a setting
    that there is not.
    """
    return find(name).create(**settings)


def list_models(task: str | None = None) -> list[str]:
    """The names of the models in the zoo, in order; those for one task, such as "image classification", or all."""
    tasks = {model.task for model in ZOO.values()}
    if task is not None and task not in tasks:
        raise ConfigError(f"the zoo has no models for {task!r:.80}; its tasks: {', '.join(sorted(tasks))}")
    return sorted(name for name, model in ZOO.items() if task in (None, model.task))
