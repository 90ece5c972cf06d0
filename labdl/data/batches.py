"""Batches: the samples' arrays stacked into arrays of the memory layout that models take."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from labdl.data.parts import Audio, BoundingBoxes, Image, KeyPoints, Mask, Spectrogram, TokenIds, Video
from labdl.data.slots import ALIGNMENT
from labdl.errors import DataError

DataFormat = Literal["channels_first", "channels_last"]
Allocate = Callable[[tuple[int, ...], np.dtype], np.ndarray]


class Rows(NamedTuple):
    """An array of a batch whose rows have been written, and the views of them that its samples hold."""

    array: np.ndarray
    views: list[np.ndarray | None]


# one of these for each object: samples of one batch may have other numbers of them
_PER_OBJECT = (BoundingBoxes, KeyPoints, Mask)
_VARYING = (Audio, Spectrogram, TokenIds, Video)


def allocate(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array whose values begin at a multiple of 64 bytes, so that every framework takes it without a copy."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def stack_samples(
    samples: Sequence[Any],
    *,
    data_format: DataFormat = "channels_first",
    pad: float | None = None,
    allocate: Allocate = allocate,
    rows: Mapping[str, Rows] = MappingProxyType({}),
) -> Any:
    """One batch of samples of the same structure: arrays get a first axis of samples.

    Pictures (height, width, channels) become (N, channels, height, width), clips (N, channels, frames, height, width), unless
    ``data_format`` is "channels_last". Integers become int64, floating-point numbers of Python float32, texts arrays of
    strings, bytes lists. Boxes, key points and masks of objects, and other entries of which samples have different numbers,
    become lists of arrays. ``pad`` is the value with which arrays are padded at the end to the longest of the batch, masks
    (bool) with False. ``rows`` are arrays of entries that have been written already, see `labdl.data.batch_rows`.
    Raises DataError for samples of different structure or shape, which names the entry.
    """
    return _stack(list(samples), _Options(data_format, pad, allocate, rows), "")


class _Options:
    def __init__(self, data_format: DataFormat, pad: float | None, allocate: Allocate, rows: Mapping[str, Rows]):
        self.first, self.pad, self.allocate, self.rows = data_format == "channels_first", pad, allocate, rows


def _stack(samples: list[Any], options: _Options, entry: str) -> Any:
    first = samples[0]
    if isinstance(first, Mapping):
        for sample in samples:
            if not isinstance(sample, Mapping) or sample.keys() != first.keys():
                raise DataError(
                    f"the samples of a batch have different entries: {_keys(first)} and {_keys(sample)}: give all of them the "
                    "same ones"
                )
        counts = _object_counts(first)
        return {
            name: _stack([s[name] for s in samples], options, f"{entry}[{name!r}]")
            if name not in counts
            else [np.asarray(s[name]) for s in samples]
            for name in first
        }
    if type(first) is tuple or (type(first) is list and any(isinstance(v, np.ndarray) for v in first)):
        if any(type(s) is not type(first) or len(s) != len(first) for s in samples):
            raise DataError("the samples of a batch are tuples of different lengths: give all of them the same")
        return type(first)(
            _stack(list(values), options, f"{entry}[{at}]") for at, values in enumerate(zip(*samples, strict=True))
        )
    return _stack_part(samples, options, entry)


def _object_counts(sample: Mapping[str, Any]) -> set[str]:
    """Names of the entries that have a row for each object of the sample."""
    boxes = next((v for v in sample.values() if isinstance(v, BoundingBoxes)), None)
    if boxes is None:
        return set()
    return {
        name
        for name, value in sample.items()
        if isinstance(value, _PER_OBJECT)
        or (isinstance(value, np.ndarray) and not isinstance(value, Image | Video) and value.shape[:1] == (len(boxes),))
    }


def _stack_part(samples: list[Any], options: _Options, entry: str) -> Any:
    first = samples[0]
    if first is None:
        return None
    written = options.rows.get(entry)
    if written is not None and len(samples) == len(written.views) and all(map(operator.is_, samples, written.views)):
        return written.array
    if isinstance(first, str):
        return np.array([str(s) for s in samples])
    if isinstance(first, bytes):  # arrays of bytes lose zeros at the end
        return list(samples)
    if isinstance(first, Image | Video) and options.first:
        return _channels_first(samples, options, entry)
    if isinstance(first, np.ndarray | np.generic | bool):
        arrays = [np.asarray(s) for s in samples]
    elif isinstance(first, int):
        arrays = [np.asarray(s, "int64") for s in samples]
    elif isinstance(first, float):
        arrays = [np.asarray(s, "float32") for s in samples]
    elif isinstance(first, list) and all(isinstance(v, str) for v in first):
        return list(samples)
    else:
        try:
            arrays = [np.asarray(s) for s in samples]
        except (ValueError, TypeError, RuntimeError) as error:
            raise DataError(f"samples{entry} cannot be read as arrays: {error}") from None
        if arrays[0].dtype == object:
            raise DataError(
                f"samples{entry} hold {type(first).__name__}, which is no array: convert it with Dataset.map"
            )
    return _stack_arrays(arrays, options, entry, isinstance(first, _VARYING))


def _stack_arrays(arrays: list[np.ndarray], options: _Options, entry: str, varying: bool) -> np.ndarray:
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if any(a.shape != shape for a in arrays):
        if options.pad is None:
            raise _different_shapes(arrays, entry, varying)
        shape = _common_shape(arrays, entry)
        batch = options.allocate((len(arrays), *shape), dtype)
        batch[...] = False if dtype == np.bool_ else options.pad
        for row, array in zip(batch, arrays, strict=True):
            row[tuple(map(slice, array.shape))] = array
        return batch
    if any(a.dtype != dtype for a in arrays):
        dtype = np.result_type(*arrays)
    batch = options.allocate((len(arrays), *shape), dtype)
    for at, array in enumerate(arrays):
        batch[at] = array
    return batch


def _common_shape(arrays: list[np.ndarray], entry: str) -> tuple[int, ...]:
    if any(a.ndim != arrays[0].ndim for a in arrays):
        raise DataError(f"samples{entry} have different numbers of axes: {arrays[0].shape} and others")
    return tuple(map(max, zip(*(a.shape for a in arrays), strict=True)))


def _different_shapes(arrays: list[np.ndarray], entry: str, varying: bool) -> DataError:
    other = next(a for a in arrays if a.shape != arrays[0].shape)
    hint = "pad=0 in the Loader, or a transform that cuts them" if varying else "add a transform such as T.Resize(size)"
    return DataError(f"samples{entry} of a batch have different shapes, {arrays[0].shape} and {other.shape}: {hint}")


def _channels_first(samples: list[Any], options: _Options, entry: str) -> np.ndarray:
    shape, dtype = samples[0].shape, samples[0].dtype
    if any(type(s) is not type(samples[0]) or s.shape != shape for s in samples):
        if options.pad is None:
            raise _different_shapes([np.asarray(s) for s in samples], entry, isinstance(samples[0], Video))
        shape = _common_shape([np.asarray(s) for s in samples], entry)
    moved = (shape[-1], *shape[:-1])
    batch = options.allocate((len(samples), *moved), dtype)
    for row, sample in zip(batch, samples, strict=True):
        if sample.shape == shape:
            write_channels_first(sample.view(np.ndarray), row)
        else:
            row[...] = options.pad
            own = np.moveaxis(sample.view(np.ndarray), -1, 0)
            row[tuple(map(slice, own.shape))] = own
    return batch


def write_channels_first(source: np.ndarray, target: np.ndarray) -> None:
    """Write a picture (height, width, channels), or a clip, into an array whose channels are the first axis."""
    moved = np.moveaxis(source, -1, 0)
    if (
        source.ndim == 3
        and 2 <= len(moved) <= 4
        and source.dtype in _SPLIT
        and source.size
        and moved.strides[-1] != source.itemsize
    ):
        import cv2  # imported lazily: NumPy alone serves other data

        cv2.split(np.ascontiguousarray(source), list(target))  # ten times as fast as a transposed copy
    else:
        np.copyto(target, moved)


_SPLIT = (np.dtype("uint8"), np.dtype("float32"))


def _keys(sample: Any) -> str:
    return ", ".join(map(str, sample)) if isinstance(sample, Mapping) else type(sample).__name__
