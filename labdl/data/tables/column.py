"""Columns of a table: their kind, and their values as an array with missing ones."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from labdl.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["number", "category", "date", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# texts that stand for a missing value, as in pandas.read_csv
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A", "?")
_FEW = 20  # different texts that are categories whatever the number of rows


@dataclass(frozen=True)
class Column:
    """Values of a column (rows,): float64 with NaN or int64, datetime64 with NaT, or texts with None, by its kind."""

    values: np.ndarray
    kind: Kind

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def missing(self) -> int:
        """Number of missing values."""
        if self.values.dtype.kind == "O":
            return sum(value is None for value in self.values)
        if self.values.dtype.kind == "M":
            return int(np.isnat(self.values).sum())
        return int(np.isnan(self.values).sum()) if self.values.dtype.kind == "f" else 0

    def select(self, indices: np.ndarray) -> Column:
        """The values at some indices."""
        return Column(self.values[indices], self.kind)


@dataclass(frozen=True)
class TextFormat:
    """How values are written in a text file: missing ones, the decimal point, and dates."""

    missing: tuple[str, ...] = MISSING
    decimal: str = "."
    date: str | None = None


def column_of_texts(texts: pa.ChunkedArray, name: str, form: TextFormat, kind: Kind | None = None) -> Column:
    """A column of a text file, of a kind that is that of all its values unless it is chosen.

    Raises DataError for a value that is not of the chosen kind.
    """
    import pyarrow as pa

    pc = _compute()

    trimmed = pc.utf8_trim_whitespace(texts)
    missing = pc.is_in(trimmed, pa.array(form.missing, pa.string()))
    known = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    if kind in (None, "number"):
        found = _as_numbers(known, form.decimal)
        if found is not None:
            return Column(found, "number")
    if kind in (None, "date"):
        dates = _as_dates(known, form.date)
        if dates is not None:
            return Column(dates, "date")
    if kind in ("number", "date"):
        raise DataError(f"the column {name!r:.60} wants a {kind} in each row, received {_wrong(known, form, kind)}")
    return _text_column(known, kind)


def column_of_arrow(array: pa.ChunkedArray, name: str, kind: Kind | None = None) -> Column:
    """A column of a Parquet file by its type. Raises DataError for lists, bytes and structures."""
    import pyarrow as pa

    form = array.type
    if pa.types.is_dictionary(form):
        array, form = array.cast(form.value_type), form.value_type
    text = pa.types.is_string(form) or pa.types.is_large_string(form)
    if kind in ("category", "text") and pa.types.is_floating(form):
        numbers = _integers(array.fill_null(0).to_numpy())  # 3.0 is the category "3"
        if numbers.dtype.kind == "i":
            array = array.cast(pa.int64())
    if pa.types.is_boolean(form) or (kind in ("category", "text") and not text and not pa.types.is_nested(form)):
        array, text = array.cast(pa.string()), True
    if text:
        texts = empty_as_missing(array)
        return (
            _text_column(texts, kind)
            if kind not in ("number", "date")
            else column_of_texts(texts.fill_null(""), name, TextFormat(), kind)
        )
    if pa.types.is_integer(form) or pa.types.is_floating(form) or pa.types.is_decimal(form) or pa.types.is_null(form):
        return Column(_integers(array.cast(pa.float64()).to_numpy()), "number")
    if pa.types.is_timestamp(form) or pa.types.is_date(form):
        zone = getattr(form, "tz", None)
        return Column(array.cast(pa.timestamp("us", zone), safe=False).to_numpy().astype("<M8[us]"), "date")
    raise DataError(f"the column {name!r:.60} has values of {form}, which no table holds: leave it out by columns=")


def empty_as_missing(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts, of which empty ones and those of spaces are missing."""
    import pyarrow as pa

    pc = _compute()

    return pc.if_else(pc.equal(pc.utf8_trim_whitespace(array), ""), pa.scalar(None, array.type), array)


def column_of_values(values: Any, name: str, kind: Kind | None = None) -> Column:
    """A column of Python values, or an array: texts are categories or texts, dates if all are such as 2026-03-01."""
    import pyarrow as pa

    plain = values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind not in "M" else values
    try:
        array = pa.array(_plain(plain), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"the column {name!r:.60} wants numbers, texts or dates: {error}") from None
    chunked = pa.chunked_array([array])
    if kind is None and (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        dates = _as_dates(empty_as_missing(chunked), None)
        if dates is not None:
            return Column(dates, "date")
    return column_of_arrow(chunked, name, kind)


def _compute() -> Any:
    import pyarrow.compute  # its functions come into being at run time

    return pyarrow.compute


def _plain(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.astype("<M8[us]")
    if isinstance(values, Sequence):
        return [value.item() if isinstance(value, np.generic) else _standard(value) for value in values]
    return [_standard(value) for value in values]


def _standard(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    return value


def _as_numbers(texts: Any, decimal: str) -> np.ndarray | None:
    import pyarrow as pa

    pc = _compute()

    if decimal != ".":
        texts = pc.replace_substring(texts, decimal, ".")
    try:
        return _integers(texts.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return None


def _as_dates(texts: Any, form: str | None) -> np.ndarray | None:
    import pyarrow as pa

    pc = _compute()

    if texts.null_count == len(texts):
        return None
    if form is not None:
        try:
            return pc.strptime(texts, format=form, unit="us").to_numpy().astype("<M8[us]")
        except pa.ArrowException:
            return None
    for zone in (None, "UTC"):
        try:
            return texts.cast(pa.timestamp("us", zone)).to_numpy().astype("<M8[us]")
        except pa.ArrowException:
            continue
    return None


def _integers(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers as int64 where none is missing or too large for a float64."""
    with np.errstate(invalid="ignore"):
        whole = bool((np.isfinite(numbers) & (np.abs(numbers) < 2**53) & (numbers == np.round(numbers))).all())
    return numbers.astype("int64") if whole and len(numbers) else np.array(numbers)


def _text_column(texts: Any, kind: Kind | None) -> Column:
    """A column of texts: categories if there are few, or most occur several times."""
    encoded = texts.combine_chunks().dictionary_encode()
    if hasattr(encoded, "chunks"):
        encoded = encoded.combine_chunks()
    names = np.array([*encoded.dictionary.to_pylist(), None], object)
    values = names[encoded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)]
    many = len(names) - 1 > max(_FEW, len(texts) / 2)
    return Column(values, kind or ("text" if many else "category"))


def _wrong(known: Any, form: TextFormat, kind: str) -> str:
    """The first value that is not of the kind."""
    import pyarrow as pa

    for value in known.drop_null().to_pylist():
        one = pa.chunked_array([[value]], pa.string())
        if (_as_numbers(one, form.decimal) if kind == "number" else _as_dates(one, form.date)) is None:
            return f"{value!r:.60}"
    return "a missing value"
