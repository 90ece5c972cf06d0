"""Settings as annotated dataclasses: checked when they are made, and described as a form by the same annotations."""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Annotated, Any

from annotated_types import Ge, Le

from labdl.errors import ConfigError, meant
from labdl.nn.schema import describe

Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
INNER: dict[str, Any] = {"form": False}  # metadata of a field that no form can offer: a function, another object


def changeable(cls) -> dict[str, dataclasses.Field]:
    """The settings that a form or a file can hold: all fields but functions and objects."""
    return {f.name: f for f in dataclasses.fields(cls) if f.init and f.metadata.get("form", True)}


@functools.cache
def _adapter(cls):
    import pydantic  # here, because importing it takes longer than everything else in labdl

    hints = typing.get_type_hints(cls, include_extras=True)
    chosen: dict[str, Any] = {
        name: (hints[name], ... if f.default is dataclasses.MISSING else f.default)
        for name, f in changeable(cls).items()
    }
    config = pydantic.ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    return pydantic.create_model(cls.__name__, __config__=config, **chosen)


def check(settings) -> None:
    """Raises ConfigError that names the setting, what it wants and what came."""
    import pydantic

    cls = type(settings)
    try:
        _adapter(cls)(**{name: getattr(settings, name) for name in changeable(cls)})
    except pydantic.ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        wanted = describe(typing.get_type_hints(cls, include_extras=True)[name])
        raise ConfigError(f"{_title(cls)}: {name} wants {wanted}, received {getattr(settings, name)!r}") from None


def _title(cls) -> str:
    """What a person knows the settings as."""
    return getattr(cls, "title", cls.__name__)


def make(cls, settings: dict[str, Any]):
    """``cls(**settings)``. Raises ConfigError for a setting that there is none of, naming those there are."""
    allowed = [f.name for f in dataclasses.fields(cls) if f.init]
    for name in settings:
        if name not in allowed:
            raise ConfigError(f"{_title(cls)} has the settings {', '.join(allowed)}, received {name!r}"
                              f"{meant(name, allowed)}")  # fmt: skip
    missing = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in settings
               and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]  # fmt: skip
    if missing:
        raise ConfigError(f"{cls.__name__} needs {', '.join(missing)}: write {cls.__name__}({missing[0]}=...)")
    return cls(**settings)


def settings_schema(cls) -> dict[str, Any]:
    """The JSON schema from which a form is made; ``summary`` is the first line of the docstring."""
    form = _adapter(cls).model_json_schema(mode="validation")
    return {
        "type": cls.__name__,
        "summary": (cls.__doc__ or "").partition("\n")[0],
        "schema": {"type": "object", "properties": form.get("properties", {}), "required": form.get("required", [])},
    }
