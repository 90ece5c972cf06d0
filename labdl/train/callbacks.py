"""Callbacks: functions that receive the events of a training, and objects with a method for each moment of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from labdl import habits
from labdl.errors import ConfigError, StateDictError
from labdl.train.early_stopping import EarlyStopping

if TYPE_CHECKING:
    from labdl.train.events import Event
    from labdl.train.trainer import Trainer

log = logging.getLogger(__name__)


class Callback:
    """The moments of a training at which code of one's own runs; override the methods that are wanted.

    Each gets the trainer first. Values logged with `Trainer.log` in the methods of batches become values of the step, those
    of the ends of validations and epochs values of the epoch. A method that returns True ends the training; one that raises
    is logged, and its callback is disabled. A callback with ``state_dict`` and ``load_state_dict`` has its state saved in
    checkpoints and restored when the training resumes, also one that is a function with these attributes. As
    lightning.pytorch.Callback, without its argument of the module, which is ``trainer.model``.

    Example::

        class Best(train.Callback):
            def on_train_epoch_end(self, trainer, values):
                print(trainer.progress.epoch, values["val_loss"])

        trainer.fit(data, callbacks=[Best()])
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        moments = habits.moments(cls)
        if moments:
            raise ConfigError(f"{cls.__name__} has methods that no training calls: {', '.join(moments)}")

    def on_fit_start(self, trainer: Trainer) -> Any:
        """The training starts or resumes; the model is built."""

    def on_fit_end(self, trainer: Trainer) -> Any:
        """The training has ended, by its number of epochs or earlier, but not with an exception."""

    def on_train_epoch_start(self, trainer: Trainer) -> Any:
        """An epoch starts, or goes on where a checkpoint was saved."""

    def on_train_epoch_end(self, trainer: Trainer, values: Mapping[str, float]) -> Any:
        """An epoch has ended, with its validation; ``values`` are its means, before history and checkpoints get them."""

    def on_train_batch_start(self, trainer: Trainer, batch: Any, batch_index: int) -> Any:
        """A batch is about to be trained, the ``batch_index``-th of its epoch, counted from 0."""

    def on_train_batch_end(self, trainer: Trainer, values: Mapping[str, float], batch: Any, batch_index: int) -> Any:
        """A batch was trained, with the loss and metrics in ``values``."""

    def on_validation_start(self, trainer: Trainer) -> Any:
        """A validation starts."""

    def on_validation_end(self, trainer: Trainer, values: Mapping[str, float]) -> Any:
        """A validation has ended; the names of ``values`` begin with ``val_``."""

    def on_exception(self, trainer: Trainer, exception: BaseException) -> Any:
        """The training ends with an exception, which is raised afterwards."""

    def on_save_checkpoint(self, trainer: Trainer, saved: dict[str, Any]) -> Any:
        """A checkpoint is about to be saved: plain data and NumPy arrays put into ``saved`` become part of it."""

    def on_load_checkpoint(self, trainer: Trainer, saved: dict[str, Any]) -> Any:
        """The training resumes from a checkpoint; ``saved`` is what `on_save_checkpoint` put there."""


Listener = Callable[["Event"], Any] | Callback


# methods of callbacks of Keras and Lightning
_HOOKS = (
    "on_epoch_end",
    "on_epoch_begin",
    "on_batch_end",
    "on_train_begin",
    "on_train_epoch_end",
    "on_train_batch_end",
)


def split_early_stopping(
    callbacks: Iterable[Listener] | None, own: EarlyStopping | None
) -> tuple[EarlyStopping | None, list[Listener]]:
    """Split the early stopping, from the settings or among the callbacks, from the other callbacks. Raises ConfigError."""
    if callable(callbacks) or isinstance(callbacks, Callback):
        raise ConfigError(f"callbacks wants a list of functions of an event: callbacks=[{callback_name(callbacks)}]")
    listed = list(callbacks or ())
    for callback in listed:
        if isinstance(callback, type) and issubclass(callback, Callback):
            raise ConfigError(f"callbacks wants an object, received the class {callback.__name__}: write it with ()")
        if not isinstance(callback, Callback) and any(hasattr(callback, hook) for hook in _HOOKS):
            raise ConfigError(
                f"callbacks wants functions of an event or objects of subclasses of labdl.train.Callback, "
                f"{callback_name(callback)} is a callback of another kind: derive its class from labdl.train.Callback"
            )
        if not callable(callback) and not isinstance(callback, Callback):
            raise ConfigError(f"callbacks wants functions of an event, received {callback!r}")
    stopping = [*([] if own is None else [own]), *(c for c in listed if isinstance(c, EarlyStopping))]
    if len(stopping) > 1:
        raise ConfigError("a training stops early by one value: give one EarlyStopping, as setting or as callback")
    return next(iter(stopping), None), [c for c in listed if not isinstance(c, EarlyStopping)]


def callback_name(callback: Any) -> str:
    return getattr(callback, "__qualname__", type(callback).__name__)


class Callbacks:
    """The callbacks of one training of a trainer; ``stop`` is called when one returns True.

    A callback that raises is logged and disabled; it does not end the training.
    """

    def __init__(self, trainer: Any, listed: Iterable[Listener], stop: Callable[[], None]):
        self._trainer, self._stop = trainer, stop
        self._listed: list[Any] = [*listed]
        self._names = _unique_names(self._listed)
        self._told: Event | None = None

    def call(self, hook: str, *args: Any) -> None:
        """Call a method of each `Callback` that overrides it."""
        for callback in list(self._listed):
            method = getattr(type(callback), hook, None)
            if isinstance(callback, Callback) and method is not getattr(Callback, hook):
                self._guard(callback, lambda c=callback: getattr(c, hook)(self._trainer, *args), hook)

    def notify(self, event: Event) -> None:
        """Call each function with an event; `follow` will not call it again for this one."""
        self._told = event
        for callback in list(self._listed):
            if callable(callback):
                self._guard(callback, lambda c=callback: c(event), type(event).__name__)

    def follow(self, events: Generator[Event, None, None]) -> Generator[Event, None, None]:
        """Yield the events after the functions were called with them."""
        try:
            for event in events:
                if event is not self._told:
                    self.notify(event)
                yield event
        finally:
            events.close()

    def state_dict(self) -> dict[str, Any]:
        """The states of the callbacks that have one, by the names of their classes."""
        states: dict[str, Any] = {}
        callback: Any
        for callback in self._listed:
            saved: dict[str, Any] = {}
            if isinstance(callback, Callback):
                callback.on_save_checkpoint(self._trainer, saved)
            own = callback.state_dict() if _has_state(callback) else None  # type: ignore[reportAttributeAccessIssue]
            if saved or own is not None:
                states[self._names[id(callback)]] = {"state": own, "saved": saved}
        return states

    def load_state_dict(self, states: Mapping[str, Any]) -> None:
        """Restore the states of a checkpoint. Raises StateDictError for a malformed one."""
        for callback in self._listed:
            entry = states.get(self._names[id(callback)])
            if entry is None:
                continue
            name = self._names[id(callback)]
            if not isinstance(entry, Mapping) or not isinstance(entry.get("saved"), dict):
                raise StateDictError(f"the state of the callback {name} wants state and saved, received {entry!r:.80}")
            if entry.get("state") is not None and _has_state(callback):
                callback.load_state_dict(entry["state"])
            if isinstance(callback, Callback):
                callback.on_load_checkpoint(self._trainer, entry["saved"])
        missing = states.keys() - self._names.values()
        if missing:
            log.warning(
                "the checkpoint has states of callbacks that the training lacks: %s", ", ".join(sorted(missing))
            )

    def _guard(self, callback: Any, run: Callable[[], Any], moment: str) -> None:
        try:
            if run() is True:
                self._stop()
        except Exception:  # logged with the callback's name; the training continues
            self._listed.remove(callback)
            log.exception("the callback %s failed at %s and is disabled", callback_name(callback), moment)


def _has_state(callback: Any) -> bool:
    return callable(getattr(callback, "state_dict", None)) and callable(getattr(callback, "load_state_dict", None))


def _unique_names(listed: list[Any]) -> dict[int, str]:
    """A name of each callback by its id: that of its class, numbered from the second one on."""
    names: dict[int, str] = {}
    for callback in listed:
        name, n = callback_name(callback), 2
        while name in names.values():
            name, n = f"{callback_name(callback)}_{n}", n + 1
        names[id(callback)] = name
    return names
