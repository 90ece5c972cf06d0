"""A run: training in a thread of its own, recorded, and under control from anywhere."""

from __future__ import annotations

import contextvars
import logging
import os
import queue
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.saving import save_parameters
from labdl.train import control, failures
from labdl.train.events import Epoch, Event, Health, Started, Step
from labdl.train.exits import running
from labdl.train.feed import Listener
from labdl.train.recorder import Recorder
from labdl.train.turns import turns

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

log = logging.getLogger(__name__)


class Run:
    """Training that goes on in the background (R9.4).

    ``status`` is running, paused, stopping, finished, stopped or failed; ``history`` holds a list an epoch for each
    value; ``folder`` holds ``events.jsonl``, from which any process can follow. Commands also arrive through
    ``control.jsonl`` in that folder, so that they work while the kernel is busy: ``{"command": "pause"}``, "resume", "stop",
    "checkpoint", ``{"command": "learning_rate", "value": 1e-4}`` and ``{"command": "add_epochs", "value": 5}``.

    Several runs may go on at a time, in turns step by step; they draw from one stream of random numbers. A program that comes
    to its end stops its runs after the step under way: call `wait` for those that are to finish. A run that is stopped leaves
    the parameters in ``save_to``, and a last checkpoint where it keeps any.
    """

    def __init__(self, trainer: Trainer, events: Generator[Event, None, None], folder=None, save_to=None):
        identity = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self.folder = Path(folder) if folder is not None else Path("runs") / identity
        self.id = self.folder.name
        self.trainer, self.model = trainer, trainer.model
        assert trainer.loop is not None
        self._loop = trainer.loop
        self.save_to = None if save_to is None else Path(save_to)
        self.history: dict[str, list[float]] = {}
        self.status = "running"
        self.error: BaseException | None = None
        self._events = events
        self._go, self._stop, self._done = threading.Event(), threading.Event(), threading.Event()
        self._go.set()
        self._asked: queue.SimpleQueue[Callable[[], Any]] = (
            queue.SimpleQueue()
        )  # what to do at the next border of a step
        self._layers: tuple[str, ...] = ()  # that the recording has named
        self._rate: float | None = None  # asked for, and not yet at work
        self._ending = threading.RLock()  # who hears of an event may give a command at once
        self._full = self._closed = False  # no epochs, no commands can be taken any more
        self._recorder = Recorder(self.folder)
        self._control = control.ControlFile(self.folder / control.CONTROL)
        self._recorder.on_flush = self._obey_file
        # a plain thread would lose its output, or die, in the kernel: run it in this context
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._train,), name=f"labdl-{self.id}", daemon=True)
        running.add(self)
        self._thread.start()

    # -- control

    def pause(self) -> None:
        """Rest after the step under way; does nothing when the run is about to stop."""
        if not self._stop.is_set():
            self._go.clear()

    def resume(self) -> None:
        """Go on after a pause."""
        self._wake()

    def stop(self) -> None:
        """End after the step under way; the model keeps what it has learnt."""
        with self._ending:  # the end may come at the same moment, and closes the recording
            if self.status in ("running", "paused") and not self._stop.is_set():
                self.status = "stopping"
                self._recorder.event("status", status="stopping")
        self._stop.set()
        self._wake()

    def wait(self, timeout: float | None = None) -> Run:
        """Block until the run has ended; raises the error that ended it, or TimeoutError."""
        if not self._done.wait(timeout):
            raise TimeoutError(f"run {self.id} is still {self.status} after {timeout} s")
        if self.error is not None:
            raise self.error
        return self

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step. It may be set at any time: see `Loop.set_learning_rate` for schedules."""
        asked = self._rate
        return self.trainer.learning_rate if asked is None else asked

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self._rate = control.learning_rate(value)
        try:
            self._ask(self._set_rate)
        except RuntimeError:
            self._rate = None
            raise

    def checkpoint(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint after the step under way and return its path when it is there.

        It goes to the folder given, to that of the training's own ``checkpoint=``, or else to ``checkpoints`` in the run's
        folder, from where ``resume=`` takes it up. A run that has ended well can still be saved so. Raises OSError where it
        cannot be written; the run goes on.
        """
        if threading.current_thread() is self._thread:  # a callback's own wish, between two steps
            return self._keep(folder)
        try:
            return self._ask(lambda: self._keep(folder)).result()
        except _EndedError:
            self._done.wait()
            if self.status == "failed" or self.trainer.loop is not self._loop:
                raise
            with turns:
                return self._loop.save(self._place(folder))

    def add_epochs(self, epochs: int) -> None:
        """Train so many epochs more than was planned; a schedule keeps the course that it was given at the start."""
        more = control.more_epochs(epochs)
        with self._ending:
            if self._full or self._closed or self._stop.is_set():
                raise _EndedError(f"run {self.id} is at its end and takes no more epochs: start another with resume= or a "
                                  "larger epochs=")  # fmt: skip
            self._loop.epochs += more
            self._recorder.event("epochs", epochs=self._loop.epochs)

    def obey(self, command: str, value: float | None = None) -> None:
        """Take a command by its name, as ``control.jsonl`` has them, without waiting for it to be carried out.

        The answer is an event. One that comes when the run is at its end changes nothing. Raises ConfigError for what is none.
        """
        checked = control.checked(command, value)
        try:
            if command == "checkpoint":
                self._ask(self._keep).add_done_callback(self._complain)
            elif command == "learning_rate":
                self.learning_rate = checked
            else:
                getattr(self, command)(*([] if checked is None else [checked]))
        except _EndedError:
            log.info("run %s is at its end: the command %s came too late", self.id, command)

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with everything recorded so far, then live; returns a function that ends it."""
        return self._recorder.subscribe(listener)

    # -- commands, in the thread that trains

    def _wake(self) -> None:
        self._go.set()
        self._asked.put(_wake_up)

    def _ask(self, do: Callable[[], Any]) -> Future:
        """Have something done between two steps. Raises RuntimeError when there will be none any more."""
        future: Future = Future()

        def answering() -> None:
            try:
                future.set_result(do())
            except Exception as error:  # of whoever asked
                future.set_exception(self._explained(error))

        with self._ending:
            if self._closed:
                raise _EndedError(f"run {self.id} has ended: start another")
            self._asked.put(answering)
        return future

    def _answer(self) -> None:
        while not self._asked.empty():
            self._asked.get()()

    def _set_rate(self) -> None:
        value, self._rate = self._rate, None
        if value is not None:
            with turns:
                self._loop.set_learning_rate(value)
            self._recorder.event("learning_rate", step=self._loop.progress.step, value=value)

    def _place(self, folder: str | Path | None) -> str | Path | None:
        return self.folder / "checkpoints" if folder is None and self._loop.checkpoint is None else folder

    def _keep(self, folder: str | Path | None = None) -> Path:
        with turns:
            path = self._loop.save(self._place(folder))
        self._recorder.event("checkpoint", step=self._loop.progress.step, path=str(path))
        return path

    def _obey_file(self) -> None:
        for command, value in self._control.commands():
            self.obey(command, value)

    def _complain(self, answer: Future) -> None:
        error = answer.exception()
        if error is not None:
            self._problem(failures.sentence(error))

    def _problem(self, message: str) -> None:
        """Something that does not end the run, for whoever looks at the recording or the log."""
        log.warning("run %s: %s", self.id, message)
        self._recorder.event("problem", message=message)

    # -- inside

    def _train(self) -> None:
        status, message = "finished", None
        try:
            for event in self._in_turns():
                self._record(event)
                self._answer()
                if not self._go.is_set():
                    self._rest()
                if self._stop.is_set():
                    status = "stopped"
                    break
            with self._ending:
                self._closed = True
            self._answer()
            self._save(last=True)
            if status == "stopped":
                self._keep_last()
        except BaseException as error:  # shown to the person in `message` and raised by wait()
            status, self.error = "failed", self._explained(error)
            message = failures.sentence(self.error)
            self._write_error()
        finally:
            self._finish(status, message)

    def _explained(self, error: BaseException) -> BaseException:
        return failures.explained(error, self._loop.progress.batch_size, self.trainer.settings.accumulate)

    def _in_turns(self) -> Iterator[Event]:
        while True:
            with turns:
                event = next(self._events, None)
            if event is None:
                return
            yield event

    def _finish(self, status: str, message: str | None) -> None:
        self._events.close()
        self.model.eval()
        with self._ending:
            self.status, self._closed = status, True
        self._answer()  # what came too late to be carried out still wants its answer
        try:
            place = getattr(self.error, "place", None)
            self._recorder.event("end", status=status, message=message, **({"place": place} if place else {}))
            self._recorder.close()
        finally:
            running.discard(self)
            self._done.set()

    def _record(self, event: Event) -> None:
        if isinstance(event, Step):
            self._recorder.step(event.step, dict(event.values))
            return
        if isinstance(event, Health):
            self._record_health(event)
            return
        with self._ending:  # the loop looks at the number of epochs next
            self._full = self._loop.progress.epoch >= self._loop.epochs
        if isinstance(event, Epoch):
            for name, value in event.values.items():
                self.history.setdefault(name, []).append(value)
            self._recorder.later("epoch", epoch=event.epoch, step=event.step, **event.values,
                                 samples_per_second=event.samples_per_second)  # fmt: skip
            self._save()
        elif isinstance(event, Started):
            self.history = {name: list(values) for name, values in event.history.items()}
            graph = getattr(self.model, "graph", None)
            name = graph.name if graph is not None else type(self.model).__name__
            self._recorder.event(
                "start", version=1, id=self.id, pid=os.getpid(), model=name, backend=self.model.backend,
                epochs=event.epochs, steps_per_epoch=event.steps_per_epoch, batch_size=event.batch_size,
                samples=event.samples, step=event.step, loss=self.trainer.loss_name, optimizer=self.trainer.optimizer.kind,
                metrics=list(self.trainer.metrics), settings=dict(event.settings),
            )  # fmt: skip

    def _record_health(self, event: Health) -> None:
        """The layers stand in the first of these events, and again where they are others."""
        known, self._layers = self._layers, event.layers
        layers = {} if known == event.layers else {"layers": list(event.layers)}
        self._recorder.later("health", version=1, step=event.step, samples=event.samples, seconds=round(event.seconds, 6),
                             **layers, parameters=dict(event.parameters), outputs=dict(event.outputs))  # fmt: skip

    def _rest(self) -> None:
        self.status = "paused"
        self._recorder.event("status", status="paused")
        do = None
        while do is not _wake_up:  # also when a pause has followed: then a step is made before the next rest
            do = self._asked.get()
            do()
        if not self._stop.is_set():
            self.status = "running"
            self._recorder.event("status", status="running")

    # -- what stays

    def _save(self, last: bool = False) -> None:
        if self.save_to is None:
            return
        try:
            self.save_to.parent.mkdir(parents=True, exist_ok=True)
            with turns:
                save_parameters(self.model.state_dict(), self.save_to)
        except OSError as error:
            if last:
                raise
            why = "the disk is full" if failures.lacks_space(error) else failures.sentence(error)
            self._problem(f"{self.save_to} could not be written after this epoch ({why}): what was there before is whole, "
                          "the training goes on and tries again")  # fmt: skip

    def _keep_last(self) -> None:
        """A run that is stopped goes on from where it was, if it keeps checkpoints at all."""
        kept, step = self._loop.checkpoint, self._loop.progress.step
        newest = None if kept is None else kept.latest
        if kept is not None and step and (newest is None or not newest.name.startswith(f"step-{step:08d}")):
            self._keep()

    def _write_error(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        except OSError as error:
            log.warning(
                "%s could not be written (%s); run.error has it", self.folder / "error.txt", error.strerror or error
            )

    def __repr__(self) -> str:
        last = ", ".join(f"{k} {v[-1]:.4f}" for k, v in self.history.items() if v)
        return f"Run({self.id}: {self.status}{', ' if last else ''}{last})"


def _wake_up() -> None:
    """Nothing, for a run at rest that waits for something to do."""


class _EndedError(RuntimeError):
    """A command came when the run could not carry it out any more."""
