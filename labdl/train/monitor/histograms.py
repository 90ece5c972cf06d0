"""Histograms of the weights, gradients and outputs of layers during training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.nn.module import Module
from labdl.runs.reading.values import round_digits
from labdl.train.events import Histograms
from labdl.train.monitor.activations import layer_of
from labdl.train.monitor.budget import Budget

BINS = 24
MIN_INTERVAL, GROWTH = 2.0, 60.0  # of their `Budget`
LAYERS = 200  # of larger models, the layers with the most parameters
VALUES = 2**17  # of larger layers, an evenly spaced subset is counted


class HistogramCollector:
    """Computes histograms of layers, with half of the time budget of their statistics."""

    def __init__(self, share: float):
        self.budget = Budget(share / 2, MIN_INTERVAL, GROWTH)
        self._selection: tuple[tuple[str, ...], dict[str, int]] = ((), {})

    def select_layers(self, model: Module, names: Sequence[str]) -> dict[str, int]:
        """Names of the layers that get histograms, with their indices among all layers."""
        if self._selection[0] != tuple(names):
            indices = {name: n for n, name in enumerate(names)}
            sizes = dict.fromkeys(names, 0)
            for name, p in model.named_parameters():
                layer = layer_of(indices, name)
                if layer in sizes:
                    sizes[layer] += p.size
            largest = sorted(names, key=lambda name: -sizes[name])[:LAYERS]
            selected = sorted(largest, key=indices.__getitem__)
            self._selection = tuple(names), {name: indices[name] for name in selected}
        return self._selection[1]

    def compute(
        self,
        step: int,
        names: Sequence[str],
        indices: Mapping[str, int],
        weights: Mapping[str, list[Any]],
        gradients: Mapping[str, list[Any]],
        outputs: Mapping[str, list[Any]],
    ) -> Histograms:
        """Compute the event from the arrays of each layer."""
        columns = []
        for arrays in (weights, gradients, outputs):
            rows = [
                (indices[name], *row)
                for name, several in arrays.items()
                if name in indices and (row := histogram(several)) is not None
            ]
            columns.append({key: [row[n] for row in rows] for n, key in enumerate(("of", "low", "high", "counts"))})
        return Histograms(step, tuple(names), *columns)


def histogram(arrays: Sequence[np.ndarray]) -> tuple[float, float, list[int]] | None:
    """Range of the finite values of arrays, and their counts in equal bins; None if there are no finite values."""
    flat = [array.reshape(-1) for array in arrays]
    size = sum(map(len, flat))
    stride = max(1, -(-size // VALUES))
    values = np.concatenate([a[::stride] for a in flat]) if flat else np.empty(0)
    if values.dtype.kind != "f":
        values = values.astype("float64")
    values = values if np.isfinite(values).all() else values[np.isfinite(values)]
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    with np.errstate(all="ignore"):
        scale = BINS / (high - low) if high > low else 0.0
        if 1e-30 < scale < 1e30:
            bins = ((values - values.dtype.type(low)) * values.dtype.type(scale)).astype(np.intp)
        else:  # all equal, or beyond the range of float32
            bins = ((values.astype("float64") - low) / ((high - low) or 1.0) * BINS).astype(np.intp)
    counts = np.bincount(np.clip(bins, 0, BINS - 1), minlength=BINS)
    return round_digits(low, 5), round_digits(high, 5), counts.tolist()
