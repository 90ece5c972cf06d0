"""Functions that hear the events of a training."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError
from labdl.train.events import Event
from labdl.train.stopping import EarlyStopping

if TYPE_CHECKING:
    from labdl.train.loop import Loop

Callback = Callable[[Event], Any]


def divided(callbacks: Iterable[Callback], own: EarlyStopping | None) -> tuple[EarlyStopping | None, list[Callback]]:
    """The early stopping of a training, its own or one among the callbacks, and the other callbacks. Raises ConfigError."""
    if callable(callbacks):
        raise ConfigError(f"callbacks wants a list of functions of an event: callbacks=[{name_of(callbacks)}]")
    listed = list(callbacks)
    for callback in listed:
        if not callable(callback):
            raise ConfigError(f"callbacks wants functions of an event, received {callback!r}")
    stopping = [*([] if own is None else [own]), *(c for c in listed if isinstance(c, EarlyStopping))]
    if len(stopping) > 1:
        raise ConfigError("a training stops early by one figure: give one EarlyStopping, as setting or as callback")
    return next(iter(stopping), None), [c for c in listed if not isinstance(c, EarlyStopping)]


def name_of(callback: Callback) -> str:
    return getattr(callback, "__qualname__", type(callback).__name__)


def telling(loop: Loop, callbacks: list[Callback]) -> Generator[Event, None, None]:
    """The events of a loop, each callback having heard them; one that returns True ends the training.

    One that fails is named in the log with its error and hears no more: somebody else's code must not end a training.
    """
    events = loop.events()
    try:
        for event in events:
            for callback in list(callbacks):
                try:
                    if callback(event) is True:
                        loop.ask_to_stop()
                except Exception:  # whatever it is, it is shown with the callback's name, and the training goes on
                    callbacks.remove(callback)
                    logging.getLogger(__name__).exception("the callback %s failed at %s and hears no more",
                                                          name_of(callback), type(event).__name__)  # fmt: skip
            yield event
    finally:
        events.close()
