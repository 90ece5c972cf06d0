"""A whole table as numbers: missing values filled, numbers scaled, categories, dates and texts encoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge

from labdl.data.transforms.sample_parts import replace
from labdl.data.transforms.serialization import from_dict, to_dict
from labdl.data.transforms.table.categories import OneHotEncode, OrdinalEncode
from labdl.data.transforms.table.columns import ColumnTransform, is_missing
from labdl.data.transforms.table.dates import DateParts, Name
from labdl.data.transforms.table.scaling import Impute, MinMax, Quantile, Standardize
from labdl.data.transforms.text.vectorization import TextVectorization
from labdl.data.transforms.transform import Transform, transform
from labdl.errors import ConfigError, DataError, suggest_name

_KINDS = ("number", "category", "date", "text")
Columns = dict[str, np.ndarray]


@transform
class TablePreprocessor(Transform):
    """Make one array "features" of the columns of a row: numbers, categories, dates and texts; fitted to the training part.

    Missing numbers are filled by ``impute`` and scaled by ``scale``; ``indicator`` adds a column of 0 and 1 for each column
    that has missing values in the training part. Categories become 0 and 1, an unknown one zeros ("one_hot"), or numbers
    beside the features, ``"categories"`` int64 (columns,), for an embedding of each ("ordinal"; `cardinalities` are their
    counts, an unknown one being the last). Dates become numbers (``date_parts``), texts tf-idf of ``max_tokens`` words.
    ``columns`` are those to use, by default all but "label"; a row keeps the others. The kinds of columns are those of
    `data.Table`; ``feature_names`` says what each number is.

    Example: ``prepare = T.TablePreprocessor().fit(train)``; ``trainer.fit(train.map(prepare))``.
    Source: sklearn.compose.ColumnTransformer.
    """

    on_columns: ClassVar[bool] = True

    impute: Literal["mean", "median", "most_frequent"] = "mean"
    scale: Literal["standard", "min_max", "quantile", "none"] = "standard"
    encode: Literal["one_hot", "ordinal"] = "one_hot"
    indicator: bool = False
    date_parts: tuple[Name, ...] = ("year", "month", "day", "weekday")
    max_tokens: Annotated[int, Ge(2)] = 256
    columns: tuple[str, ...] | None = None

    def check_settings(self) -> None:
        self._kinds: dict[str, str] = {}
        self._stages: dict[str, list[Any]] = {}
        self._gaps: list[str] = []  # columns that have an indicator
        self.feature_names: tuple[str, ...] = ()
        self.cardinalities: tuple[int, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the entries that a model takes."""
        ordinal = self.encode == "ordinal" and (not self._kinds or self._of("category"))
        return ("features", "categories") if ordinal else ("features",)

    # -- fitting

    @property
    def is_fitted(self) -> bool:
        """Whether the transform knows the columns and what it changes them by."""
        return bool(self._kinds)

    def fit(self, rows: Any) -> Self:
        """Fit to a `data.Table`, rows, a dictionary of columns or a DataFrame; returns the transform."""
        from labdl.data.tables.table import as_table

        table = as_table(rows)
        names = list(table.kinds) if self.columns is None else list(self.columns)
        for name in names:
            if name not in table.kinds:
                raise DataError(
                    f"TablePreprocessor: there is no column {name!r:.60}, the columns are "
                    f"{', '.join(list(table.kinds)[:20])}{suggest_name(name, table.kinds)}"
                )
        columns = {name: table.columns[name].values for name in names}
        for name in names:
            if table.columns[name].missing == len(table):
                raise DataError(
                    f"TablePreprocessor: the column {name!r:.60} has no values in the training part: choose others by columns="
                )
        self._kinds = {name: table.kinds[name] for name in names}
        self._gaps = [name for name in names if self.indicator and table.columns[name].missing]
        self._stages = {}
        dates, categories = self._of("date"), self._of("category")
        if dates:
            self._stages["dates"] = [DateParts(tuple(dates), parts=self.date_parts).fit(columns)]
            columns = self._with_dates(columns)
        numbers = self._numbers()
        if numbers:
            fill = Impute(tuple(numbers), strategy=self.impute).fit(columns)
            columns = fill(columns)
            self._stages["numbers"] = [fill, *[scale.fit(columns) for scale in self._scaler(numbers)]]
        if categories:
            encode = (
                OneHotEncode(tuple(categories), handle_unknown="ignore")
                if self.encode == "one_hot"
                else OrdinalEncode(tuple(categories), handle_unknown="use_encoded_value")
            )
            self._stages["categories"] = [encode.fit(columns)]
        texts = self._of("text")
        if texts:
            self._stages["texts"] = [
                TextVectorization(self.max_tokens, output_mode="tf_idf").fit([_text(v) for v in columns[name]])
                for name in texts
            ]
        self._name_features()
        return self

    def _scaler(self, numbers: list[str]) -> list[ColumnTransform]:
        kinds = {"standard": Standardize, "min_max": MinMax, "quantile": Quantile}
        return [] if self.scale == "none" else [kinds[self.scale](tuple(numbers))]

    def _of(self, kind: str) -> list[str]:
        return [name for name, own in self._kinds.items() if own == kind]

    def _numbers(self) -> list[str]:
        """Columns of numbers, those of parts of dates behind the others."""
        return [*self._of("number"), *[f"{name}_{part}" for name in self._of("date") for part in self.date_parts]]

    def _name_features(self) -> None:
        names = [*self._numbers(), *[f"{name}_missing" for name in self._gaps]]
        if "categories" in self._stages:
            known = self._stages["categories"][0]._fitted
            if self.encode == "one_hot":
                names += [f"{column}={value}" for column, values in known.items() for value in values]
            self.cardinalities = tuple([len(values) + 1 for values in known.values()])
        for column, stage in zip(self._of("text"), self._stages.get("texts", ()), strict=True):
            names += [f"{column}:{word}" for word in ("(other words)", *stage.vocabulary)]
        self.feature_names = tuple(names)

    # -- files

    def state_dict(self) -> dict[str, Any]:
        """Plain values: the kinds of columns, and the transforms of each kind with what they are fitted to."""
        if not self._kinds:
            return {}
        stages = {name: [to_dict(stage) for stage in stages] for name, stages in self._stages.items()}
        return {"kinds": dict(self._kinds), "missing": list(self._gaps), "stages": stages}

    def load_state_dict(self, state: Any) -> None:
        """Restore the values of `state_dict`. Raises ConfigError for a state of another shape."""
        try:
            kinds, gaps = dict(state["kinds"]), list(state["missing"])
            stages = {str(name): [from_dict(one) for one in listed] for name, listed in state["stages"].items()}
            if not set(kinds.values()) <= set(_KINDS) or not set(gaps) <= set(kinds):
                raise ValueError("kinds of columns")
            self._kinds, self._gaps, self._stages = kinds, gaps, stages
            self._check_stages()
            self._name_features()
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            self.check_settings()
            raise ConfigError(f"TablePreprocessor cannot use its state: {error!r:.200}") from None

    def _check_stages(self) -> None:
        expected: dict[str, list[Any]] = {}
        if self._of("date"):
            expected["dates"] = [DateParts]
        if self._numbers():
            expected["numbers"] = [Impute, *map(type, self._scaler(self._numbers()))]
        if self._of("category"):
            expected["categories"] = [OneHotEncode if self.encode == "one_hot" else OrdinalEncode]
        if self._of("text"):
            expected["texts"] = [TextVectorization] * len(self._of("text"))
        if {name: list(map(type, stages)) for name, stages in self._stages.items()} != expected:
            raise ValueError("transforms of other columns")

    # -- rows

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self._kinds:
            raise ConfigError("TablePreprocessor has to be fitted to the training part first: write fit(train)")
        row = sample[0] if type(sample) in (tuple, list) and sample else sample
        if not isinstance(row, Mapping):
            raise DataError(f"TablePreprocessor wants a row, a dictionary of columns, received {row!r:.80}")
        for name in self._kinds:
            if name not in row:
                raise DataError(
                    f"TablePreprocessor: the row has no column {name!r:.60}, but {', '.join(map(str, list(row)[:20]))}: "
                    "None stands for a missing value"
                )
        single = not all(isinstance(row[name], np.ndarray) and row[name].ndim == 1 for name in self._kinds)
        columns = {name: _one(row[name]) if single else row[name] for name in self._kinds}
        columns |= {name: _as_texts(columns[name]) for name in self._of("category")}
        result = self._transform(columns)
        if single:
            result = {name: values[0] for name, values in result.items()}
        result |= {name: value for name, value in row.items() if name not in self._kinds and name not in result}
        return result if row is sample else replace(sample, None, result)

    def _transform(self, columns: Columns) -> Columns:
        rows = len(next(iter(columns.values())))
        numbers = [_missing(columns[name])[:, None].astype("float32") for name in self._gaps]
        columns = self._with_dates(columns)
        for stage in self._stages.get("numbers", ()):
            columns = stage(columns)
        parts = [np.asarray(columns[name], "float32")[:, None] for name in self._numbers()] + numbers
        result: Columns = {}
        for stage in self._stages.get("categories", ()):
            columns = stage({name: columns[name] for name in [*columns]})
            found = [columns[name] for name in self._of("category")]
            if self.encode == "one_hot":
                parts += found
            else:
                counts = np.array(self.cardinalities) - 1
                result["categories"] = np.where(np.stack(found, 1) < 0, counts, np.stack(found, 1)).astype("int64")
        for name, stage in zip(self._of("text"), self._stages.get("texts", ()), strict=True):
            parts.append(np.stack([stage(_text(value)) for value in columns[name]]))
        features = np.concatenate(parts, 1) if parts else np.zeros((rows, 0), "float32")
        return {"features": features.astype("float32", copy=False), **result}

    def _with_dates(self, columns: Columns) -> Columns:
        for stage in self._stages.get("dates", ()):
            columns = stage(columns)
            for name in self._of("date"):
                parts = columns.pop(name)
                columns |= {f"{name}_{part}": parts[:, at] for at, part in enumerate(self.date_parts)}
        return columns


def _one(value: Any) -> np.ndarray:
    """A column of one value."""
    column = np.empty(1, object)
    column[0] = value
    return column


def _as_texts(values: np.ndarray) -> np.ndarray:
    """Categories as `data.Table` has them: the number 3 is the text "3"."""
    texts = np.empty(len(values), object)
    texts[:] = [value if isinstance(value, str) or value is None else _as_text(value) for value in values]
    return texts


def _as_text(value: Any) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


def _missing(values: np.ndarray) -> np.ndarray:
    return np.array([is_missing(value) for value in values])


def _text(value: Any) -> str:
    return "" if value is None else str(value)
