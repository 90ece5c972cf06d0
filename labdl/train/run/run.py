"""A run: training in a background thread, which is recorded and can be controlled from any thread or process."""

from __future__ import annotations

import contextvars
import logging
import os
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.display import dashboard_widget, display_dashboard
from labdl.runs import control
from labdl.saving import save_parameters
from labdl.train import failures
from labdl.train.events import Epoch, Event, Start, Step
from labdl.train.run import branch, commands, rng, source_snapshot
from labdl.train.run.commands import CommandHandler
from labdl.train.run.event_stream import Listener
from labdl.train.run.exports import RecordedRun
from labdl.train.run.kept_state import KeptState
from labdl.train.run.locks import compute_lock
from labdl.train.run.log_capture import capture_logs
from labdl.train.run.logger import RunLogger
from labdl.train.run.scheduler import CommandScheduler, RefusedError
from labdl.train.run.shutdown import active_runs

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

log = logging.getLogger(__name__)


class Run(RecordedRun):
    """Training in the background.

    ``status`` is running, paused, stopping, finished, stopped or failed; ``history`` has for each value a list with one entry
    per epoch; ``folder`` has ``events.jsonl``, which other processes can follow. Commands can also be given as files in its
    folder ``control``, even while the kernel is busy (docs/runs.md); each is acknowledged by an event.

    Several runs may be active at the same time; their steps alternate. They share one random number stream, except branches
    and their parents. When the program ends it stops its runs after the current step: call `wait` for those that should
    finish. A stopped run saves its parameters to ``save_to``, and a last checkpoint if it has checkpoints. A run without them
    keeps one checkpoint in its folder while it trains, written at the end of an epoch if the last one is more than ten seconds
    old, and at the end of the program; ``trainer.start(data, resume=path)`` resumes from there.
    """

    _ipython_display_ = display_dashboard
    _display_ = dashboard_widget

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
        self._kept = KeptState(self._write_kept_state) if self._loop.checkpoint is None else None
        self._saved: tuple[int, int] | None = None  # identity and time of the file after the last write
        self.history: dict[str, list[float]] = {}
        self.error: BaseException | None = None
        self._events = events
        self._done = threading.Event()
        self._scheduler = CommandScheduler(self.id, self._record_status, lambda: self._logger.flush(), self._explain)
        self._stream = rng.shared
        self._requested_rate: float | None = None  # not yet in effect
        self._last_epoch_done = False  # no epochs can be added any more
        if self.save_to is not None:
            more = {**(more or {}), "save_to": branch.relative(self.save_to, self.folder)}
        self._logger = RunLogger(self.folder, trainer.context, more or {})
        self._commands = CommandHandler(self, self.folder, self._logger.queue_event)
        # the kernel needs this context for the output of the thread
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._train,), name=f"labdl-{self.id}", daemon=True)
        active_runs.add(self)
        dispatch.rest_threads()
        self._thread.start()

    # -- control

    def pause(self) -> None:
        """Pause after the current step; has no effect when the run is about to stop."""
        self._scheduler.pause()

    def resume(self) -> None:
        """Continue after a pause."""
        self._scheduler.resume()

    def step_once(self) -> None:
        """While paused, run one step and wait until the run is paused again. Raises RuntimeError if it is not paused."""
        if threading.current_thread() is self._thread:
            raise RefusedError(f"run {self.id} is not paused in a callback: call step_once from another thread")
        self._scheduler.step().result()

    def stop(self) -> None:
        """End after the current step; the model keeps its current parameters."""
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
        requested = self._requested_rate
        return self.trainer.learning_rate if requested is None else requested

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self._requested_rate = control.learning_rate(value)
        self._request_learning_rate(self._requested_rate)

    def checkpoint(self, folder: str | Path | None = None) -> Path:
        """Write a checkpoint after the current step, and return its path when it is complete.

        It is written to the given folder, by default to that of the training's ``checkpoint=`` or to ``checkpoints`` in the
        folder of the run, for ``resume=``. A run that has ended without an error can still be saved. Raises OSError if the
        checkpoint cannot be written; the run continues.
        """
        if threading.current_thread() is self._thread:  # called in a callback, between two steps
            return self._save_checkpoint(folder)
        try:
            return self._scheduler.submit(lambda: self._save_checkpoint(folder)).result()
        except RefusedError:
            self._done.wait()
            if self.status == "failed" or self.trainer.loop is not self._loop:
                raise
            with compute_lock:
                return self._loop.save(self._checkpoint_folder(folder))

    def add_epochs(self, epochs: int) -> None:
        """Add epochs to the training; a schedule keeps the length that it had at the start."""
        more = control.more_epochs(epochs)
        with self._scheduler.lock:
            if self._last_epoch_done or self._scheduler.closed or self._scheduler.stopping:
                raise RefusedError(
                    f"run {self.id} is at its end and takes no more epochs: start another one with resume= or a larger "
                    "epochs="
                )
            self._loop.epochs += more
            if self._scheduler.started:  # otherwise the first event has the number
                self._logger.queue_event("epochs", epochs=self._loop.epochs, step=self.step)
        self._logger.flush()

    def branch(
        self, *, learning_rate: float | None = None, epochs: int | None = None, folder: str | Path | None = None
    ) -> Run:
        """Start a second run from the state of this one between two steps, and return it; both continue independently.

        It has copies of the model and the trainer with the exact state of this run: without changes both runs have the same
        results. ``epochs`` is the total number; the schedule is unchanged. The branch is recorded in ``folder``, by default
        ``<folder>-branch-1`` next to that of this run; its recording starts at the branch. Callbacks are not copied. Raises
        ConfigError for a model or trainer that cannot be copied.
        """
        changes = control.branching({"learning_rate": learning_rate, "epochs": epochs}) or {}
        if threading.current_thread() is self._thread:
            return self._create_branch(folder=folder, **changes)
        return self._scheduler.submit(lambda: self._create_branch(folder=folder, **changes)).result()

    def send_command(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """Send a command by its name, as listed in docs/runs.md, without waiting for its execution.

        A command with an ``identity`` is executed only once, even if it is sent repeatedly, and acknowledged or refused by an
        event. Raises ConfigError for an unknown command or an invalid value.
        """
        self._commands.handle(command, value, identity)

    @property
    def status(self) -> str:
        return self._scheduler.status

    @property
    def step(self) -> int:
        """Number of steps so far."""
        return self._loop.progress.step

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with all events so far, then with new ones; returns a function that unsubscribes it."""
        return self._logger.subscribe(listener)

    # -- commands, in the training thread

    def _record_status(self, status: str) -> None:
        self._logger.queue_event("status", status=status, step=self.step)

    def _request_learning_rate(self, value: float) -> Future:
        """Set the learning rate between two steps. Raises RuntimeError if there will be no further step."""
        self._requested_rate = value
        try:
            return self._scheduler.submit(lambda: self._set_learning_rate(value))
        except RefusedError:
            self._requested_rate = None
            raise

    def _set_learning_rate(self, value: float) -> None:
        with compute_lock:
            self._loop.set_learning_rate(value)
        if self._requested_rate == value:  # unless there was a later request
            self._requested_rate = None
        self._logger.write_event("learning_rate", step=self.step, value=value)

    def _create_branch(
        self, learning_rate: float | None = None, epochs: int | None = None, folder: str | Path | None = None
    ) -> Run:
        if self._scheduler.closed:  # the model may have the parameters of its best epoch
            raise RefusedError(f"run {self.id} has ended: start another one with resume=")
        with compute_lock:
            self._stream = self._stream.separate(str(self.model.backend))
            with branch.branch_folder(self.folder, folder) as target:
                trainer, events = branch.branch_trainer(self.trainer, self._loop, target, epochs)
                save_to = None if self.save_to is None else target / self.save_to.name
                origin = branch.branch_origin(self.id, self.folder, target, self._loop.progress)
                run = type(self)(trainer, events, target, save_to, origin)
            run._stream = rng.Stream.from_current_state(str(self.model.backend))
            if learning_rate is not None:
                run._request_learning_rate(learning_rate)
        self._logger.write_event("branch", step=self.step, id=run.id, folder=branch.relative(run.folder, self.folder))
        return run

    def _checkpoint_folder(self, folder: str | Path | None) -> str | Path | None:
        return self.folder / "checkpoints" if folder is None and self._loop.checkpoint is None else folder

    def _save_checkpoint(self, folder: str | Path | None = None) -> Path:
        with compute_lock:
            path = self._loop.save(self._checkpoint_folder(folder))
        self._logger.write_event("checkpoint", step=self.step, path=str(path))
        return path

    def _record_log(self, *, source: str, **fields) -> None:
        if source not in (log.name, commands.log.name):  # problems and refusals have their own events
            self._logger.log(source=source, **fields)

    def _record_problem(self, message: str) -> None:
        """Report a problem that does not end the run, in the recording and in the log."""
        log.warning("run %s: %s", self.id, message)
        self._logger.write_event("problem", message=message)

    # -- inside

    def _train(self) -> None:
        status, message = "finished", None
        try:
            with capture_logs(self._record_log):
                for event in self._locked_events():
                    self._record(event)
                    if type(event) in (Step, Epoch, Start):  # other events belong to a step
                        self._scheduler.run_pending(stepped=type(event) is Step)
                    if self._scheduler.stopping:
                        status = "stopped"
                        break
                self._scheduler.close()
                self._scheduler.execute_calls()
                self._save_parameters(last=True)
            if status == "stopped":
                self._save_last_checkpoint()
            elif self._kept is not None:
                self._kept.remove()
        except BaseException as error:  # recorded, and raised by wait()
            status, self.error = "failed", self._explain(error)
            message = failures.error_message(self.error)
            self._write_error()
        finally:
            self._finish(status, message)

    def _explain(self, error: BaseException) -> BaseException:
        return failures.explain(error, self._loop.progress.batch_size, self.trainer.settings.accumulate)

    def _locked_events(self) -> Iterator[Event]:
        """Yield the events of the training; each step runs with the compute lock held."""
        while True:
            with compute_lock:
                self._stream.activate()
                event = next(self._events, None)
            if event is None:
                return
            yield event

    def _finish(self, status: str, message: str | None) -> None:
        self._events.close()
        self.model.eval()
        self._scheduler.close()
        try:
            self._commands.poll()  # refuse late commands
            self._scheduler.finish(status)
            self._commands.close()
            self._stream.close()
            self._logger.end(status, message, getattr(self.error, "place", None))
        finally:
            active_runs.discard(self)
            self._done.set()

    def _record(self, event: Event) -> None:
        if isinstance(event, Epoch | Start):
            with self._scheduler.lock:  # before the loop checks the number of epochs
                self._last_epoch_done = self._loop.progress.epoch >= self._loop.epochs
        if isinstance(event, Start):
            self.history = {name: list(values) for name, values in event.history.items()}
        if isinstance(event, Epoch):
            for name, value in event.values.items():
                self.history.setdefault(name, []).append(value)
        self._logger.record(event)
        if isinstance(event, Start):
            with self._scheduler.lock:
                self._scheduler.start()
                if self._loop.epochs != event.epochs:  # added in the meantime
                    self._logger.queue_event("epochs", epochs=self._loop.epochs, step=self.step)
            self._commands.start()
            self._logger.on_flush(self._commands.poll)
            self._save_source()
        if isinstance(event, Epoch):
            if self._logger.folder_was_recreated():
                self._save_source()
            self._save_parameters()

    # -- files

    def _save_source(self) -> None:
        with compute_lock:
            source_snapshot.save_source(self.folder, self.trainer.context, self.trainer.state, self._loop.epochs)

    def _save_parameters(self, last: bool = False) -> None:
        if not last:
            self._keep_state()
        if self.save_to is None:
            return
        try:
            self.save_to.parent.mkdir(parents=True, exist_ok=True)
            with compute_lock:
                save_parameters(self.model.state_dict(), self.save_to)
                self._saved = _identity(self.save_to)
        except OSError as error:
            if last:
                raise
            why = "the disk is full" if failures.lacks_space(error) else failures.error_message(error)
            self._record_problem(
                f"{self.save_to} could not be written after this epoch ({why}): its former contents are intact, the "
                "training continues and tries again after the next epoch"
            )

    def _move_parameters(self, path: Path) -> None:
        """Write the parameters to another file from now on; whoever sent the command has moved the file.

        An epoch may have ended in between: what it wrote under the former name is moved too.
        """
        with compute_lock:
            former, self.save_to = self.save_to, path
            if former is not None and self._saved is not None and _identity(former) == self._saved:
                os.replace(former, path)

    def _save_last_checkpoint(self) -> None:
        """Save a checkpoint of a stopped run at its last step, if it has checkpoints."""
        checkpoint, step = self._loop.checkpoint, self._loop.progress.step
        if self._kept is not None and step and active_runs.exiting:
            self._kept.save()
        newest = None if checkpoint is None else checkpoint.latest
        if checkpoint is not None and step and (newest is None or not newest.name.startswith(f"step-{step:08d}")):
            self._save_checkpoint()

    def _keep_state(self) -> None:
        """Keep the state at the end of an epoch; what cannot be written does not end the training."""
        try:
            if self._kept is not None:
                self._kept.save_if_due()
        except OSError as error:
            self._record_problem(f"the state of epoch {self._loop.progress.epoch} was not kept: {error}")

    def _write_kept_state(self) -> Path:
        with compute_lock:
            path = self._loop.save(self.folder / "checkpoints")
        self._logger.write_event("checkpoint", step=self.step, path=str(path), automatic=True)
        return path

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


def _identity(path: Path) -> tuple[int, int] | None:
    """Inode and time of a file, which differ from those of others under its name; None for a missing file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
