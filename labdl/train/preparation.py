"""Preparation of a training: the built model, the loss, and the data as both take them."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

from labdl.nn.output_kind import explain_mismatch
from labdl.train.binding import convert_dataset, prepare_for
from labdl.train.class_names import check_class_names, name_declared_classes
from labdl.train.class_weight import class_weights
from labdl.train.conversion import warn_unscaled
from labdl.train.data_validation import check_data
from labdl.train.loaders import dataset_of
from labdl.train.sample_weight import with_sample_weight
from labdl.train.weighted_loss import WeightedLoss, plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def prepare_training(
    context: TrainContext, state: TrainState, data: Any, class_weight: Any = None, sample_weight: Any = None
) -> tuple[TrainContext, Any]:
    """Build the model and the loss, and convert the training data; returns the context, with the weighted loss, and the data,
    with the weights of the samples.

    Raises ConfigError for data that do not fit the model.
    """
    context = _with_loss(context, state, plain_loss(context.loss_function))
    state.bound_to = None  # people may have set the flags of the framework's variables
    prepare_for(context, state, data)
    samples = dataset_of(data)
    rule = state.conversion.rule  # type: ignore[union-attr]
    if "preprocess" not in context.overridden:
        check_class_names(context, rule)
        warn_unscaled(samples, state.conversion)  # type: ignore[arg-type]
        name_declared_classes(context, samples, rule)
    _warn_of_probabilities(context)
    data = convert_dataset(context, state, data, keep=True)
    samples = dataset_of(data)
    check_data(context, samples)
    if class_weight is not None or sample_weight is not None:
        of_classes = None if class_weight is None else class_weights(context, rule, class_weight, samples)
        if sample_weight is not None:
            data = with_sample_weight(data, sample_weight)
        loss = WeightedLoss(plain_loss(context.loss_function), of_classes, by_sample=sample_weight is not None)
        context = _with_loss(context, state, loss)
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
