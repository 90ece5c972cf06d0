"""A run: training in a thread of its own, recorded, and under control from anywhere."""

from __future__ import annotations

import contextvars
import json
import os
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from labdl.saving import save_parameters
from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.recorder import Listener, Recorder

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

COMMANDS = ("pause", "resume", "stop")


class Run:
    """Training that goes on in the background (R9.4).

    ``status`` is running, paused, stopping, finished, stopped or failed; ``history`` holds a list an epoch for each
    value; ``folder`` holds ``events.jsonl``, from which any process can follow. Commands also arrive through
    ``control.jsonl`` in that folder, so that they work while the kernel is busy.
    """

    def __init__(self, trainer: Trainer, events: Generator[Event, None, None], folder=None, save_to=None):
        identity = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self.folder = Path(folder) if folder is not None else Path("runs") / identity
        self.id = self.folder.name
        self.trainer, self.model = trainer, trainer.model
        self.save_to = None if save_to is None else Path(save_to)
        self.history: dict[str, list[float]] = {}
        self.status = "running"
        self.error: BaseException | None = None
        self._events = events
        self._go, self._stop, self._done = threading.Event(), threading.Event(), threading.Event()
        self._go.set()
        self._ending = threading.Lock()
        self._read = 0
        self._recorder = Recorder(self.folder)
        self._recorder.on_flush = self._obey_file
        # a plain thread would lose its output, or die, in the kernel: run it in this context
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._train,), name=f"labdl-{self.id}", daemon=True)
        self._thread.start()

    # -- control

    def pause(self) -> None:
        """Rest after the step under way; does nothing when the run is about to stop."""
        if not self._stop.is_set():
            self._go.clear()

    def resume(self) -> None:
        """Go on after a pause."""
        self._go.set()

    def stop(self) -> None:
        """End after the step under way; the model keeps what it has learnt."""
        with self._ending:  # the end may come at the same moment, and closes the recording
            if self.status in ("running", "paused") and not self._stop.is_set():
                self.status = "stopping"
                self._recorder.event("status", status="stopping")
        self._stop.set()
        self._go.set()

    def wait(self, timeout: float | None = None) -> Run:
        """Block until the run has ended; raises the error that ended it, or TimeoutError."""
        if not self._done.wait(timeout):
            raise TimeoutError(f"run {self.id} is still {self.status} after {timeout} s")
        if self.error is not None:
            raise self.error
        return self

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(events)`` with everything recorded so far, then live; returns a function that ends it."""
        return self._recorder.subscribe(listener)

    # -- inside

    def _train(self) -> None:
        status, message = "finished", None
        try:
            for event in self._events:
                self._record(event)
                if not self._go.is_set():
                    self._rest()
                if self._stop.is_set():
                    status = "stopped"
                    break
            self._save()
        except BaseException as error:  # shown to the person in `message` and raised by wait()
            status, message, self.error = "failed", str(error) or type(error).__name__, error
            (self.folder / "error.txt").write_text(traceback.format_exc())
        finally:
            self._events.close()
            self.model.eval()
            with self._ending:
                self.status = status
            try:
                self._recorder.event("end", status=status, message=message)
                self._recorder.close()
            finally:  # also when the disk is full
                self._done.set()

    def _record(self, event: Event) -> None:
        if isinstance(event, Step):
            self._recorder.step(event.step, dict(event.values))
        elif isinstance(event, Epoch):
            for name, value in event.values.items():
                self.history.setdefault(name, []).append(value)
            self._recorder.event("epoch", epoch=event.epoch, step=event.step, **event.values,
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

    def _rest(self) -> None:
        self.status = "paused"
        self._recorder.event("status", status="paused")
        self._go.wait()
        if not self._stop.is_set():
            self.status = "running"
            self._recorder.event("status", status="running")

    def _save(self) -> None:
        if self.save_to is not None:
            save_parameters(self.model.state_dict(), self.save_to)

    def _obey_file(self) -> None:
        """Carry out commands that other processes have appended to control.jsonl."""
        path = self.folder / "control.jsonl"
        if not path.exists():
            return
        data = path.read_bytes()[self._read :]
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            try:
                command = json.loads(line).get("command")
            except (ValueError, AttributeError):
                continue  # a line that is no command: the file is open to other writers
            if command in COMMANDS:
                getattr(self, command)()

    def __repr__(self) -> str:
        last = ", ".join(f"{k} {v[-1]:.4f}" for k, v in self.history.items() if v)
        return f"Run({self.id}: {self.status}{', ' if last else ''}{last})"
