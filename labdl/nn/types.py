"""Types of hyper-parameters that several layers use, with their bounds."""

import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MinLen

from labdl.nn.initializers import INITIALIZERS, read, settings_of
from labdl.spec import show

Count = Annotated[int, Ge(1)]
# number of layers inside a layer; the bound protects against typing errors
Depth = Annotated[int, Ge(1), Le(1000)]
Iterations = Annotated[int, Ge(1), Le(100)]  # of a method that converges in a few
Whole = Annotated[int, Ge(0)]
NormAxis = Whole | Literal["all"]  # of weight normalization; "all" is one norm over the whole kernel
Rate = Annotated[float, Ge(0), Lt(1)]
Positive = Annotated[float, Gt(0)]
Momentum = Annotated[float, Ge(0), Le(1)]  # fraction by which a running value moves
Size = Count | tuple[Count, ...]
Padding = Literal["same", "valid"] | Whole | Annotated[tuple[Whole | tuple[Whole, Whole], ...], MinLen(1)]
DataFormat = Literal["channels_first", "channels_last"]
SpatialAxes = Annotated[int, Ge(1), Le(3)]


def check_spatial_axes(layer, x) -> None:
    """Raise ValueError for an input of another number of spatial axes than a layer is set to, such as one without a batch."""
    wanted = layer.spatial_axes
    if wanted is not None and len(x.shape) != wanted + 2:
        raise ValueError(
            f"{type(layer).__name__} wants {wanted + 2} axes: the batch, the channels and {wanted} spatial ones, received "
            f"{show(tuple(x.shape))}"
        )


class _InitializerText:
    """Schema of an initializer setting: one of the names, or a name with settings as a call."""

    def __get_pydantic_core_schema__(self, source, handler):
        from pydantic_core import core_schema  # imported lazily: it takes longer than the rest of labdl

        return core_schema.no_info_after_validator_function(_check_initializer, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, schema, handler):
        call = {"type": "string", "pattern": r"^\w+\(.*\)$", "examples": ["normal(std=0.01)", "constant(0.5)"]}
        # a form is a menu of the names with fields for the settings of the chosen one
        return {"anyOf": [{"enum": list(INITIALIZERS), "type": "string"}, call | {"calls": _initializer_settings()}]}


@functools.cache
def _initializer_settings() -> dict[str, dict[str, Any]]:
    """JSON Schema of the settings of each initializer that has some, by name."""
    from pydantic import TypeAdapter  # imported lazily: it takes longer than the rest of labdl

    schemas = {}
    for name, function in INITIALIZERS.items():
        hints = get_type_hints(function, include_extras=True)
        fields = {
            key: TypeAdapter(hints[key]).json_schema()
            | {"title": key.replace("_", " ").title(), "default": setting.default}
            for key, setting in settings_of(name).items()
        }
        if fields:
            schemas[name] = {"properties": fields}
    return schemas


def _check_initializer(text: str) -> str:
    read(text)
    return text


if TYPE_CHECKING:
    Initializer = str
else:
    Initializer = Annotated[Literal[tuple(INITIALIZERS)], _InitializerText()]
