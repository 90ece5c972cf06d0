"""Preparation of a training: the built model, the loss, and the data as both take them."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

from labdl.nn.output_kind import explain_mismatch
from labdl.train.binding import convert_dataset, prepare_for
from labdl.train.class_names import check_class_names, name_declared_classes
from labdl.train.class_weight import plain_loss, weighted_loss
from labdl.train.conversion import warn_unscaled
from labdl.train.data_validation import check_data

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def prepare_training(
    context: TrainContext, state: TrainState, data: Any, class_weight: Any = None
) -> tuple[TrainContext, Any]:
    """Build the model and the loss, and convert the training data; returns the context, with the weighted loss, and the data.

    Raises ConfigError for data that do not fit the model.
    """
    context = _with_loss(context, state, plain_loss(context.loss_function))
    state.bound_to = None  # people may have set the flags of the framework's variables
    prepare_for(context, state, data)
    rule = state.conversion.rule  # type: ignore[union-attr]
    if "preprocess" not in context.overridden:
        check_class_names(context, rule)
        warn_unscaled(data, state.conversion)  # type: ignore[arg-type]
        name_declared_classes(context, data, rule)
    _warn_of_probabilities(context)
    data = convert_dataset(context, state, data, keep=True)
    check_data(context, data)
    if class_weight is not None:
        context = _with_loss(context, state, weighted_loss(context, rule, class_weight, data))
        prepare_for(context, state, data)
    return context, data


def _warn_of_probabilities(context: TrainContext) -> None:
    """Warn of a model that ends in a sigmoid or softmax although its loss applies that itself: it learns badly."""
    sentence = explain_mismatch(context.model, context.loss_function) if context.standard_loss else None
    if sentence is not None:
        warnings.warn(sentence, stacklevel=2)


def _with_loss(context: TrainContext, state: TrainState, loss: Any) -> TrainContext:
    """The context with another loss, which is built and compiled again."""
    if loss is context.loss_function:
        return context
    state.loss_built, state.bound_to = False, None
    return dataclasses.replace(context, loss_function=loss)
