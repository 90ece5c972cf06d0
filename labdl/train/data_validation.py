"""Checks that a data set fits a model, with better messages than those of the frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labdl.data import ArrayDataset
from labdl.errors import ConfigError
from labdl.nn.signature import given_inputs
from labdl.spec import Spec, show
from labdl.train.class_weight import plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext


def check_data(context: TrainContext, data: Any) -> None:
    """Raise ConfigError for samples or classes that do not fit the built model."""
    model = context.model
    standard = context.standard_loss and "preprocess" not in context.overridden
    if not standard or not isinstance(data, ArrayDataset) or len(data.arrays) != 2:
        return
    (x, y), wanted = data.arrays, given_inputs(model)
    first = wanted[0][1] if len(wanted) == 1 else None
    if first is not None and not _fits(x.shape[1:], first.shape[1:]):
        raise ConfigError(
            f"the data have samples of shape {show(x.shape[1:])}, the model was built for "
            f"{show(first.shape[1:])}: give its Input the shape of the data"
        )
    output = model.output_specs
    if context.loss_name == "cross_entropy" and y.dtype.kind in "iu" and isinstance(output, Spec):
        classes = output.shape[-1]
        y = y[y != getattr(plain_loss(context.loss_function), "ignore_index", classes)]
        if y.size and classes is not None and not 0 <= y.min() <= y.max() < classes:
            raise ConfigError(
                f"the data have classes from {y.min()} to {y.max()}, the model's output has room for "
                f"{classes}, numbered from 0"
            )


def _fits(shape, wanted) -> bool:
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted, strict=True))
