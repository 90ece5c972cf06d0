"""Commands of a run by name: each is executed once and answered by an event (docs/runs.md)."""

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

_REMEMBERED = 10_000  # identities of commands
log = logging.getLogger(__name__)


class CommandHandler:
    """The commands that a run is given by name, from a page or through its folder.

    ``tell(kind, **values)`` takes down an event, and waits for nobody.
    """

    def __init__(self, run: Run, folder: Path, tell: Callable[..., None]):
        self._run, self._tell = run, tell
        self._folder = control.ControlFolder(folder / control.CONTROL)
        self._known: set[str] = set()
        self._order: deque[str] = deque()
        self._lock = threading.Lock()
        self._ended = False
        self._early: list[dict[str, Any]] | None = []  # answers that wait for the first event of the training

    def obey(self, command: str, value: Any = None, identity: str | None = None) -> None:
        """See `Run.obey`."""
        if identity is None:
            future = self._carried(command, control.check_command(command, value))
            future.add_done_callback(lambda done: self._complain(command, done.exception()))
            return
        if not self._fresh(control.check_id(identity)):
            return
        try:
            value = control.check_command(command, value)
        except ValueError as error:
            self._answer(identity, command if command in control.COMMANDS else "", None, error)
            return
        future = self._carried(command, value)
        future.add_done_callback(lambda done: self._answer(identity, command, value, done.exception()))

    def look(self) -> None:
        """Obey what has come in the folder."""
        for order in self._folder.commands():
            if order.refusal is None:
                self.obey(order.command, order.value, order.identity)
            elif self._fresh(order.identity):
                self._answer(order.identity, order.command, None, RefusedError(order.refusal))

    def begin(self) -> None:
        """The first event has been told: what was answered before may follow."""
        with self._lock:
            early, self._early = self._early or [], None
            for answer in early:
                self._tell("command", **answer)

    def end(self) -> None:
        """Tell nothing more: what comes from now on comes behind the last event."""
        self.begin()
        with self._lock:
            self._ended = True

    def _carried(self, command: str, value: Any) -> Future:
        """Future result of a command."""
        try:
            return _CARRIED[command](self._run, value)
        except RuntimeError as error:  # there is no next step any more
            future: Future = Future()
            future.set_exception(error)
            return future

    def _fresh(self, identity: str) -> bool:
        with self._lock:
            if identity in self._known:
                return False
            self._known.add(identity)
            self._order.append(identity)
            if len(self._order) > _REMEMBERED:
                self._known.discard(self._order.popleft())
            return True

    def _answer(self, identity: str, command: str, value: Any, error: BaseException | None) -> None:
        message = (
            None if error is None else str(error) if isinstance(error, RefusedError) else failures.error_message(error)
        )
        if error is not None:
            log.info("run %s: the command %s is refused: %s", self._run.id, command, message)
        given = {} if value is None else {"value": value}
        answer = {
            "id": identity,
            "command": command,
            **given,
            "step": self._run.step,
            "status": "done" if error is None else "refused",
            "message": message,
        }
        with self._lock:
            if self._early is not None:
                self._early.append(answer)
            elif not self._ended:
                self._tell("command", **answer)

    def _complain(self, command: str, error: BaseException | None) -> None:
        """Of one that wants no answer: what has gone wrong is a problem, what came too late is none."""
        if isinstance(error, RefusedError):
            log.info("run %s: the command %s changes nothing: %s", self._run.id, command, error)
        elif error is not None:
            self._run._problem(failures.error_message(error))


def _add_epochs(run: Run, more: int) -> Future:
    future: Future = Future()
    run.add_epochs(more)
    future.set_result(None)
    return future


_CARRIED: dict[str, Callable[[Run, Any], Future]] = {
    "pause": lambda run, _: run._scheduler.pause(),
    "resume": lambda run, _: run._scheduler.resume(),
    "step": lambda run, _: run._scheduler.step(),
    "stop": lambda run, _: run._scheduler.stop(),
    "checkpoint": lambda run, _: run._scheduler.ask(run._keep),
    "learning_rate": lambda run, rate: run._ask_rate(rate),
    "add_epochs": _add_epochs,
    "branch": lambda run, changes: run._scheduler.ask(lambda: run._branched(**(changes or {}))),
}
assert _CARRIED.keys() == control.COMMANDS.keys()
