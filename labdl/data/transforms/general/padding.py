"""Arrays and lists of sequences, filled up to a shape."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Tokens
from labdl.data.transforms.sample_parts import array_of, like, part_at, replace, select
from labdl.data.transforms.transform import Transform, transform
from labdl.errors import ConfigError, DataError

Number = bool | int | float
_LARGEST = 1 << 30  # elements of an array that a setting asks for


@transform({"pad_shape": (4,), "key": "labels"})
class PadEnd(Transform):
    """Fill up the end of each axis, or cut it, to the shape ``pad_shape``. Source: mindspore.dataset.transforms.PadEnd.

    None in ``pad_shape`` leaves an axis. Tokens are padded with the text ``pad_value``. ``mask`` names a further entry of
    the dictionary, which is true where there is no padding.
    """

    pad_shape: tuple[Annotated[int, Ge(0)] | None, ...]
    pad_value: Number | str = 0
    key: str | None = None
    mask: str | None = None

    def check_settings(self) -> None:
        if np.prod([float(size or 1) for size in self.pad_shape]) > _LARGEST:
            raise ConfigError(f"PadEnd wants a shape of at most {_LARGEST:,} elements, received {self.pad_shape}")
        if self.mask is not None and self.key is None:
            raise ConfigError("PadEnd with a mask wants the key of the part in a dictionary")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        part = select(self, sample, self.key)
        shape = (len(part),) if isinstance(part, Tokens) else array_of(self, part).shape
        if len(shape) != len(self.pad_shape):
            raise DataError(
                f"PadEnd to {self.pad_shape} wants an array of {len(self.pad_shape)} axes, received the shape {shape}"
            )
        wanted = tuple(have if size is None else size for have, size in zip(shape, self.pad_shape, strict=True))
        kept = tuple(slice(min(have, size)) for have, size in zip(shape, wanted, strict=True))
        result = replace(sample, self.key, self._pad(part, wanted, kept))
        if self.mask is not None:
            mask = np.zeros(wanted, "bool")
            mask[kept] = True
            result[self.mask] = mask
        return result

    def _pad(self, part: Any, wanted: tuple[int, ...], kept: tuple[slice, ...]) -> Any:
        if isinstance(part, Tokens):
            return Tokens([*part[kept[0]], *[str(self.pad_value)] * (wanted[0] - len(part))])
        array = array_of(self, part)
        value = self.pad_value
        if array.dtype.kind in "US":
            filled = np.full(wanted, str(value), np.result_type(array.dtype, np.array(str(value)).dtype))
        elif isinstance(value, str):
            raise DataError(f"PadEnd with {value!r:.40} wants texts, received {array.dtype}")
        else:
            filled = np.full(wanted, value, array.dtype)
        filled[kept] = array[kept]
        return like(part, filled)


@transform({"key": "sequences"})
class RaggedToPadded(Transform):
    """Make one array of a list of sequences of different lengths. Source: tf.RaggedTensor.to_tensor.

    ``length`` is by default that of the longest; longer sequences are cut. ``mask`` names a further entry of the
    dictionary, which is true where there is no padding.
    """

    length: Annotated[int, Ge(0)] | None = None
    value: Number = 0
    key: str | None = None
    mask: str | None = None

    def check_settings(self) -> None:
        if self.mask is not None and self.key is None:
            raise ConfigError("RaggedToPadded with a mask wants the key of the part in a dictionary")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        rows = part_at(self, sample, self.key) if self.key is not None else sample
        try:
            arrays = [np.asarray(row) for row in rows]
        except (TypeError, ValueError):
            arrays = []
        if not isinstance(rows, list | tuple | np.ndarray) or any(
            a.ndim != 1 or a.dtype.kind not in "biuf" for a in arrays
        ):
            raise DataError(f"RaggedToPadded wants a list of sequences of numbers, received {rows!r:.80}")
        length = max((len(a) for a in arrays), default=0) if self.length is None else self.length
        dtype = (
            np.result_type(*arrays, np.asarray(self.value) if isinstance(self.value, float) else 0)
            if arrays
            else "int64"
        )
        padded = np.full((len(arrays), length), self.value, dtype)
        mask = np.zeros(padded.shape, "bool")
        for at, array in enumerate(arrays):
            kept = min(len(array), length)
            padded[at, :kept] = array[:kept]
            mask[at, :kept] = True
        result = replace(sample, self.key, padded) if self.key is not None else padded
        if self.mask is not None:
            result[self.mask] = mask
        return result
