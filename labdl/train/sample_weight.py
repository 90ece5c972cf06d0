"""Weights of the samples of a training, beside their targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data import ArrayDataset, Loader
from labdl.data.conversion import as_array
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.train.data_adapter import NestedDataset
from labdl.train.loaders import dataset_of
from labdl.train.weighted_loss import plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_WANTED = "sample_weight wants an array of weights, one for each sample"


def check_sample_weight(context: TrainContext, data: Any, value: Any) -> np.ndarray:
    """The weights (N,) of the samples of a data set as float32.

    Raises ConfigError for weights that are no numbers of at least 0, one for each sample, and for data and losses that
    samples cannot be weighted of.
    """
    samples = dataset_of(data)
    if not isinstance(samples, ArrayDataset | NestedDataset):
        raise ConfigError(
            f"sample_weight wants arrays x and y, received {type(samples).__name__}: choose samples by their weights with "
            "labdl.data.samplers.WeightedSampler, or weight them in the trainer's loss()"
        )
    if not context.standard_loss or "preprocess" in context.overridden or not isinstance(context.loss_function, Module):
        raise ConfigError(
            "sample_weight wants a loss by name or a layer, and a trainer that overrides neither loss nor preprocess: weight "
            "the samples in that loss"
        )
    if getattr(plain_loss(context.loss_function), "reduction", None) not in ("mean", "sum"):
        raise ConfigError(f"sample_weight wants a loss with reduction 'mean' or 'sum', {context.loss_name} has none")
    try:
        weights = as_array(value, "sample_weight").astype("float32")
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{_WANTED}, received {value!r:.80}") from error
    if weights.shape == (len(samples), 1):
        weights = weights[:, 0]
    if weights.shape != (len(samples),):
        raise ConfigError(f"{_WANTED}; there are {len(samples):,} samples, received the shape {weights.shape}")
    if not np.isfinite(weights).all() or weights.min() < 0:
        at = int(np.argmax(~(np.isfinite(weights) & (weights >= 0))))
        raise ConfigError(f"{_WANTED}, finite and at least 0, received {weights[at]} for sample {at:,}")
    if not weights.any():
        raise ConfigError(f"{_WANTED}; with all of them 0 there is nothing to learn")
    return weights


def with_sample_weight(data: Any, weights: np.ndarray) -> Any:
    """The data set, or the loader of one, whose targets are pairs with the weights of the samples."""
    if isinstance(data, Loader):
        return data.replace(with_sample_weight(data.dataset, weights))
    x, y = data.values if isinstance(data, NestedDataset) else (data.arrays[:-1], data.arrays[-1])
    return NestedDataset((x[0] if isinstance(data, ArrayDataset) and len(x) == 1 else x, (y, weights)))
