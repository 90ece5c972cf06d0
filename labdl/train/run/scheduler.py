"""A queue of commands that the training thread executes between steps: pause, single step, resume, stop and calls."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Waiting = list[Future] | deque[Future]


class RefusedError(RuntimeError):
    """A command came when the run could not carry it out."""


class CommandScheduler:
    """Executes commands between steps: the training thread calls `border` after each event, any thread the other methods.

    What is asked is answered by a future: when it has been carried out, or with the error for which it was not. ``tell``
    hears of the status while the lock is held: it must not wait for anybody. ``flush`` is called without the lock.
    """

    def __init__(
        self,
        name: str,
        tell: Callable[[str], None],
        flush: Callable[[], None],
        explain: Callable[[BaseException], BaseException],
    ):
        self.name, self._tell, self._flush, self._explain = name, tell, flush, explain
        self.lock = threading.RLock()
        self.status = "running"
        self.begun = self.stopping = self.closed = self._over = False
        self._changed = threading.Condition(self.lock)
        self._rest = self._resting = self._leaving = False  # wanted; under way; to be left by a resume
        self._single: Future | None = None  # the step that is made out of a rest
        self._singles: deque[Future] = deque()
        self._pauses: list[Future] = []
        self._resumes: list[Future] = []
        self._stops: list[Future] = []
        self._errands: deque[tuple[Callable[[], Any], Future]] = deque()

    # -- from any thread

    def pause(self) -> Future:
        """Rest after the step under way."""
        return self._given(self._pause)

    def resume(self) -> Future:
        """Go on after a rest; what has been asked for since is done first."""
        return self._given(self._resume)

    def step(self) -> Future:
        """Make one step out of a rest, and rest again."""
        return self._given(self._step)

    def stop(self) -> Future:
        """End after the step under way."""
        future = self._given(self._stop)
        self._flush()
        return future

    def ask(self, do: Callable[[], Any]) -> Future:
        """Have something done between two steps; the future has its result. Raises RefusedError behind the end."""
        future: Future = Future()
        with self.lock:
            if self.closed:
                raise self._ended()
            self._errands.append((do, future))
            self._changed.notify_all()
        return future

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be done between two steps."""
        return not self._errands

    # -- from the thread that trains

    def border(self, *, stepped: bool) -> None:
        """Do what was asked, and rest if that is wanted; ``stepped`` where a step has just been made."""
        if not self._errands and not self._rest and self.status == "running":
            return  # as behind nearly every step: nothing else, for what a step costs
        self.work()
        while self._come_to_rest(stepped):
            self._flush()
            while self._wait():
                self.work()
            if self._leave():
                break
        self._flush()

    def begin(self) -> None:
        """The first event has been told: nothing is before it."""
        with self.lock:
            self.begun = True
            if self.stopping:
                self._tell("stopping")

    def work(self) -> None:
        """Do what was asked up to now."""
        while self._errands:
            do, future = self._errands.popleft()
            try:
                result = do()
            except Exception as error:  # of whoever asked
                future.set_exception(self._explain(error))
            else:
                future.set_result(result)

    def shut(self) -> None:
        """Take nothing more."""
        with self.lock:
            self.closed = True

    def close(self, status: str) -> None:
        """The end, with the status in which the run is then: everybody who still waits is answered."""
        with self.lock:
            self.closed, self._over, self.status = True, True, status
            if status == "stopped":
                _answer(self._stops)
            _refuse(self._stops, RefusedError(f"run {self.name} {status} before it could stop"))
            self._singles.extend([] if self._single is None else [self._single])
            errands = [future for _, future in self._errands]
            self._errands.clear()
            for waiting in (self._pauses, self._singles, self._resumes, errands):
                _refuse(waiting, self._ended())

    # -- inside, with the lock

    def _given(self, ask: Callable[[Future], None]) -> Future:
        future: Future = Future()
        with self.lock:
            if self.closed and (self._over or ask != self._stop):  # how it ends is not known before the end
                future.set_exception(self._ended())
            elif self.stopping and ask != self._stop:
                future.set_exception(RefusedError(f"run {self.name} is about to stop"))
            else:
                ask(future)
        return future

    def _pause(self, future: Future) -> None:
        if self._single is not None:  # the resume that came during a single step has not begun
            _refuse(self._resumes, RefusedError(f"a pause came before run {self.name} went on"))
        self._rest = True
        if self._resting:
            future.set_result(None)
        else:
            self._pauses.append(future)

    def _resume(self, future: Future) -> None:
        self._rest = False
        _refuse(self._pauses, RefusedError(f"run {self.name} was to go on before the step under way had ended"))
        _refuse(self._singles, RefusedError(f"run {self.name} was to go on before this step could be made"))
        if self.status != "paused":
            future.set_result(None)
            return
        self._resumes.append(future)
        if self._resting:
            self._resting, self._leaving = False, True
            self._changed.notify_all()

    def _step(self, future: Future) -> None:
        if not self._rest:
            future.set_exception(RefusedError(f"run {self.name} is not at rest: pause it before you make single steps"))
            return
        self._singles.append(future)
        self._resting = False
        self._changed.notify_all()

    def _stop(self, future: Future) -> None:
        self._stops.append(future)
        if self.stopping or self.closed:
            return
        self.stopping, self._resting, self.status = True, False, "stopping"
        if self.begun:
            self._tell("stopping")
        for waiting in (self._pauses, self._singles, self._resumes):
            _refuse(waiting, RefusedError(f"run {self.name} was stopped before that"))
        self._changed.notify_all()

    def _come_to_rest(self, stepped: bool) -> bool:
        """Whether the thread is to rest now."""
        with self.lock:
            if self._single is not None:
                if not stepped and not self.stopping:
                    return False  # an epoch has ended: its first step is still to come
                _answer([self._single])
                self._single = None
            if self.stopping:
                return False
            if not self._rest:
                if self.status == "paused":
                    self._go_on()
                return False
            if self.status != "paused":
                self.status = "paused"
                self._tell("paused")
            _answer(self._pauses)
            self._resting = not self._singles
            return True

    def _wait(self) -> bool:
        """Sleep until there is something to do; False when the rest is over."""
        with self.lock:
            while self._resting and not self._errands:
                self._changed.wait()
            return bool(self._errands)

    def _leave(self) -> bool:
        """Leave the paused state; False if the run stays paused."""
        with self.lock:
            if self.stopping:
                return True
            if self._leaving:
                self._go_on()
            elif self._singles:
                self._single = self._singles.popleft()
            else:
                return False
            return True

    def _go_on(self) -> None:
        self._leaving, self.status = False, "running"
        self._tell("running")
        _answer(self._resumes)

    def _ended(self) -> RefusedError:
        return RefusedError(f"run {self.name} has ended: start another")


def _answer(futures: Waiting) -> None:
    while futures:
        futures.pop().set_result(None)


def _refuse(futures: Waiting, error: RefusedError) -> None:
    while futures:
        futures.pop().set_exception(error)
