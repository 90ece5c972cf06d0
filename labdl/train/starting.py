"""Starting a training: its options checked, its data prepared, and the loop that starts or resumes."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.errors import ConfigError
from labdl.train import checkpoint as checkpoints
from labdl.train.binding import convert_dataset, set_batch_size
from labdl.train.callbacks import Callback, Callbacks, split_early_stopping
from labdl.train.class_names import name_text_labels
from labdl.train.config import TrainerSettings
from labdl.train.data_adapter import as_dataset
from labdl.train.directions import check_monitors
from labdl.train.events import Event
from labdl.train.limits import Limits, check_count
from labdl.train.loaders import check_evaluation_data, dataset_of, for_training
from labdl.train.loop import Loop
from labdl.train.preparation import prepare_training
from labdl.train.progress import Progress
from labdl.train.sample_weight import check_sample_weight
from labdl.train.validation_split import ValidationFrom, split_validation

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.context import TrainContext
    from labdl.train.options import ClassWeight
    from labdl.train.state import TrainState


def start_loop(
    context: TrainContext,
    state: TrainState,
    train: Any,
    *,
    validation: Any = None,
    validation_split: float | None = None,
    validation_from: ValidationFrom | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    shuffle: bool | None = None,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
    validation_freq: int | Sequence[int] | None = None,
    validation_batch_size: int | None = None,
    class_weight: ClassWeight | None = None,
    sample_weight: Any = None,
    checkpoint: Checkpoint | str | Path | None = None,
    resume: bool | str | Path | None = None,
    health: float | None = None,
    callbacks: Iterable[Callable[[Event], Any] | Callback] = (),
) -> Loop:
    """Create a loop that starts or resumes; arguments as in `Trainer.events`.

    With weights of classes or samples the loop has another context, with the weighted loss.
    """
    settings = context.settings
    limits = Limits.of(settings, steps_per_epoch, validation_steps=validation_steps, validation_freq=validation_freq)
    validation_batch_size = check_count("validation_batch_size", validation_batch_size)
    train = as_dataset(settings.train_dataset if train is None else train)
    if validation is not None and validation_split:
        raise ConfigError("validation and validation_split exclude each other: give one of them")
    kept = settings.checkpoint if checkpoint is None else TrainerSettings(checkpoint=checkpoint).checkpoint  # type: ignore[arg-type]
    epochs = check_count("epochs", epochs)
    if health is not None and (not isinstance(health, int | float) or health is True or not 0 <= health <= 1):
        raise ConfigError(f"health wants a share of the time from 0 to 1, received {health!r}")
    stopping, listeners = split_early_stopping(callbacks, settings.stopping)
    if settings.fast_dev_run:  # leaves nothing behind and stops by its number of steps alone
        kept, stopping, resume, epochs = None, None, None, 1
    name_text_labels(context, dataset_of(train))
    if sample_weight is not None:
        sample_weight = check_sample_weight(context, train, sample_weight)
    path = checkpoints.checkpoint_to_resume(resume, kept)
    recorded = None if state.document is None else state.document.progress
    former = recorded if path is None else checkpoints.read_progress(path)
    if validation_split:
        seed = _seed(context) if former is None else former.seed
        train, validation, rows = split_validation(
            train, validation_split, context.loss_function, seed, validation_from
        )
        sample_weight = None if sample_weight is None else sample_weight[rows]
    else:
        validation = settings.val_dataset if validation is None else as_dataset(validation, "validation")
    if limits.val_batches is None:
        check_evaluation_data(validation)
    defaults = _default_options(settings, former)
    train = for_training(
        train,
        batch_size=batch_size,
        shuffle=shuffle,
        steps_per_epoch=steps_per_epoch,
        default=defaults["batch_size"],
        accumulate=settings.accumulate,
        drop_last=settings.drop_last,
    )
    batch_size = defaults["batch_size"] if batch_size is None else batch_size
    shuffle = defaults["shuffle"] if shuffle is None else shuffle
    progress, steps = _initial_progress(context, state, train, batch_size, shuffle, limits)  # type: ignore[arg-type]
    if epochs is None and settings.epochs == TrainerSettings.epochs:  # as in Lightning, where nobody sets epochs
        epochs = limits.epochs(steps)
    total: int = defaults["epochs"] if epochs is None else epochs
    context, train = prepare_training(context, state, train, class_weight, sample_weight)
    validation = convert_dataset(context, state, validation, keep=True)
    check_monitors(context, [stopping, kept, context.schedule], callbacks=bool(listeners))
    if path is not None:
        state.resume_from(checkpoints.restore(context, state, path))
    document, state.document = state.document, None
    loop = Loop(
        context,
        state,
        train=train,
        validation=validation,
        epochs=total,
        progress=progress,
        document=document,
        checkpoint=kept,
        stopping=stopping,
        health=health,
        limits=limits,
        validation_batch_size=validation_batch_size,
    )
    state.callbacks = Callbacks(context.methods, listeners, loop.request_stop)
    if document is not None and document.features.callbacks:
        state.callbacks.load_state_dict(document.features.callbacks)
    if former is not None and limits.max_steps is not None and former.step >= limits.max_steps:
        warnings.warn(
            f"nothing is left to train, because max_steps={limits.max_steps} is the total and {former.step} are complete: "
            f"give a larger total, such as max_steps={former.step + limits.max_steps}",
            stacklevel=4,
        )
    elif former is not None and former.epoch >= total:
        warnings.warn(
            f"nothing is left to train, because epochs={total} is the total and {former.epoch} are complete: give "
            f"a larger total, such as epochs={former.epoch + total}",
            stacklevel=4,
        )
    return loop


def loop_for_epoch(context: TrainContext, state: TrainState, loop: Loop | None, index: int, train: Any = None) -> Loop:
    """Return the given loop if its next epoch has this index, counted from 0, and the same data set; else a new loop."""
    settings = context.settings
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise ConfigError(f"train_one_epoch wants the index of an epoch, at least 0, received {index!r}")
    train = for_training(
        as_dataset(settings.train_dataset if train is None else train),
        batch_size=None,
        shuffle=None,
        steps_per_epoch=None,
        default=settings.batch_size,
        accumulate=settings.accumulate,
        drop_last=settings.drop_last,
    )
    limits = Limits.of(settings)
    name_text_labels(context, dataset_of(train))
    if loop is not None:
        train = convert_dataset(context, state, train, keep=True)
    same = loop is not None and (loop.loader if loop.own_loader else loop.loader.dataset) is train
    if loop is None or (loop.progress.epoch, loop.progress.batch) != (index, 0) or not same:
        progress, length = _initial_progress(context, state, train, settings.batch_size, settings.shuffle, limits)
        context, train = prepare_training(context, state, train)
        progress.epoch, progress.step = index, index * length
        epochs = max(settings.epochs, index + 1)
        loop = Loop(
            context,
            state,
            train=train,
            validation=convert_dataset(context, state, settings.val_dataset, keep=True),
            epochs=epochs,
            progress=progress,
            document=None,
            limits=limits,
        )
    loop.epochs = index + 1
    state.callbacks = None
    return loop


def _default_options(settings: TrainerSettings, former: Progress | None) -> dict[str, Any]:
    """Epochs, batch size and shuffling of the trainer; where it has not set them, those of the training to resume."""
    options = {name: getattr(settings, name) for name in ("epochs", "batch_size", "shuffle")}
    if former is None:
        return options
    before = {
        "epochs": former.epochs or settings.epochs,  # unknown to the first files
        "batch_size": max(1, former.batch_size // settings.accumulate),
        "shuffle": former.shuffle,
    }
    unset = {field.name: field.default for field in dataclasses.fields(settings)}
    return {name: before[name] if value == unset[name] else value for name, value in options.items()}


def _initial_progress(
    context: TrainContext, state: TrainState, train: Any, batch_size: int, shuffle: bool, limits: Limits
) -> tuple[Progress, int]:
    """Progress at the start of a training, and the number of steps in an epoch.

    A step is an update: its batch consists of ``accumulate`` batches.
    """
    accumulate = context.settings.accumulate
    loader = limits.loader(train, batch_size * accumulate, bool(shuffle), _seed(context))
    steps, size = limits.steps(loader), loader.batch_size
    samples = loader.samples if steps == len(loader) else min(loader.samples, steps * size)
    set_batch_size(state, min(size // accumulate, samples))
    return Progress(samples, size, loader.shuffle, loader.seed), steps


def _seed(context: TrainContext) -> int:
    """The seed of a training: that of the trainer, or of `labdl.seed`."""
    return int(context.seed if context.seed is not None else dispatch.current_seed() or 0)
