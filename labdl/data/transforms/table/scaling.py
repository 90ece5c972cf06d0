"""Columns of numbers: missing values filled, scaled, made uniform or normal."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.transforms.table.columns import Column, ColumnTransform, Kind, is_missing
from labdl.data.transforms.transform import transform
from labdl.errors import ConfigError, DataError


@transform
class Standardize(ColumnTransform):
    """Subtract the mean of columns and divide by their standard deviation; float32.

    Fitted to the training part by ``fit(rows)``. Missing values stay NaN; a column of one value becomes 0. Source:
    sklearn.preprocessing.StandardScaler.
    """

    with_mean: bool = True
    with_std: bool = True

    def fit_column(self, values: list[Any], name: Column) -> Any:
        from sklearn.preprocessing import StandardScaler

        fitted: Any = StandardScaler().fit(_finite(self, values, name))
        return {"mean": float(fitted.mean_[0]), "scale": float(fitted.scale_[0])}

    def prepare(self, values: Any) -> tuple[float, float]:
        return float(values["mean"]) if self.with_mean else 0.0, float(values["scale"]) if self.with_std else 1.0

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        mean, scale = fitted
        return ((self.numbers(values, name) - mean) / scale).astype("float32")


@transform
class MinMax(ColumnTransform):
    """Scale columns so that the training part lies in ``feature_range``; float32. Source: sklearn.preprocessing.MinMaxScaler.

    ``clip`` cuts values outside of it. Missing values stay NaN; a column of one value becomes the lower bound.
    """

    feature_range: tuple[float, float] = (0.0, 1.0)
    clip: bool = False

    def check_settings(self) -> None:
        if not self.feature_range[0] < self.feature_range[1]:
            raise ConfigError(f"MinMax wants a feature_range from low to high, received {self.feature_range}")
        super().check_settings()

    def fit_column(self, values: list[Any], name: Column) -> Any:
        from sklearn.preprocessing import MinMaxScaler

        fitted = MinMaxScaler().fit(_finite(self, values, name))
        return {"min": float(fitted.data_min_[0]), "max": float(fitted.data_max_[0])}

    def prepare(self, values: Any) -> tuple[float, float]:
        low, high = float(values["min"]), float(values["max"])
        return low, (high - low) or 1.0

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        (low, width), (first, last) = fitted, self.feature_range
        scaled = (self.numbers(values, name) - low) / width * (last - first) + first
        return (np.clip(scaled, first, last) if self.clip else scaled).astype("float32")


@transform
class Quantile(ColumnTransform):
    """Replace numbers by their rank in the training part: uniform in 0 to 1, or normal; float32.

    The ranks between ``n_quantiles`` known ones are interpolated; of more than ``subsample`` rows that many are drawn.
    Missing values stay NaN. Source: sklearn.preprocessing.QuantileTransformer.
    """

    n_quantiles: Annotated[int, Ge(2)] = 1000
    output_distribution: Literal["uniform", "normal"] = "uniform"
    subsample: Annotated[int, Ge(2)] = 10_000

    def fit_column(self, values: list[Any], name: Column) -> Any:
        from sklearn.preprocessing import QuantileTransformer

        numbers = _finite(self, values, name)
        count = min(self.n_quantiles, len(numbers), self.subsample)
        fitted: Any = QuantileTransformer(n_quantiles=count, subsample=self.subsample, random_state=0).fit(numbers)
        return fitted.quantiles_[:, 0].tolist()

    def prepare(self, values: Any) -> tuple[np.ndarray, np.ndarray]:
        quantiles = np.array(values, "float64")
        if quantiles.ndim != 1 or len(quantiles) == 0 or (np.diff(quantiles) < 0).any():
            raise ValueError("quantiles want to be sorted numbers")
        return quantiles, np.linspace(0, 1, len(quantiles))

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        from scipy.special import ndtri

        quantiles, references = fitted
        numbers = self.numbers(values, name)
        # of equal quantiles, the mean of the first and the last rank
        ranks = 0.5 * (
            np.interp(numbers, quantiles, references) - np.interp(-numbers, -quantiles[::-1], -references[::-1])
        )
        ranks[numbers <= quantiles[0] if self.output_distribution == "uniform" else numbers - 1e-7 < quantiles[0]] = 0
        ranks[numbers >= quantiles[-1] if self.output_distribution == "uniform" else numbers + 1e-7 > quantiles[-1]] = 1
        if self.output_distribution == "normal":
            with np.errstate(invalid="ignore"):
                ranks = np.clip(ndtri(ranks), ndtri(1e-7 - np.spacing(1)), ndtri(1 - (1e-7 - np.spacing(1))))
        return ranks.astype("float32")


@transform
class Impute(ColumnTransform):
    """Fill missing values (NaN, None, empty texts) by what the training part has. Source: sklearn.impute.SimpleImputer.

    ``strategy`` "mean" and "median" are for numbers; "most_frequent" (of equally frequent ones the least) and "constant",
    which fills in ``fill_value``, for texts too. ``indicator`` adds columns NAME_missing of 0 and 1 to rows.
    """

    kind: ClassVar[Kind] = "number"

    strategy: Literal["mean", "median", "most_frequent", "constant"] = "mean"
    fill_value: str | int | float | None = None
    indicator: bool = False

    def check_settings(self) -> None:
        if (self.strategy == "constant") != (self.fill_value is not None):
            raise ConfigError(
                f'Impute wants fill_value with strategy="constant" and only there, received {self.fill_value!r:.40}'
            )
        super().check_settings()

    def _fits(self, values: list[Any]) -> bool:
        return self.strategy in ("most_frequent", "constant") or super()._fits(values)

    def fit_column(self, values: list[Any], name: Column) -> Any:
        if self.strategy == "constant":
            return self.fill_value
        if self.strategy == "most_frequent":
            counts = Counter(value for value in values if not is_missing(value))
            most = max(counts.values())
            found = min(value for value, count in counts.items() if count == most)
            return found.item() if isinstance(found, np.generic) else found
        from sklearn.impute import SimpleImputer

        numbers = self.numbers(values, name)[:, None]
        fitted: Any = SimpleImputer(strategy=self.strategy).fit(numbers)
        return float(fitted.statistics_[0])

    def change_column(self, values: Any, fitted: Any, name: Column) -> np.ndarray:
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not isinstance(fitted, str):
            return np.where(np.isnan(values), fitted, values).astype(values.dtype)
        filled = np.empty(len(values), object)
        filled[:] = [fitted if is_missing(value) else value for value in values]
        if isinstance(values, np.ndarray) and values.dtype.kind != "O":
            return filled.astype(values.dtype if not isinstance(fitted, str) else str)
        return filled

    def _change_row(self, row: Any) -> dict[Any, Any]:
        result = super()._change_row(row)
        if self.indicator:
            for column in self._fitted:
                value = row[column]
                gaps = [is_missing(one) for one in (value if isinstance(value, np.ndarray) else [value])]
                found = np.array(gaps, "float32")
                result[f"{column}_missing"] = found if isinstance(value, np.ndarray) else found[0]
        return result


def _finite(owner: ColumnTransform, values: list[Any], name: Column) -> np.ndarray:
    numbers = owner.numbers(values, name)
    if np.isinf(numbers).any():
        raise DataError(f"{type(owner).__name__}: the column {name!r} wants finite numbers, received an infinity")
    return numbers[:, None]
