"""Base classes of messages, and the functions that read and write them."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import core_schema

from labdl.errors import ConfigError

Message = TypeVar("Message", bound=BaseModel)


class Request(BaseModel):
    """A message from a page. Unknown fields are ignored: a page of another version may send more."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, protected_namespaces=(), populate_by_name=True)


class Answer(BaseModel):
    """A message to a page."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), populate_by_name=True)


class _SchemaOf:
    """Metadata of a field that has the schema of a type for pages, and holds any value."""

    def __init__(self, kind: Any):
        self._kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        if source is Any:
            return core_schema.any_schema()
        return core_schema.no_info_before_validator_function(_object, core_schema.any_schema())

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return handler(TypeAdapter(self._kind).core_schema)


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("Input should be an object")
    return value


def object_of(model: type[BaseModel]) -> Any:
    """The type of an object with the schema of a model, which is validated where it is used."""
    return Annotated[dict[str, Any], _SchemaOf(model)]


def any_of(kind: Any) -> Any:
    """The type of a value with the schema of a type, which is validated where it is used."""
    return Annotated[Any, _SchemaOf(kind)]


def read(message: type[Message], content: Any) -> Message:
    """A request in JSON data. Raises ConfigError in a sentence that names the field."""
    try:
        return message.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise ConfigError(f"The request needs {place!r}.") from None
        problem = first["msg"].removeprefix("Value error, ")
        where = f"{place!r:.80} of the request" if place else "The request"
        raise ConfigError(f"{where}: {problem}, received {first['input']!r:.80}.") from None


def write(message: type[Message], content: Any) -> dict[str, Any]:
    """An answer as JSON data, from its fields."""
    return message.model_validate(content).model_dump(mode="json", by_alias=True, exclude_unset=True)
