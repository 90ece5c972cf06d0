"""Columns of categories as numbers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.transforms.table.columns import Column, ColumnTransform, Kind, is_missing
from labdl.data.transforms.transform import transform
from labdl.errors import ConfigError, DataError

_MOST = 100_000  # categories of a column


@transform
class OneHotEncode(ColumnTransform):
    """Replace a category by an array with 1 at its place, float32 (categories,). Source: sklearn.preprocessing.OneHotEncoder.

    The categories are those of the training part, sorted; a missing value is one too. An unknown one is a DataError, or all
    zeros with ``handle_unknown="ignore"``. ``drop`` leaves out the first category, or one of two.
    """

    kind: ClassVar[Kind] = "category"

    handle_unknown: Literal["error", "ignore"] = "error"
    drop: Literal["none", "first", "if_binary"] = "none"

    def fit_column(self, values: list[Any], name: Column) -> Any:
        return find_categories(self, values, name)

    def prepare(self, values: Any) -> dict[Any, int]:
        first = int(self.drop == "first" or (self.drop == "if_binary" and len(values) == 2))
        return {_plain(value): at - first for at, value in enumerate(values)}

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        at = np.array(numbers_of(self, values, fitted, name, self.handle_unknown == "error", -1))
        width = max(fitted.values()) + 1
        return (at[:, None] == np.arange(width)).astype("float32")


@transform
class OrdinalEncode(ColumnTransform):
    """Replace a category by its number, int64. Source: sklearn.preprocessing.OrdinalEncoder.

    The categories are those of the training part, sorted, a missing value being the last. An unknown one is a DataError, or
    ``unknown_value`` with ``handle_unknown="use_encoded_value"``.
    """

    kind: ClassVar[Kind] = "category"

    handle_unknown: Literal["error", "use_encoded_value"] = "error"
    unknown_value: int = -1

    def fit_column(self, values: list[Any], name: Column) -> Any:
        return find_categories(self, values, name)

    def prepare(self, values: Any) -> dict[Any, int]:
        return {_plain(value): at for at, value in enumerate(values)}

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        found = numbers_of(self, values, fitted, name, self.handle_unknown == "error", self.unknown_value)
        return np.array(found, "int64")


@transform
class Hash(ColumnTransform):
    """Replace a category by an array of ``n_features`` numbers with 1 or -1 at the place of its hash, float32.

    Unknown categories have a place too. Columns are told apart by their names.

    Source: sklearn.feature_extraction.FeatureHasher.
    """

    kind: ClassVar[Kind] = "category"

    n_features: Annotated[int, Ge(1)] = 64
    alternate_sign: bool = True

    def fit_column(self, values: list[Any], name: Column) -> Any:
        return None

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        from sklearn.utils import murmurhash3_32

        result = np.zeros((len(values), self.n_features), "float32")
        for row, value in enumerate(values):
            if is_missing(value):
                continue
            number = murmurhash3_32(f"{name}={_plain(value)}", seed=0)
            place = (
                (2**31 - (self.n_features - 1)) % self.n_features
                if number == -(2**31)
                else abs(number) % self.n_features
            )
            result[row, place] = -1 if self.alternate_sign and number < 0 else 1
        return result


def find_categories(owner: ColumnTransform, values: list[Any], name: Column) -> list[Any]:
    """The different values of a column, sorted; None behind them if there are missing ones."""
    found = {_plain(value) for value in values}
    if len(found) > _MOST:
        raise DataError(f"{type(owner).__name__}: the column {name!r} has {len(found):,} categories: use T.Hash")
    try:
        ordered = sorted(value for value in found if value is not None)
    except TypeError:
        raise DataError(f"{type(owner).__name__}: the column {name!r} wants texts or numbers, received both") from None
    return [*ordered, None] if None in found else ordered


def numbers_of(
    owner: ColumnTransform, values: Any, known: dict[Any, int], name: Column, strict: bool, unknown: int
) -> list[int]:
    """Numbers of the values of a column; unknown ones are a DataError if ``strict``."""
    result = []
    for value in values:
        number = known.get(_plain(value))
        if number is None and strict:
            listed = ", ".join(map(repr, list(known)[:10]))
            raise DataError(
                f"{type(owner).__name__}: the column {name!r} has the categories {listed:.200} in the training part, received "
                f"{value!r:.80}"
            )
        result.append(unknown if number is None else number)
    return result


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str | int | float):
        raise ConfigError(f"a category is a text or a number, received {value!r:.80}")
    return str(value) if isinstance(value, str) else value
