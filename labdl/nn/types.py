"""The types of hyper-parameters that layers share, with their bounds."""

from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen

from labdl.nn.initialisers import INITIALISERS, read

Count = Annotated[int, Ge(1)]
# of layers that one layer makes one by one: a slip of the finger must not make a billion
Depth = Annotated[int, Ge(1), Le(1000)]
Whole = Annotated[int, Ge(0)]
Rate = Annotated[float, Ge(0), Lt(1)]
Positive = Annotated[float, Gt(0)]
Size = Count | tuple[Count, ...]
Padding = Literal["same", "valid"] | Whole | Annotated[tuple[Whole | tuple[Whole, Whole], ...], MinLen(1)]
DataFormat = Literal["channels_first", "channels_last"]


class _InitialiserText:
    """How a form and the checking of settings see an initialiser: a menu of names, or a name with settings in a text."""

    def __get_pydantic_core_schema__(self, source, handler):
        from pydantic_core import core_schema  # here, because importing it takes longer than everything else in labdl

        return core_schema.no_info_after_validator_function(_readable, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, schema, handler):
        call = {"type": "string", "pattern": r"^\w+\(.*\)$", "examples": ["normal(std=0.01)", "constant(0.5)"]}
        return {"anyOf": [{"enum": list(INITIALISERS), "type": "string"}, call]}


def _readable(text: str) -> str:
    read(text)
    return text


if TYPE_CHECKING:
    Initialiser = str
else:
    Initialiser = Annotated[Literal[tuple(INITIALISERS)], _InitialiserText()]
