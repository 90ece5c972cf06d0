"""Callbacks: functions that receive the events of a training."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from typing import Any

from labdl.errors import ConfigError
from labdl.train.early_stopping import EarlyStopping
from labdl.train.events import Event

Callback = Callable[[Event], Any]
log = logging.getLogger(__name__)


def split_early_stopping(
    callbacks: Iterable[Callback], own: EarlyStopping | None
) -> tuple[EarlyStopping | None, list[Callback]]:
    """Split the early stopping, from the settings or among the callbacks, from the other callbacks. Raises ConfigError."""
    if callable(callbacks):
        raise ConfigError(f"callbacks wants a list of functions of an event: callbacks=[{callback_name(callbacks)}]")
    listed = list(callbacks)
    for callback in listed:
        if not callable(callback):
            raise ConfigError(f"callbacks wants functions of an event, received {callback!r}")
    stopping = [*([] if own is None else [own]), *(c for c in listed if isinstance(c, EarlyStopping))]
    if len(stopping) > 1:
        raise ConfigError("a training stops early by one value: give one EarlyStopping, as setting or as callback")
    return next(iter(stopping), None), [c for c in listed if not isinstance(c, EarlyStopping)]


def callback_name(callback: Callback) -> str:
    return getattr(callback, "__qualname__", type(callback).__name__)


def call_callbacks(
    events: Generator[Event, None, None], callbacks: list[Callback], stop: Callable[[], None]
) -> Generator[Event, None, None]:
    """Yield the events after calling each callback with them; ``stop`` is called when one returns True.

    A callback that raises is logged and disabled; it does not end the training.
    """
    try:
        for event in events:
            for callback in list(callbacks):
                try:
                    if callback(event) is True:
                        stop()
                except Exception:  # logged with the callback's name; the training continues
                    callbacks.remove(callback)
                    log.exception(
                        "the callback %s failed at %s and is disabled", callback_name(callback), type(event).__name__
                    )
            yield event
    finally:
        events.close()
