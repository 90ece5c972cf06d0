"""Measurement of a training for `Trainer.profile`: of steps as they are, and of their parts without a compiler."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError
from labdl.train.binding import convert
from labdl.train.data_adapter import flatten, read, size_of
from labdl.train.monitor.profiler import Stopwatch
from labdl.train.profiling.forward_times import ForwardTimes
from labdl.train.profiling.profile import LayerTime, Profile
from labdl.train.temporary_training import temporary_training
from labdl.train.train_step import uncompiled_functions

if TYPE_CHECKING:
    from labdl.train.loop import Loop
    from labdl.train.trainer import Trainer

_WARM_UP = 3  # steps before the measured ones: compilation, first allocations


def measure(trainer: Trainer, train: Any, *, steps: int, batch_size: int | None, trace: str | Path | None) -> Profile:
    """See `Trainer.profile`."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 100_000:
        raise ConfigError(f"profile wants a number of steps from 1 to 100,000, received {steps!r:.60}")
    with temporary_training(trainer, "profile", settings={}) as remember:
        events = trainer.events(train, batch_size=batch_size)
        try:
            next(events)  # the model is built
            remember()
            loop = trainer.loop
            assert loop is not None
            with closing(_endless(loop)) as batches:
                waits, durations, sizes = _whole_steps(trainer, batches, steps, trace)
                parts, layers = _parts(trainer, batches, steps)
        finally:
            events.close()
        backend = trainer.state.backend
        return Profile(
            backend.name,
            backend.current_device(),
            trainer.context.compiled,
            steps,
            int(median(sizes)),
            median(waits),
            median(durations),
            *parts,
            layers,
        )


def _endless(loop: Loop) -> Generator[Any, None, None]:
    epoch = 0
    while True:
        yield from read(loop.loader, epoch)
        epoch += 1


def _whole_steps(
    trainer: Trainer, batches: Iterator[Any], steps: int, trace: str | Path | None
) -> tuple[list[float], list[float], list[int]]:
    """Seconds until each batch was there, seconds of each step, and the sizes of the batches."""
    waits, durations, sizes = [], [], []
    for number in range(_WARM_UP + steps):
        began = perf_counter()
        batch = next(batches)
        there = perf_counter()
        trainer.train_one_batch(*batch) if type(batch) is tuple else trainer.train_one_batch(batch)
        ended = perf_counter()
        if number >= _WARM_UP:
            waits.append(there - began)
            durations.append(ended - there)
            sizes.append(size_of(batch))
    if trace is not None:
        with _trace(trainer.state.backend, Path(trace)):
            for _ in range(min(steps, 5)):
                batch = next(batches)
                trainer.train_one_batch(*batch) if type(batch) is tuple else trainer.train_one_batch(batch)
    return waits, durations, sizes


def _trace(backend: Any, folder: Path) -> AbstractContextManager:
    if not hasattr(backend, "trace"):
        raise ConfigError(f"profile(trace=) wants a framework that writes traces, {backend.name} has none here")
    folder.mkdir(parents=True, exist_ok=True)
    return backend.trace(folder)


def _parts(
    trainer: Trainer, batches: Iterator[Any], steps: int
) -> tuple[tuple[float, float, float, float], tuple[LayerTime, ...]]:
    """Median seconds of forward, loss, backward and update, and of the forward by module."""
    context, state = trainer.context, trainer.state
    times, objectives = ForwardTimes(context.model), Stopwatch()
    functions: dict[Any, tuple[Any, Any]] = {}
    measured: list[tuple[float, float, float, float]] = []
    of_layers: list[dict[str, tuple[int, float, float]]] = []
    for number in range(1 + steps):
        x, y = convert(context, state, *trainer.preprocess(next(batches)))
        leaves, structure = flatten((x, y))
        times.take()
        objectives.seconds, gradients_of, updating = 0.0, 0.0, 0.0
        with times.measure():
            for phase in state.phases:
                key = phase.name, structure
                if key not in functions:
                    functions[key] = uncompiled_functions(context, state, phase, structure, objectives.wrap)
                differentiate, update = functions[key]
                tensors = [*map(state.backend.tensor, leaves)]
                began = perf_counter()
                gradients = list(differentiate(*tensors)[1])
                there = perf_counter()
                update(gradients)
                gradients_of, updating = gradients_of + there - began, updating + perf_counter() - there
        layers = times.take()
        if number:  # the first one fills caches
            forward = min(layers[""][1], objectives.seconds)
            measured.append((forward, objectives.seconds - forward, gradients_of - objectives.seconds, updating))
            of_layers.append(layers)
    kinds = {path: type(module).__name__ for path, module in context.model.named_modules()}
    named = tuple(
        LayerTime(
            path,
            kinds[path],
            round(median(each[path][0] for each in of_layers)),
            median(each[path][1] for each in of_layers),
            median(each[path][2] for each in of_layers),
        )
        for path in kinds
    )
    return tuple(map(median, zip(*measured, strict=True))), named  # type: ignore[return-value]
