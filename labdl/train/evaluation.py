"""Evaluation of a model on a data set: mean losses and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError
from labdl.graph.lowering.compilable import Compilable
from labdl.nn.module import Module
from labdl.nn.signature import given_inputs
from labdl.train.binding import binding_key, convert, convert_dataset, prepare, prepare_for
from labdl.train.data_adapter import flatten, read, size_of
from labdl.train.data_validation import check_data
from labdl.train.loaders import as_loader, check_evaluation_data, dataset_of
from labdl.train.logged_values import means_of
from labdl.train.loss_function import Objective
from labdl.train.loss_mean import LossMean
from labdl.train.metrics.metric import check_number
from labdl.train.named_inputs import split_by_name
from labdl.train.train_step import to_arrays

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.report import PerClass
    from labdl.train.state import TrainState


def evaluate(
    context: TrainContext,
    state: TrainState,
    dataset: Any,
    batch_size: int,
    *,
    averaged: bool = False,
    classes: PerClass | None = None,
) -> dict[str, float]:
    """Mean losses and metrics over a data set, in evaluation mode; ``classes`` is updated with each batch.

    The losses are those of the whole data set as one batch, whatever the size of the batches: see `LossMean`.
    """
    model, methods = context.model, context.methods
    check_evaluation_data(dataset)
    prepare_for(context, state, dataset)
    dataset = convert_dataset(context, state, dataset)
    covered = state.conversion is None or not state.conversion.checked or state.conversion.covers(dataset_of(dataset))
    check_data(context, dataset_of(dataset))
    was_training = model.training
    metrics = {
        name: metric.fresh() for name, metric in context.metrics.items()
    }  # those of the context belong to the training
    losses = LossMean(context)
    seen, logged = 0, {}
    monitor = state.validation_monitor
    if monitor is not None and monitor.dataset is not dataset:
        monitor = None
    if monitor is not None:
        monitor.reset()
    batches = read(as_loader(dataset, batch_size))
    with state.values.apart(), state.average_parameters() if averaged else nullcontext():
        for module in context.modules:
            module.eval()
        try:
            for batch in batches:
                x, y = convert(context, state, *methods.preprocess(batch))
                if not covered:
                    state.conversion.check(x, y)  # type: ignore[union-attr]
                values, output = evaluate_batch(context, state, x, y)
                if monitor is not None:
                    monitor.update(x, y, output, seen)
                losses.add(values, x, y, output)
                output, size = methods.postprocess(output), size_of(x)
                for metric in metrics.values():
                    metric.update(output, y)
                if classes is not None:
                    classes.add(output, y)
                state.values.take(size, logged)
                seen += size
        finally:
            batches.close()
            for module in context.modules:
                module.train(was_training)
    return {
        **losses.compute(),
        **{name: check_number(name, metric.compute()) for name, metric in metrics.items()},
        **means_of(logged),
    }


def evaluate_batch(context: TrainContext, state: TrainState, x: Any, y: Any) -> tuple[dict[str, float], Any]:
    """The losses of a batch by name, and the output as arrays."""
    if state.bound_to != binding_key():
        prepare(context, state, x, y)
    leaves, structure = flatten((x, y))
    backend = state.backend
    if structure not in state.evaluations:
        objective = Objective(
            context.methods.loss_and_output,
            structure,
            context.settings.low_precision,
            name=context.loss_name,
            weights=context.settings.loss_weights,
        )
        compilable = Compilable(objective.run, context.modules, backend)
        run = backend.evaluate_function(compilable, compiled=context.compiled)
        state.evaluations[structure] = objective, run
    objective, run = state.evaluations[structure]
    values, output, _ = objective.read(run(*map(backend.tensor, leaves)))
    return {name: float(backend.to_numpy(v)) for name, v in values.items()}, to_arrays(backend, output)


def split_batch(batch: Any, model: Module) -> tuple[Any, Any]:
    """Split a batch that is not a pair into inputs and targets. Raises ConfigError if that is ambiguous.

    It may be ``{"X": …, "Y": …}``, as in table B.10 of T/AII 008-2023, a dictionary with entries named as the arguments of the
    model's forward, or a tuple of the model's inputs and then the targets.
    """
    if isinstance(batch, Mapping):
        if batch.keys() == {"X", "Y"}:
            return batch["X"], batch["Y"]
        found = split_by_name(batch, model)
        if found is None:
            raise ConfigError(
                f"a batch of this data set is a dictionary of {', '.join(map(str, batch))}, the forward of the model has the "
                f"arguments {', '.join(a.name for a in model._arguments())}: name its arguments as the entries, choose inputs "
                f"and targets, such as .as_supervised({next(iter(batch), 'image')!r}, {[*batch, 'label'][-2]!r}), or override "
                "preprocess(batch) of Trainer to return (inputs, targets)"
            )
        return found
    if not isinstance(batch, tuple):
        raise ConfigError(
            f"a batch of this data set is {type(batch).__name__}: override preprocess(batch) of Trainer to return "
            "(inputs, targets)"
        )
    count = max(1, len(batch) - 1) if model.unbuilt else len(given_inputs(model))
    if len(batch) < count:
        raise ConfigError(f"the model has {count} inputs, the data set gives {len(batch)} arrays")
    inputs, targets = batch[:count], batch[count:]
    return inputs[0] if count == 1 else inputs, (targets or (None,))[0] if len(targets) < 2 else targets
