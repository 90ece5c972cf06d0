"""Progress display of a training: a bar in a terminal or a notebook, one line per minute in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from tqdm.auto import tqdm

from labdl.errors import ConfigError
from labdl.train.events import Epoch, Event, Start, Step

SECONDS = 60.0  # between two lines


Display = Literal["bar", "epoch"]


def follow(events: Iterable[Event], display: Display = "bar") -> Iterator[Event]:
    """Yield the events and show the progress: a bar and a line per epoch if interactive, else plain lines.

    ``display`` "epoch" prints a line per epoch alone.
    """
    if display == "epoch":
        return _epochs(events)
    return _bar(events) if _is_interactive() else _lines(events)


def display_of(progress: Any, verbose: Any = None) -> Display | None:
    """The display of a training, by ``progress`` of `Trainer.fit`, or the ``verbose`` of Keras; None for nothing."""
    if verbose is not None:
        choices = {0: None, 1: "bar", 2: "epoch", "auto": "bar"}
        if not isinstance(verbose, int | str) or verbose not in choices:
            raise ConfigError(
                f"verbose wants 0 for nothing, 1 for a bar or 2 for a line of each epoch, received {verbose!r}"
            )
        return choices[verbose]  # type: ignore[return-value]
    if progress not in (True, False, "epoch"):
        raise ConfigError(f"progress wants True, False, or 'epoch' for a line of each epoch, received {progress!r:.60}")
    return ("epoch" if progress == "epoch" else "bar") if progress else None


def _epochs(events: Iterable[Event]) -> Iterator[Event]:
    """Print a line per epoch."""
    epochs = 0
    for event in events:
        if isinstance(event, Start):
            epochs = event.epochs
        elif isinstance(event, Epoch):
            print(_epoch_line(event, epochs), flush=True)
        yield event


def _epoch_line(event: Epoch, epochs: int) -> str:
    return f"Epoch {event.epoch}/{epochs}  {_format(event.values)}  {event.samples_per_second:,.0f} samples/s"


def _is_interactive() -> bool:
    """Return True if standard error is a terminal, or in the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    kernel = shell and shell.get_ipython()
    return bool(kernel and "IPKernelApp" in kernel.config) or bool(sys.stderr and sys.stderr.isatty())


def _bar(events: Iterable[Event]) -> Iterator[Event]:
    bar, epochs, losses = None, 0, 0.0
    try:
        for event in events:
            if isinstance(event, Start):
                epochs = event.epochs
                total = _total(event)
                bar = tqdm(total=total, initial=event.step, unit="step", mininterval=0.2, leave=False)
            elif isinstance(event, Step) and bar is not None:
                losses = event.values["loss"]
                bar.update(1)
                if bar.n % 20 == 0:
                    bar.set_postfix(loss=f"{losses:.4f}", refresh=False)
            elif isinstance(event, Epoch) and bar is not None:
                bar.write(_epoch_line(event, epochs))
            yield event
    finally:
        if bar is not None:
            bar.close()


def _lines(events: Iterable[Event]) -> Iterator[Event]:
    """Print a line per minute and one at the end: step, last values, elapsed and remaining time."""
    start, began, printed = None, 0.0, 0.0
    step, epoch, values = 0, "", ""
    try:
        for event in events:
            now = time.monotonic()
            if isinstance(event, Start):
                start, began, printed, step = event, now, now, event.step
            elif isinstance(event, Epoch) and start is not None:
                speed = f"{event.samples_per_second:,.0f} samples/s"
                epoch = f"epoch {event.epoch}/{start.epochs}: {_format(event.values)}  {speed}"
            elif isinstance(event, Step):
                step, values = event.step, _format(event.values)
            if start is not None and now - printed >= SECONDS:
                printed, total = now, _total(start)
                rate = (now - began) / max(step - start.step, 1)
                left = f"{_time(now - began)} so far, {_time(rate * max(total - step, 0))} left"
                _print_line(f"step {step}/{total}  {values}  {left}{'  ' * bool(epoch)}{epoch}")
            yield event
    finally:
        if start is not None:
            values = epoch or values
            _print_line(f"ended at step {step} after {_time(time.monotonic() - began)}{'  ' * bool(values)}{values}")


def _total(start: Start) -> int:
    steps = start.epochs * start.steps_per_epoch
    return steps if start.max_steps is None else min(steps, start.max_steps)


def _print_line(line: str) -> None:
    if sys.stderr is not None:  # None in a program without a console
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}", file=sys.stderr, flush=True)


def _format(values) -> str:
    return "  ".join(f"{name} {value:.4f}" for name, value in values.items())


def _time(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
