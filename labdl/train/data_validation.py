"""Checks that a data set fits a model, with better messages than those of the frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.nn.signature import given_inputs
from labdl.spec import Spec, show
from labdl.train.binding import convert
from labdl.train.weighted_loss import plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def check_data(context: TrainContext, data: Any) -> None:
    """Raise ConfigError for samples that do not fit the built model."""
    model = context.model
    standard = context.standard_loss and "preprocess" not in context.overridden
    if not standard or not isinstance(data, ArrayDataset) or len(data.arrays) != 2:
        return
    x, wanted = data.arrays[0], given_inputs(model)
    first = wanted[0][1] if len(wanted) == 1 else None
    if first is not None and not _fits(x.shape[1:], first.shape[1:]):
        raise ConfigError(
            f"the data have samples of shape {show(x.shape[1:])}, the model was built for "
            f"{show(first.shape[1:])}: give its Input the shape of the data"
        )


def check_batch(context: TrainContext, state: TrainState, x: Any, y: Any) -> None:
    """Raise ConfigError for a batch that does not fit the model and its loss, by its shapes and its classes, before a step.

    Trainers that override the steps before the loss take any batch.
    """
    if context.overridden & {"preprocess", "forward", "loss", "phases"} or not all(
        isinstance(v, np.ndarray) and v.ndim for v in (x, y)
    ):
        return
    if len(x) != len(y):
        raise ConfigError(f"the batch has {len(x):,} inputs and {len(y):,} targets: give a target for each input")
    try:
        x, y = convert(context, state, x, y)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"the batch does not fit the model: {error}") from error
    wanted = given_inputs(context.model)
    first = wanted[0][1] if len(wanted) == 1 else None
    if first is not None and not _fits(x.shape[1:], first.shape[1:]):
        raise ConfigError(
            f"the batch has inputs of shape {show(x.shape[1:])}, the model was built for {show(first.shape[1:])}"
        )
    output = context.model.output_specs
    if not isinstance(output, Spec) or not isinstance(y, np.ndarray):
        return
    loss = plain_loss(context.loss_function)
    if isinstance(loss, Module):
        try:
            loss._shapes_of(Spec((len(x), *output.shape[1:]), output.dtype), Spec(y.shape, str(y.dtype)))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"the targets do not fit the model's output {show(output.shape)}: {error}") from error


def _fits(shape, wanted) -> bool:
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted, strict=True))
