"""Histograms of layers while they train: of weights, gradients and outputs, a part of the measurement of their health."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.nn.module import Module
from labdl.runs.reading.values import round_digits
from labdl.train.events import Histograms
from labdl.train.monitor.activations import node_of
from labdl.train.monitor.budget import Budget

BINS = 24
SELDOM, THINNING = 2.0, 60.0  # seconds from one to the next, and the time trained so far over this
LAYERS = 200  # of a model with more, those that learn most
VALUES = 2**17  # of what a layer has more of, an even sample is counted


class Histogrammer:
    """Counts the values of layers in some of the measurements of their health, with half of the time that these may take."""

    def __init__(self, share: float):
        self.budget = Budget(share / 2, SELDOM, THINNING)
        self._chosen: tuple[tuple[str, ...], dict[str, int]] = ((), {})

    def places(self, model: Module, names: Sequence[str]) -> dict[str, int]:
        """Which layers are counted, and their places among all."""
        if self._chosen[0] != tuple(names):
            at = {name: n for n, name in enumerate(names)}
            sizes = dict.fromkeys(names, 0)
            for name, p in model.named_parameters():
                layer = node_of(at, name)
                if layer in sizes:
                    sizes[layer] += p.size
            most = sorted(names, key=lambda name: -sizes[name])[:LAYERS]
            self._chosen = tuple(names), {name: at[name] for name in sorted(most, key=at.__getitem__)}
        return self._chosen[1]

    def counted(
        self,
        step: int,
        names: Sequence[str],
        places: Mapping[str, int],
        weights: Mapping[str, list[Any]],
        gradients: Mapping[str, list[Any]],
        outputs: Mapping[str, list[Any]],
    ) -> Histograms:
        """The event, from the arrays of each layer."""
        found = []
        for arrays in (weights, gradients, outputs):
            rows = [
                (places[name], *row)
                for name, several in arrays.items()
                if name in places and (row := spread(several)) is not None
            ]
            found.append({key: [row[n] for row in rows] for n, key in enumerate(("of", "low", "high", "counts"))})
        return Histograms(step, tuple(names), *found)


def spread(arrays: Sequence[np.ndarray]) -> tuple[float, float, list[int]] | None:
    """The range of the finite values of some arrays, and how many lie in equal parts of it; None where there is none."""
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
            places = ((values - values.dtype.type(low)) * values.dtype.type(scale)).astype(np.intp)
        else:  # all alike, or beyond the range of float32
            places = ((values.astype("float64") - low) / ((high - low) or 1.0) * BINS).astype(np.intp)
    counts = np.bincount(np.clip(places, 0, BINS - 1), minlength=BINS)
    return round_digits(low, 5), round_digits(high, 5), counts.tolist()
