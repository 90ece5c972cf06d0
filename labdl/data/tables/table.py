"""Tables as data sets: columns of CSV and Parquet files with missing values, in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.folders.label_column import LABELS, find_column, join_names
from labdl.data.parts import Text
from labdl.data.tables.column import (
    KINDS,
    MISSING,
    Column,
    Kind,
    TextFormat,
    column_of_arrow,
    column_of_texts,
    column_of_values,
)
from labdl.data.tables.labels import known_rows, read_label_column
from labdl.data.tables.table_files import read_csv, read_parquet
from labdl.errors import ConfigError, DataError, FileFormatError, suggest_name


class Table(Dataset):
    """Rows of a table: dictionaries of numbers, categories, dates and texts, with None where a value is missing.

    ``source`` is a .csv, .tsv or .parquet file, a dictionary of columns, or a DataFrame of pandas; all of it is in memory.
    ``label`` names the column that is to be predicted, by default label, class or target if there is one (False: none): it is
    the entry "label" of a row. Texts, and whole numbers with at most 20 different values, are class numbers in the order of
    ``classes`` or of the alphabet; other numbers are float32. Rows without a label are an error, or left out with
    ``drop_unlabeled``.

    Each column has a kind in `kinds`: "number", "date" if all values are such as 2026-03-01 or 2026-03-01 12:30 (UTC), else
    "text" if most rows have texts of their own, else "category". ``kinds`` chooses others, such as ``{"zip": "category"}``;
    ``columns`` are those to read. For CSV: ``missing`` are texts that stand for a missing value, ``decimal`` is the decimal
    point, ``date_format`` as in ``strptime``, ``delimiter`` by default the most frequent of comma, semicolon and tab,
    ``column_names`` for a file whose first line has none, ``encoding`` such as "gb18030".

    Parts of a table are tables: `T.TablePreprocessor` is fitted to the training part::

        train, test = data.Table("wine.csv", label="class").split(0.8, stratify=True)
        prepare = T.TablePreprocessor().fit(train)
        trainer.fit(train.map(prepare), validation=test.map(prepare))

    As pandas.read_csv. Raises MissingFileError, FileFormatError, ConfigError for columns that there are not.
    """

    targets = ("label",)

    def __init__(
        self,
        source: str | Path | Mapping[str, Any] | Any,
        *,
        label: str | Literal[False] | None = None,
        columns: Sequence[str] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        classes: Sequence[str] | None = None,
        drop_unlabeled: bool = False,
        missing: Sequence[str] = MISSING,
        decimal: str = ".",
        date_format: str | None = None,
        delimiter: str | None = None,
        column_names: Sequence[str] | None = None,
        encoding: str = "utf-8",
    ):
        kinds = dict(kinds or {})
        for name, kind in kinds.items():
            if kind not in KINDS:
                raise ConfigError(f"kinds wants {', '.join(KINDS)}, received {kind!r:.40} for {name!r:.60}")
        wanted: list[str] | None = None
        if columns is not None:
            wanted = [*columns, *([label] if label and label not in columns else [])]
        if isinstance(source, str | Path):
            file = Path(source)
            self.name = file.stem
            form = TextFormat(tuple(missing), decimal, date_format)
            found = _read_file(
                file, wanted, kinds, form, {"encoding": encoding, "delimiter": delimiter, "names": column_names}
            )
        else:
            self.name = "table"
            found = _read_values(source, wanted, kinds)
        unknown = next((name for name in kinds if name not in found), None)
        if unknown is not None:
            raise ConfigError(
                f"{self.name} has the columns {join_names(list(found))}, received kinds with {unknown!r:.60}"
                f"{suggest_name(unknown, found)}"
            )
        self.label = None if label is False else find_column("label", label, list(found), LABELS, self.name)
        self._take_label(found, kinds, classes, drop_unlabeled)

    def _take_label(
        self,
        found: dict[str, Column],
        kinds: Mapping[str, Kind],
        classes: Sequence[str] | None,
        drop: bool,
    ) -> None:
        label = self.label
        self.classes, self.targets = None, ("label",) if label else ()
        self._labels: np.ndarray | None = None
        if label is not None:
            column = found.pop(label)
            if "label" in found:
                raise ConfigError(
                    f"{self.name} has a column 'label' beside the label {label!r:.60}: leave it out by columns="
                )
            if column.missing:
                known = known_rows(column)
                if not drop:
                    raise FileFormatError(
                        f"{self.name}: row {int(np.argmin(known)) + 1:,} has no label in {label!r:.60}: fill it, or leave such "
                        "rows out with drop_unlabeled=True"
                    )
                column = column_of_values(column.values[known], label, column.kind)
                found = {name: c.select(np.flatnonzero(known)) for name, c in found.items()}
            self.classes, self._labels = read_label_column(column, label, kinds.get(label), classes, self.name)
        elif classes is not None:
            raise ConfigError(f"classes= names the classes of a label, of which {self.name} has none: label=")
        self.columns: dict[str, Column] = found
        self._length = len(self._labels) if self._labels is not None else _length(found, self.name)
        if not self._length:
            raise FileFormatError(f"{self.name} has no rows")

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each column but the label."""
        return {name: column.kind for name, column in self.columns.items()}

    @property
    def missing(self) -> dict[str, int]:
        """The number of missing values of the columns that have some."""
        return {name: column.missing for name, column in self.columns.items() if column.missing}

    def to_columns(self) -> dict[str, np.ndarray]:
        """The values of each column (rows,), and "label"."""
        found = {name: column.values for name, column in self.columns.items()}
        return found if self._labels is None else {**found, "label": self._labels}

    def __len__(self) -> int:
        return self._length

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        row = {name: _value(column, index) for name, column in self.columns.items()}
        if self._labels is not None:
            label = self._labels[index]
            row["label"] = int(label) if label.dtype.kind == "i" else label
        return row

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self._labels is None else self._labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self._labels is None else self._labels

    def select(self, indices: Any) -> Table:
        """The rows at some indices, as a table."""
        from labdl.data.flow.selection import SelectedDataset

        places = np.asarray(SelectedDataset(self, indices).indices, np.int64)
        part = object.__new__(Table)
        part.__dict__.update(self.__dict__)
        part.columns = {name: column.select(places) for name, column in self.columns.items()}
        part._labels = None if self._labels is None else self._labels[places]
        part._length = len(places)
        return part

    def filter(self, condition: Callable[[Any], bool]) -> Table:
        """The rows for which a function returns True, as a table."""
        if not callable(condition):
            raise ConfigError(f"filter wants a function of a row, received {condition!r:.80}")
        return self.select(np.array([bool(condition(row)) for row in self], bool))

    def map(self, transforms: Any, *, seed: int = 0) -> Dataset:
        """As `Dataset.map`; transforms of columns that are fitted change the whole table at once, at the first row."""
        from labdl.data.tables.mapped_table import MappedTable

        return MappedTable.create(super().map(transforms, seed=seed))


def as_table(rows: Any) -> Table:
    """Rows, a dictionary of columns or a DataFrame as a table without label; a table as it is."""
    if isinstance(rows, Table):
        return rows
    table: Any = rows.to_columns() if hasattr(rows, "to_columns") else rows
    if hasattr(table, "columns") and hasattr(table, "to_dict"):  # a DataFrame
        table = {str(name): table[name] for name in table.columns}
    if not isinstance(table, Mapping):
        listed: list[Any] = [row[0] if isinstance(row, tuple) and row else row for row in table]
        if not listed or not all(isinstance(row, Mapping) for row in listed):
            raise DataError("a table wants rows that are dictionaries of columns")
        table = {name: [row.get(name) for row in listed] for name in listed[0]}
    return Table({name: values for name, values in table.items() if name not in ("label", "target")}, label=False)


def _read_file(
    file: Path, wanted: list[str] | None, kinds: Mapping[str, Kind], form: TextFormat, settings: dict[str, Any]
) -> dict[str, Column]:
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".tsv", ".txt", ".parquet"):
        raise ConfigError(f"Table reads .csv, .tsv, .txt and .parquet files, received {file.name}")
    try:
        if suffix == ".parquet":
            table = read_parquet(file, columns=wanted)
            return {n: column_of_arrow(table.column(n), n, kinds.get(n)) for n in table.column_names}
        table = read_csv(file, columns=wanted, **settings)
        return {n: column_of_texts(table.column(n), n, form, kinds.get(n)) for n in table.column_names}
    except DataError as error:
        raise FileFormatError(f"{file.name}: {error}") from None


def _read_values(source: Any, wanted: list[str] | None, kinds: Mapping[str, Kind]) -> dict[str, Column]:
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a DataFrame
        source = {str(name): source[name] for name in source.columns}
    if not isinstance(source, Mapping):
        raise ConfigError(
            f"Table wants a file, a dictionary of columns or a DataFrame, received {type(source).__name__}"
        )
    for name in wanted or ():
        if name not in source:
            raise ConfigError(f"the table has the columns {join_names(list(source))}, received {name!r:.60}")
    chosen = source if wanted is None else {name: source[name] for name in wanted}
    return {
        str(name): column_of_values(_sequence(values), str(name), kinds.get(name)) for name, values in chosen.items()
    }


def _sequence(values: Any) -> Any:
    return (
        values
        if isinstance(values, np.ndarray | list | tuple)
        else values.tolist()
        if hasattr(values, "tolist")
        else list(values)
    )


def _length(columns: Mapping[str, Column], name: str) -> int:
    lengths = {len(column.values) for column in columns.values()}
    if len(lengths) != 1:
        raise DataError(f"{name} wants columns of one length, received {sorted(lengths)}")
    return lengths.pop()


def _value(column: Column, index: int) -> Any:
    value = column.values[index]
    if column.kind == "text":
        return None if value is None else Text(value)
    if column.kind == "category":
        return value
    plain = value.item()
    return None if plain is None or plain != plain else plain
