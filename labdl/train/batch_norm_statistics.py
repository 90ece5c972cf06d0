"""Running statistics of batch normalization, computed anew for averaged parameters."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.nn.module import Module
from labdl.nn.normalization import BatchNorm, SyncBatchNorm
from labdl.train.binding import convert
from labdl.train.data_adapter import flatten, read
from labdl.train.loss_function import Objective
from labdl.train.swa import EpochAverages

if TYPE_CHECKING:
    from labdl.data import Loader
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def apply_swa(context: TrainContext, state: TrainState, loader: Loader, steps: int) -> None:
    """Give the model the means of its parameters, and update the statistics of its batch normalization."""
    averages = state.averages
    if not isinstance(averages, EpochAverages) or not averages.updates:
        return
    averages.assign()
    update_batch_norm(context, state, loader, steps)


def update_batch_norm(context: TrainContext, state: TrainState, loader: Loader, steps: int) -> None:
    """Compute the running statistics of batch normalization anew, as the means over the first ``steps`` batches."""
    layers: list[Any] = [
        module
        for module in context.model.modules()
        if isinstance(module, BatchNorm | SyncBatchNorm) and module.trainable and module.built
    ]
    if not layers:
        return
    momenta, modes = [layer.momentum for layer in layers], [module.training for module in context.modules]
    _set_training(context.modules, [True] * len(modes))
    try:
        with closing(read(loader)) as batches:
            for number, batch in zip(range(steps), batches, strict=False):
                for layer in layers:
                    layer.momentum = 1 / (number + 1)  # of the first batch 1, which forgets what was before
                x, y = convert(context, state, *context.methods.preprocess(batch))
                _forward(context, state, x, y)
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        _set_training(context.modules, modes)


def _forward(context: TrainContext, state: TrainState, x: Any, y: Any) -> None:
    leaves, structure = flatten((x, y))
    function = Objective(context.methods.loss_and_output, structure, context.settings.low_precision)
    backend = dispatch.get(context.model.backend)
    backend.evaluate_function(function.run, compiled=False)(*map(backend.tensor, leaves))


def _set_training(modules: list[Module], modes: list[bool]) -> None:
    for module, mode in zip(modules, modes, strict=True):
        module.train(mode)
