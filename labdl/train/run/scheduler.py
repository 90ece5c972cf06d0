"""A queue of commands that the training thread executes between steps: pause, resume, single step, stop, and calls."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

Waiting = list[Future] | deque[Future]


class RefusedError(RuntimeError):
    """A command that the run cannot execute in its current state."""


class CommandScheduler:
    """Executes commands between steps: the training thread calls `run_pending` after each event.

    The commands may be called from any thread and return futures, which are resolved when the command has been executed.
    ``record_status`` is called with the lock held and must not block; ``flush`` is called without the lock.
    """

    def __init__(
        self,
        name: str,
        record_status: Callable[[str], None],
        flush: Callable[[], None],
        explain: Callable[[BaseException], BaseException],
    ):
        self.name, self._record_status, self._flush, self._explain = name, record_status, flush, explain
        self.lock = threading.RLock()
        self.status = "running"
        self.started = self.stopping = self.closed = self._finished = False
        self._changed = threading.Condition(self.lock)
        self._pause_requested = self._paused = self._resuming = False
        self._single: Future | None = None  # the single step that is running
        self._singles: deque[Future] = deque()
        self._pauses: list[Future] = []
        self._resumes: list[Future] = []
        self._stops: list[Future] = []
        self._calls: deque[tuple[Callable[[], Any], Future]] = deque()

    # -- from any thread

    def pause(self) -> Future:
        """Pause after the current step."""
        return self._request(self._pause)

    def resume(self) -> Future:
        """Continue after a pause; earlier calls are executed first."""
        return self._request(self._resume)

    def step(self) -> Future:
        """While paused, run one step and pause again."""
        return self._request(self._step)

    def stop(self) -> Future:
        """End after the current step."""
        future = self._request(self._stop)
        self._flush()
        return future

    def submit(self, function: Callable[[], Any]) -> Future:
        """Call a function between two steps; the future has its result. Raises RefusedError after the end."""
        future: Future = Future()
        with self.lock:
            if self.closed:
                raise self._ended_error()
            self._calls.append((function, future))
            self._changed.notify_all()
        return future

    @property
    def idle(self) -> bool:
        """True if no call is pending."""
        return not self._calls

    # -- from the thread that trains

    def run_pending(self, *, stepped: bool) -> None:
        """Execute pending calls, and pause if requested; ``stepped`` says that the last event was a step."""
        if not self._calls and not self._pause_requested and self.status == "running":
            return  # fast path, for nearly every step
        self.execute_calls()
        while self._enter_pause(stepped):
            self._flush()
            while self._wait():
                self.execute_calls()
            if self._leave_pause():
                break
        self._flush()

    def start(self) -> None:
        """Record the status from now on, after the first event of the training."""
        with self.lock:
            self.started = True
            if self.stopping:
                self._record_status("stopping")

    def execute_calls(self) -> None:
        """Execute the pending calls."""
        while self._calls:
            function, future = self._calls.popleft()
            try:
                result = function()
            except Exception as error:  # passed to the caller by the future
                future.set_exception(self._explain(error))
            else:
                future.set_result(result)

    def close(self) -> None:
        """Accept no more commands."""
        with self.lock:
            self.closed = True

    def finish(self, status: str) -> None:
        """Set the final status and resolve all pending futures."""
        with self.lock:
            self.closed, self._finished, self.status = True, True, status
            if status == "stopped":
                _resolve(self._stops)
            _refuse(self._stops, RefusedError(f"run {self.name} {status} before it could stop"))
            self._singles.extend([] if self._single is None else [self._single])
            calls = [future for _, future in self._calls]
            self._calls.clear()
            for waiting in (self._pauses, self._singles, self._resumes, calls):
                _refuse(waiting, self._ended_error())

    # -- inside, with the lock

    def _request(self, command: Callable[[Future], None]) -> Future:
        future: Future = Future()
        with self.lock:
            if self.closed and (self._finished or command != self._stop):  # `finish` resolves stops by the final status
                future.set_exception(self._ended_error())
            elif self.stopping and command != self._stop:
                future.set_exception(RefusedError(f"run {self.name} is about to stop"))
            else:
                command(future)
        return future

    def _pause(self, future: Future) -> None:
        if self._single is not None:  # refuse a resume that came during a single step
            _refuse(self._resumes, RefusedError(f"run {self.name} was paused again before it continued"))
        self._pause_requested = True
        if self._paused:
            future.set_result(None)
        else:
            self._pauses.append(future)

    def _resume(self, future: Future) -> None:
        self._pause_requested = False
        _refuse(self._pauses, RefusedError(f"run {self.name} was resumed before the end of the current step"))
        _refuse(self._singles, RefusedError(f"run {self.name} was resumed before this single step"))
        if self.status != "paused":
            future.set_result(None)
            return
        self._resumes.append(future)
        if self._paused:
            self._paused, self._resuming = False, True
            self._changed.notify_all()

    def _step(self, future: Future) -> None:
        if not self._pause_requested:
            future.set_exception(RefusedError(f"run {self.name} is not paused: pause it before single steps"))
            return
        self._singles.append(future)
        self._paused = False
        self._changed.notify_all()

    def _stop(self, future: Future) -> None:
        self._stops.append(future)
        if self.stopping or self.closed:
            return
        self.stopping, self._paused, self.status = True, False, "stopping"
        if self.started:
            self._record_status("stopping")
        for waiting in (self._pauses, self._singles, self._resumes):
            _refuse(waiting, RefusedError(f"run {self.name} was stopped before"))
        self._changed.notify_all()

    def _enter_pause(self, stepped: bool) -> bool:
        """Enter the paused state if requested; returns True if the thread has to pause."""
        with self.lock:
            if self._single is not None:
                if not stepped and not self.stopping:
                    return False  # the end of an epoch: the single step is the next event
                _resolve([self._single])
                self._single = None
            if self.stopping:
                return False
            if not self._pause_requested:
                if self.status == "paused":
                    self._continue()
                return False
            if self.status != "paused":
                self.status = "paused"
                self._record_status("paused")
            _resolve(self._pauses)
            self._paused = not self._singles
            return True

    def _wait(self) -> bool:
        """Block until there is a call or the pause ends; returns True if there are calls."""
        with self.lock:
            while self._paused and not self._calls:
                self._changed.wait()
            return bool(self._calls)

    def _leave_pause(self) -> bool:
        """Leave the paused state; returns False if the run stays paused."""
        with self.lock:
            if self.stopping:
                return True
            if self._resuming:
                self._continue()
            elif self._singles:
                self._single = self._singles.popleft()
            else:
                return False
            return True

    def _continue(self) -> None:
        self._resuming, self.status = False, "running"
        self._record_status("running")
        _resolve(self._resumes)

    def _ended_error(self) -> RefusedError:
        return RefusedError(f"run {self.name} has ended: start another one")


def _resolve(futures: Waiting) -> None:
    while futures:
        futures.pop().set_result(None)


def _refuse(futures: Waiting, error: RefusedError) -> None:
    while futures:
        futures.pop().set_exception(error)
