"""Operations on arrays of a sample: fill, compare, cut, convert, join."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from labdl.data.parts import Tokens
from labdl.data.transforms.sample_parts import array_of, change, like, part_at, replace, select
from labdl.data.transforms.transform import Transform, transform
from labdl.errors import ConfigError, DataError

Number = bool | int | float
Dtype = Literal[
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"
]


@transform({"value": 0, "key": "labels"})
class Fill(Transform):
    """Replace every element of an array, dtype and shape as before. Source: mindspore.dataset.transforms.Fill.

    ``key`` names the part of a dictionary. Tokens are filled with a text.
    """

    value: Number | str
    key: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return change(self, sample, self.key, self._fill)

    def _fill(self, part: Any) -> Any:
        if isinstance(part, Tokens):
            return Tokens([str(self.value)] * len(part))
        array = array_of(self, part)
        if (array.dtype.kind in "US") != isinstance(self.value, str):
            raise DataError(f"Fill with {self.value!r:.40} wants an array of its kind, received {array.dtype}")
        if array.dtype.kind in "US":
            return np.full(array.shape, self.value)
        return like(part, np.full(array.shape, self.value).astype(array.dtype))


_RELATIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


@transform({"operator": "GT", "constant": 1, "key": "labels"})
class Mask(Transform):
    """Compare each element with a constant: true or false, or 1 and 0 of another dtype.

    ``into`` is the name of the result in a dictionary, by default that of the part.

    Source: mindspore.dataset.transforms.Mask.
    """

    operator: Literal["EQ", "NE", "LT", "LE", "GT", "GE"]
    constant: Number | str
    dtype: Dtype = "bool"
    key: str | None = None
    into: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        array = array_of(self, select(self, sample, self.key))
        if (array.dtype.kind in "US") != isinstance(self.constant, str):
            raise DataError(f"Mask with {self.constant!r:.40} wants an array of its kind, received {array.dtype}")
        mask = _RELATIONS[self.operator](array, self.constant).astype(self.dtype)
        return replace(sample, self.into or self.key, mask)


Range = tuple[int | None, int | None, int | None]


@transform({"slices": (0,), "key": "labels"})
class Slice(Transform):
    """Cut a part of an array, one entry of ``slices`` an axis. Source: mindspore.dataset.transforms.Slice.

    An entry is a position (the axis stays, with one element), (start, stop, step) as in ``a[start:stop:step]`` with None
    for what is left out, or None for the whole axis. Axes without an entry stay whole.
    """

    slices: tuple[int | Range | None, ...]
    key: str | None = None

    def check_settings(self) -> None:
        for one in self.slices:
            if isinstance(one, tuple) and one[2] == 0:
                raise ConfigError(f"Slice: a step wants to be other than 0, received {one}")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return change(self, sample, self.key, self._cut)

    def _cut(self, part: Any) -> Any:
        if isinstance(part, Tokens):
            return Tokens(np.array(part, object)[self._index((len(part),))])
        array = array_of(self, part)
        return like(part, array[self._index(array.shape)])

    def _index(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        if len(self.slices) > len(shape):
            raise DataError(f"Slice wants an array of at least {len(self.slices)} axes, received the shape {shape}")
        found = []
        for axis, one in enumerate(self.slices):
            if isinstance(one, int):
                if not -shape[axis] <= one < shape[axis]:
                    raise DataError(f"Slice wants position {one} of axis {axis}, received the shape {shape}")
                one = (one, one + 1 or None, None)
            found.append(slice(*(one or (None,))))
        return tuple(found)


@transform({"dtype": "float32", "key": "labels"})
class TypeCast(Transform):
    """Convert an array to another dtype, fractions cut off. Source: mindspore.dataset.transforms.TypeCast."""

    dtype: Dtype
    key: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return change(self, sample, self.key, self._cast)

    def _cast(self, part: Any) -> Any:
        array = array_of(self, part)
        if array.dtype.kind not in "biuf":
            raise DataError(f"TypeCast wants an array of numbers, received {array.dtype}: T.ToNumber reads texts")
        return like(part, array.astype(self.dtype, copy=False))


@transform({"key": "labels", "prepend": (0,)})
class Concatenate(Transform):
    """Join arrays along an axis: the parts ``keys`` of a dictionary, ``prepend`` before and ``append`` behind them.

    Numbers count as arrays of one element, which makes an input of the columns of a table. The result takes the place
    ``into``, by default the first of the keys; the others are removed. ``key`` is short for one key; without both, the
    sample itself. Source: mindspore.dataset.transforms.Concatenate.
    """

    keys: tuple[str, ...] = ()
    into: str | None = None
    axis: int = 0
    prepend: tuple[Number, ...] | None = None
    append: tuple[Number, ...] | None = None
    key: str | None = None

    def check_settings(self) -> None:
        if self.keys and self.key is not None:
            raise ConfigError("Concatenate wants either key or keys, received both")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self.keys:
            part = select(self, sample, self.key)
            return replace(sample, self.into or self.key, like(part, self._join([array_of(self, part)])))
        joined = self._join([array_of(self, part_at(self, sample, key)) for key in self.keys])
        return {**{k: v for k, v in sample.items() if k not in self.keys}, self.into or self.keys[0]: joined}

    def _join(self, arrays: list[np.ndarray]) -> np.ndarray:
        arrays = [np.atleast_1d(array) for array in arrays]
        for given, place in ((self.prepend, 0), (self.append, len(arrays) + 1)):
            if given is not None:
                arrays.insert(place, np.asarray(given).astype(arrays[0].dtype))
        try:
            return np.concatenate(arrays, self.axis)
        except ValueError as error:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise DataError(
                f"Concatenate along axis {self.axis} wants fitting shapes, received {shapes:.200}: {error}"
            ) from None


@transform({"key": "labels", "into": "copy"})
class Duplicate(Transform):
    """Copy a part of a dictionary to another name; without a key, return the sample twice.

    Source: mindspore.dataset.transforms.Duplicate.
    """

    key: str | None = None
    into: str = "copy"

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.key is None:
            return sample, _copy(sample)
        return {**sample, self.into: _copy(part_at(self, sample, self.key))}


def _copy(part: Any) -> Any:
    return part.copy() if isinstance(part, np.ndarray) else type(part)(part) if isinstance(part, Tokens) else part


@transform({"key": "labels", "into": "classes"})
class Unique(Transform):
    """Keep each element once, sorted; ``index`` and ``counts`` name entries for where each went and how many there were.

    Source: mindspore.dataset.transforms.Unique.
    """

    key: str | None = None
    into: str | None = None
    index: str | None = None
    counts: str | None = None

    def check_settings(self) -> None:
        if self.key is None and (self.index or self.counts):
            raise ConfigError("Unique with index or counts wants the key of a part of a dictionary")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        part = select(self, sample, self.key)
        array = np.asarray(part) if isinstance(part, Tokens) else array_of(self, part)
        values, index, counts = np.unique(array, return_inverse=True, return_counts=True)
        values = Tokens(values.tolist()) if isinstance(part, Tokens) else like(part, values)
        result = replace(sample, self.into or self.key, values)
        if self.index:
            result[self.index] = index.reshape(-1)
        if self.counts:
            result[self.counts] = counts
        return result
