"""Single samples as what a page shows of them: pictures, curves, numbers and texts (docs/runs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.runs.array_preview import LINES, POINTS, curve, number, picture
from labdl.train.data_adapter import flattened

VALUES = 64  # of a vector
TEXT = 1000  # characters


def shown(sample: Any, budget: int, words: list[str] | None = None) -> dict[str, Any]:
    """One sample, its picture in at most ``budget`` bytes; of several arrays the first. ``words`` are those of tokens."""
    leaves = flattened(sample)[0]
    if not leaves:
        return {"values": [], "shape": []}
    array = np.asarray(leaves[0])
    return {**_form(array, budget, words), "shape": list(array.shape)}


def vocabulary(dataset: Any) -> list[str] | None:
    """The words of a data set's tokens by their numbers: its ``vocabulary``, a list, or a dictionary of either direction."""
    known: Any = told(dataset, "vocabulary")
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


def told(dataset: Any, name: str) -> Any:
    """Attribute of a data set, or of the data set it wraps."""
    found = getattr(dataset, name, None)
    return getattr(getattr(dataset, "source", None), name, None) if found is None else found


def _form(array: np.ndarray, budget: int, words: list[str] | None) -> dict[str, Any]:
    if array.dtype.kind in "USO":
        return {"text": _text(array)}
    if words is not None and array.dtype.kind in "iu" and array.ndim == 1:
        known = [words[token] for token in array[:TEXT].tolist() if 0 <= token < len(words)]
        return {"text": _cut(" ".join(known))}
    if array.ndim == 4:  # a volume or a film: its middle
        array = array[:, array.shape[1] // 2]
    signal = _signal(array)
    if signal is not None:
        return {"curve": curve(signal, points=POINTS if len(signal) < 3 or signal.ndim == 1 else POINTS // 2)}
    drawn = picture(array, budget)
    if drawn is not None:
        return {"picture": drawn}
    flat = array.reshape(-1)[:VALUES]
    return {
        "values": [number(float(v)) if array.dtype.kind == "f" else int(v) for v in flat]
        if array.dtype.kind in "biuf"
        else []
    }


def _signal(array: np.ndarray) -> np.ndarray | None:
    """Channels by time, of what is longer than wide; whole numbers in a row are tokens or places, no curve."""
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
    return _cut(" ".join(word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word) for word in words))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"
