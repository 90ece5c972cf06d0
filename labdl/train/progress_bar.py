"""The progress of a training for a person: a bar in a terminal or a notebook, a line a minute in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

from tqdm.auto import tqdm

from labdl.train.events import Epoch, Event, Start, Step

SECONDS = 60.0  # between two lines


def follow(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, shown as they pass: a bar over the steps and a line an epoch, or plain lines where nobody looks on."""
    return _bar(events) if _watched() else _lines(events)


def _watched() -> bool:
    """Whether standard error is a terminal, or this is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    kernel = shell and shell.get_ipython()
    return bool(kernel and "IPKernelApp" in kernel.config) or bool(sys.stderr and sys.stderr.isatty())


def _bar(events: Iterable[Event]) -> Iterator[Event]:
    bar, epochs, losses = None, 0, 0.0
    try:
        for event in events:
            if isinstance(event, Start):
                epochs = event.epochs
                total = event.epochs * event.steps_per_epoch
                bar = tqdm(total=total, initial=event.step, unit="step", mininterval=0.2, leave=False)
            elif isinstance(event, Step) and bar is not None:
                losses = event.values["loss"]
                bar.update(1)
                if bar.n % 20 == 0:
                    bar.set_postfix(loss=f"{losses:.4f}", refresh=False)
            elif isinstance(event, Epoch) and bar is not None:
                speed = f"{event.samples_per_second:,.0f} samples/s"
                bar.write(f"Epoch {event.epoch}/{epochs}  {_shown(event.values)}  {speed}")
            yield event
    finally:
        if bar is not None:
            bar.close()


def _lines(events: Iterable[Event]) -> Iterator[Event]:
    """A line a minute: where the training is, its last figures, how long it has taken and will take; one more at the end."""
    start, began, spoke = None, 0.0, 0.0
    step, epoch, figures = 0, "", ""
    try:
        for event in events:
            now = time.monotonic()
            if isinstance(event, Start):
                start, began, spoke, step = event, now, now, event.step
            elif isinstance(event, Epoch) and start is not None:
                epoch = f"epoch {event.epoch}/{start.epochs}: {_shown(event.values)}  {event.samples_per_second:,.0f} samples/s"
            elif isinstance(event, Step):
                step, figures = event.step, _shown(event.values)
            if start is not None and now - spoke >= SECONDS:
                spoke, total = now, start.epochs * start.steps_per_epoch
                rate = (now - began) / max(step - start.step, 1)
                left = f"{_time(now - began)} so far, {_time(rate * max(total - step, 0))} left"
                _say(f"step {step}/{total}  {figures}  {left}{'  ' * bool(epoch)}{epoch}")
            yield event
    finally:
        if start is not None:
            figures = epoch or figures
            _say(f"ended at step {step} after {_time(time.monotonic() - began)}{'  ' * bool(figures)}{figures}")


def _say(line: str) -> None:
    if sys.stderr is not None:  # a program without a console has none
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}", file=sys.stderr, flush=True)


def _shown(values) -> str:
    return "  ".join(f"{name} {value:.4f}" for name, value in values.items())


def _time(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
