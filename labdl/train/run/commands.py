"""Commands of a run by name: each is executed once and acknowledged by an event (docs/runs.md)."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.runs import control
from labdl.train import failures
from labdl.train.run.scheduler import RefusedError

if TYPE_CHECKING:
    from labdl.train.run.run import Run

_REMEMBERED = 10_000  # ids of commands
log = logging.getLogger(__name__)


class CommandHandler:
    """Executes the commands that a run receives by name, from a page or through its folder.

    ``record(kind, **values)`` adds an event to the recording and must not block.
    """

    def __init__(self, run: Run, folder: Path, record: Callable[..., None]):
        self._run, self._record = run, record
        self._folder = control.ControlFolder(folder / control.CONTROL)
        self._seen: set[str] = set()
        self._order: deque[str] = deque()
        self._lock = threading.Lock()
        self._closed = False
        self._early: list[dict[str, Any]] | None = []  # acknowledgements before the first event of the training

    def handle(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """Execute a command; see `Run.send_command`."""
        if identity is None:
            future = self._execute(command, control.check_command(command, value))
            future.add_done_callback(lambda done: self._report_error(command, done.exception()))
            return
        if not self._is_new(control.check_id(identity)):
            return
        try:
            value = control.check_command(command, value)
        except ValueError as error:
            self._acknowledge(identity, command if command in control.COMMANDS else "", None, error)
            return
        future = self._execute(command, value)
        future.add_done_callback(lambda done: self._acknowledge(identity, command, value, done.exception()))

    def poll(self) -> None:
        """Execute the commands in the folder."""
        for order in self._folder.commands():
            if order.refusal is None:
                self.handle(order.command, order.value, order.identity)
            elif self._is_new(order.identity):
                self._acknowledge(order.identity, order.command, None, RefusedError(order.refusal))

    def start(self) -> None:
        """Record acknowledgements from now on, after the first event of the training."""
        with self._lock:
            early, self._early = self._early or [], None
            for acknowledgement in early:
                self._record("command", **acknowledgement)

    def close(self) -> None:
        """Stop recording acknowledgements, before the last event."""
        self.start()
        with self._lock:
            self._closed = True

    def _execute(self, command: str, value: Any) -> Future:
        """Start a command; returns the future of its result."""
        try:
            return _COMMANDS[command](self._run, value)
        except RuntimeError as error:  # there is no further step
            future: Future = Future()
            future.set_exception(error)
            return future

    def _is_new(self, identity: str) -> bool:
        with self._lock:
            if identity in self._seen:
                return False
            self._seen.add(identity)
            self._order.append(identity)
            if len(self._order) > _REMEMBERED:
                self._seen.discard(self._order.popleft())
            return True

    def _acknowledge(self, identity: str, command: str, value: Any, error: BaseException | None) -> None:
        message = (
            None if error is None else str(error) if isinstance(error, RefusedError) else failures.error_message(error)
        )
        if error is not None:
            log.info("run %s: the command %s is refused: %s", self._run.id, command, message)
        optional = {} if value is None else {"value": value}
        acknowledgement = {
            "id": identity,
            "command": command,
            **optional,
            "step": self._run.step,
            "status": "done" if error is None else "refused",
            "message": message,
        }
        with self._lock:
            if self._early is not None:
                self._early.append(acknowledgement)
            elif not self._closed:
                self._record("command", **acknowledgement)

    def _report_error(self, command: str, error: BaseException | None) -> None:
        """Report the error of a command without an id; one that is refused is only logged."""
        if isinstance(error, RefusedError):
            log.info("run %s: the command %s has no effect: %s", self._run.id, command, error)
        elif error is not None:
            self._run._record_problem(failures.error_message(error))


def _add_epochs(run: Run, more: int) -> Future:
    future: Future = Future()
    run.add_epochs(more)
    future.set_result(None)
    return future


def _save_to(run: Run, path: str) -> Future:
    future: Future = Future()
    run._move_parameters(run.folder / path)
    future.set_result(None)
    return future


_COMMANDS: dict[str, Callable[[Run, Any], Future]] = {
    "pause": lambda run, _: run._scheduler.pause(),
    "resume": lambda run, _: run._scheduler.resume(),
    "step": lambda run, _: run._scheduler.step(),
    "stop": lambda run, _: run._scheduler.stop(),
    "checkpoint": lambda run, _: run._scheduler.submit(run._save_checkpoint),
    "learning_rate": lambda run, rate: run._request_learning_rate(rate),
    "add_epochs": _add_epochs,
    "branch": lambda run, changes: run._scheduler.submit(lambda: run._create_branch(**(changes or {}))),
    "save_to": _save_to,
}
assert _COMMANDS.keys() == control.COMMANDS.keys()
