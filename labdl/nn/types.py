"""The types of hyper-parameters that layers share, with their bounds."""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt, MinLen

Count = Annotated[int, Ge(1)]
Whole = Annotated[int, Ge(0)]
Rate = Annotated[float, Ge(0), Lt(1)]
Positive = Annotated[float, Gt(0)]
Size = Count | tuple[Count, ...]
Padding = Literal["same", "valid"] | Whole | Annotated[tuple[Whole | tuple[Whole, Whole], ...], MinLen(1)]
DataFormat = Literal["channels_first", "channels_last"]
Initialiser = Literal[
    "fan_in_uniform", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "orthogonal", "normal",
    "unit_normal", "zeros", "ones",
]  # fmt: skip
