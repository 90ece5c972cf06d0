"""Previews of single samples for dashboards: pictures, curves, numbers and texts (docs/runs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.runs.array_preview import LINES, POINTS, curve, number, picture
from labdl.train.data_adapter import flatten
from labdl.train.loaders import dataset_of

VALUES = 64  # largest number of values of a vector
TEXT = 1000  # characters


def preview(sample: Any, budget: int, words: list[str] | None = None) -> dict[str, Any]:
    """Preview of a sample, with a picture of at most ``budget`` bytes; of several arrays the first is used.

    ``words`` are the words of tokens by number.
    """
    leaves = flatten(sample)[0]
    if not leaves:
        return {"values": [], "shape": []}
    array = np.asarray(leaves[0])
    return {**_preview_array(array, budget, words), "shape": list(array.shape)}


def vocabulary(dataset: Any) -> list[str] | None:
    """Words of a data set's tokens by number, from its ``vocabulary``: a list, or a dictionary in either direction."""
    known: Any = dataset_attribute(dataset, "vocabulary")
    if isinstance(known, Mapping):
        pairs = [(k, v) if isinstance(k, str) else (v, k) for k, v in known.items()]
        if not all(isinstance(word, str) and isinstance(n, int | np.integer) and 0 <= n < 10**7 for word, n in pairs):
            return None
        words = [""] * (max((n for _, n in pairs), default=-1) + 1)
        for word, n in pairs:
            words[n] = word
        return words
    if isinstance(known, Sequence) and not isinstance(known, str):
        return [str(word) for word in known]
    return None


def dataset_attribute(dataset: Any, name: str) -> Any:
    """Attribute of a data set, or of the data set it wraps."""
    dataset = dataset_of(dataset)
    value = getattr(dataset, name, None)
    return getattr(getattr(dataset, "source", None), name, None) if value is None else value


def _preview_array(array: np.ndarray, budget: int, words: list[str] | None) -> dict[str, Any]:
    if array.dtype.kind in "USO":
        return {"text": _text(array)}
    if words is not None and array.dtype.kind in "iu" and array.ndim == 1:
        known = [words[token] for token in array[:TEXT].tolist() if 0 <= token < len(words)]
        return {"text": _truncate(" ".join(known))}
    if array.ndim == 4:  # a volume or a video: its middle slice
        array = array[:, array.shape[1] // 2]
    signal = _signal(array)
    if signal is not None:
        return {"curve": curve(signal, points=POINTS if len(signal) < 3 or signal.ndim == 1 else POINTS // 2)}
    image = picture(array, budget)
    if image is not None:
        return {"picture": image}
    flat = array.reshape(-1)[:VALUES]
    return {
        "values": [number(float(v)) if array.dtype.kind == "f" else int(v) for v in flat]
        if array.dtype.kind in "biuf"
        else []
    }


def _signal(array: np.ndarray) -> np.ndarray | None:
    """An array as a signal (channels, time), None if it does not look like one; integers are tokens, not signals."""
    if array.dtype.kind != "f" or not array.size:
        return None
    if array.ndim == 1:
        return array if len(array) > VALUES else None
    if array.ndim != 2:
        return None
    if array.shape[0] <= LINES and array.shape[1] > 2 * LINES:
        return array
    return array.T if array.shape[1] <= LINES and array.shape[0] > 2 * LINES else None


def _text(array: np.ndarray) -> str:
    words = array.reshape(-1)[:TEXT].tolist()
    return _truncate(
        " ".join(word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word) for word in words)
    )


def _truncate(text: str) -> str:
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"
