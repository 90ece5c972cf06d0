"""A run: training in a thread of its own, recorded, and under control from anywhere."""

from __future__ import annotations

import contextvars
import logging
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.display import display_dashboard
from labdl.runs import control
from labdl.saving import save_parameters
from labdl.train import failures
from labdl.train.events import Epoch, Event, Start, Step
from labdl.train.run import branch, commands, rng, source_snapshot
from labdl.train.run.commands import CommandHandler
from labdl.train.run.event_stream import Listener
from labdl.train.run.exports import RecordedRun
from labdl.train.run.locks import turns
from labdl.train.run.log_capture import recording_logs
from labdl.train.run.logger import RunLogger
from labdl.train.run.scheduler import CommandScheduler, RefusedError
from labdl.train.run.shutdown import running

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

log = logging.getLogger(__name__)


class Run(RecordedRun):
    """Training that goes on in the background (R9.4).

    ``status`` is running, paused, stopping, finished, stopped or failed; ``history`` holds a list an epoch for each
    value; ``folder`` holds ``events.jsonl``, from which any process can follow. Commands also arrive through its folder
    ``control``, so that they work while the kernel is busy (docs/runs.md); each is answered by an event.

    Several runs may go on at a time, in turns step by step; they draw from one stream of random numbers, but
    for branches and the runs they come from. A program that comes
    to its end stops its runs after the step under way: call `wait` for those that are to finish. A run that is stopped leaves
    the parameters in ``save_to``, and a last checkpoint where it keeps any.
    """

    _ipython_display_ = display_dashboard

    def __init__(
        self,
        trainer: Trainer,
        events: Generator[Event, None, None],
        folder=None,
        save_to=None,
        more: dict[str, Any] | None = None,
    ):
        identity = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self.folder = Path(folder) if folder is not None else Path("runs") / identity
        self.id = self.folder.name
        self.trainer, self.model = trainer, trainer.model
        assert trainer.loop is not None
        self._loop = trainer.loop
        self.save_to = None if save_to is None else Path(save_to)
        self.history: dict[str, list[float]] = {}
        self.error: BaseException | None = None
        self._events = events
        self._done = threading.Event()
        self._scheduler = CommandScheduler(self.id, self._tell_status, lambda: self._logger.flush(), self._explained)
        self._stream = rng.shared
        self._rate: float | None = None  # asked for, and not yet at work
        self._full = False  # no epochs can be added any more
        self._logger = RunLogger(self.folder, trainer.context, more or {})
        self._orders = CommandHandler(self, self.folder, self._logger.later)
        # a plain thread would lose its output, or die, in the kernel: run it in this context
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._train,), name=f"labdl-{self.id}", daemon=True)
        running.add(self)
        dispatch.rest_threads()
        self._thread.start()

    # -- control

    def pause(self) -> None:
        """Rest after the step under way; does nothing when the run is about to stop."""
        self._scheduler.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        self._scheduler.resume()

    def step_once(self) -> None:
        """Make one step out of a pause, and come back when the run rests again. Raises RuntimeError where it does not rest."""
        if threading.current_thread() is self._thread:
            raise RefusedError(f"run {self.id} is not at rest while a callback is called: call step_once from outside")
        self._scheduler.step().result()

    def stop(self) -> None:
        """End after the step under way; the model keeps what it has learned."""
        self._scheduler.stop()

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
        self._ask_rate(self._rate)

    def checkpoint(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint after the step under way and return its path when it is there.

        It goes to the folder given, to that of the training's own ``checkpoint=``, or else to ``checkpoints`` in the run's
        folder, from where ``resume=`` takes it up. A run that has ended well can still be saved so. Raises OSError where it
        cannot be written; the run goes on.
        """
        if threading.current_thread() is self._thread:  # a callback's own wish, between two steps
            return self._keep(folder)
        try:
            return self._scheduler.ask(lambda: self._keep(folder)).result()
        except RefusedError:
            self._done.wait()
            if self.status == "failed" or self.trainer.loop is not self._loop:
                raise
            with turns:
                return self._loop.save(self._place(folder))

    def add_epochs(self, epochs: int) -> None:
        """Train so many epochs more than was planned; a schedule keeps the course that it was given at the start."""
        more = control.more_epochs(epochs)
        with self._scheduler.lock:
            if self._full or self._scheduler.closed or self._scheduler.stopping:
                raise RefusedError(
                    f"run {self.id} is at its end and takes no more epochs: start another with resume= or a "
                    "larger epochs="
                )
            self._loop.epochs += more
            if self._scheduler.begun:  # or the first event has the number
                self._logger.later("epochs", epochs=self._loop.epochs, step=self.step)
        self._logger.flush()

    def branch(
        self, *, learning_rate: float | None = None, epochs: int | None = None, folder: str | Path | None = None
    ) -> Run:
        """Begin another run from here, between two steps, which goes on beside this one, and return it.

        It begins with the exact state of this one, in a copy of the model and the trainer: without changes both end with the
        same numbers. ``epochs`` are those in all; the schedule keeps its course. It is recorded in ``folder``, by default
        ``<folder>-branch-1`` beside this one's, from its first step on: what was before stands in the run it comes from.
        Callbacks stay with this run. Raises ConfigError for a model or trainer that cannot be copied.
        """
        changes = control.branching({"learning_rate": learning_rate, "epochs": epochs}) or {}
        if threading.current_thread() is self._thread:
            return self._branched(folder=folder, **changes)
        return self._scheduler.ask(lambda: self._branched(folder=folder, **changes)).result()

    def obey(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """Take a command by its name, as docs/runs.md has them, without waiting for it to be carried out.

        With an ``identity`` it is carried out once, however often it comes, and the answer, also a refusal, is an event. One
        without that comes when the run is at its end changes nothing. Raises ConfigError for what is none.
        """
        self._orders.obey(command, value, identity)

    @property
    def status(self) -> str:
        return self._scheduler.status

    @property
    def step(self) -> int:
        """The number of steps made."""
        return self._loop.progress.step

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with everything recorded so far, then live; returns a function that ends it."""
        return self._logger.subscribe(listener)

    # -- commands, in the thread that trains

    def _tell_status(self, status: str) -> None:
        self._logger.later("status", status=status, step=self.step)

    def _ask_rate(self, value: float) -> Future:
        """Set the rate between two steps. Raises RuntimeError when there will be none any more."""
        self._rate = value
        try:
            return self._scheduler.ask(lambda: self._set_rate(value))
        except RefusedError:
            self._rate = None
            raise

    def _set_rate(self, value: float) -> None:
        with turns:
            self._loop.set_learning_rate(value)
        if self._rate == value:  # the last that was asked for
            self._rate = None
        self._logger.event("learning_rate", step=self.step, value=value)

    def _branched(
        self, learning_rate: float | None = None, epochs: int | None = None, folder: str | Path | None = None
    ) -> Run:
        if self._scheduler.closed:  # the model may have the parameters of its best epoch by now
            raise RefusedError(f"run {self.id} has ended: start another with resume=")
        with turns:
            self._stream = self._stream.own(str(self.model.backend))
            with branch.branch_folder(self.folder, folder) as target:
                trainer, events = branch.branch_trainer(self.trainer, self._loop, target, epochs)
                save_to = None if self.save_to is None else target / self.save_to.name
                origin = branch.branch_origin(self.id, self.folder, target, self._loop.progress)
                made = type(self)(trainer, events, target, save_to, origin)
            made._stream = rng.Stream.beginning(str(self.model.backend))
            if learning_rate is not None:
                made._ask_rate(learning_rate)
        told = branch.relative(made.folder, self.folder)
        self._logger.event("branch", step=self.step, id=made.id, folder=told)
        return made

    def _place(self, folder: str | Path | None) -> str | Path | None:
        return self.folder / "checkpoints" if folder is None and self._loop.checkpoint is None else folder

    def _keep(self, folder: str | Path | None = None) -> Path:
        with turns:
            path = self._loop.save(self._place(folder))
        self._logger.event("checkpoint", step=self.step, path=str(path))
        return path

    def _tell_log(self, *, source: str, **told) -> None:
        if source not in (log.name, commands.log.name):  # problems and refusals are told as such
            self._logger.log(source=source, **told)

    def _problem(self, message: str) -> None:
        """Something that does not end the run, for whoever looks at the recording or the log."""
        log.warning("run %s: %s", self.id, message)
        self._logger.event("problem", message=message)

    # -- inside

    def _train(self) -> None:
        status, message = "finished", None
        try:
            with recording_logs(self._tell_log):
                for event in self._in_turns():
                    self._record(event)
                    if type(event) in (Step, Epoch, Start):  # what is told of a step besides is no border
                        self._scheduler.border(stepped=type(event) is Step)
                    if self._scheduler.stopping:
                        status = "stopped"
                        break
                self._scheduler.shut()
                self._scheduler.work()
                self._save(last=True)
            if status == "stopped":
                self._keep_last()
        except BaseException as error:  # shown to the person in `message` and raised by wait()
            status, self.error = "failed", self._explained(error)
            message = failures.error_message(self.error)
            self._write_error()
        finally:
            self._finish(status, message)

    def _explained(self, error: BaseException) -> BaseException:
        return failures.explain(error, self._loop.progress.batch_size, self.trainer.settings.accumulate)

    def _in_turns(self) -> Iterator[Event]:
        while True:
            with turns:
                self._stream.enter()
                event = next(self._events, None)
            if event is None:
                return
            yield event

    def _finish(self, status: str, message: str | None) -> None:
        self._events.close()
        self.model.eval()
        self._scheduler.shut()
        try:
            self._orders.look()  # what came too late to be carried out still wants its answer
            self._scheduler.close(status)
            self._orders.end()
            self._stream.leave()
            self._logger.end(status, message, getattr(self.error, "place", None))
        finally:
            running.discard(self)
            self._done.set()

    def _record(self, event: Event) -> None:
        if isinstance(event, Epoch | Start):
            with self._scheduler.lock:  # the loop looks at the number of epochs next
                self._full = self._loop.progress.epoch >= self._loop.epochs
        if isinstance(event, Start):
            self.history = {name: list(values) for name, values in event.history.items()}
        if isinstance(event, Epoch):
            for name, value in event.values.items():
                self.history.setdefault(name, []).append(value)
        self._logger.record(event)
        if isinstance(event, Start):
            with self._scheduler.lock:
                self._scheduler.begin()
                if self._loop.epochs != event.epochs:  # added in this moment
                    self._logger.later("epochs", epochs=self._loop.epochs, step=self.step)
            self._orders.begin()
            self._logger.often(self._orders.look)
            with turns:
                source_snapshot.save_source(self.folder, self.trainer.context, self.trainer.state, self._loop.epochs)
        if isinstance(event, Epoch):
            self._save()

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
            why = "the disk is full" if failures.lacks_space(error) else failures.error_message(error)
            self._problem(
                f"{self.save_to} could not be written after this epoch ({why}): what was there before is whole, "
                "the training goes on and tries again"
            )

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
