"""Times of the forward of each module of a model, with and without those inside of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from labdl.nn.module import Module


class ForwardTimes:
    """Adds up the times of the modules' forwards while `measure` is on: by path (calls, seconds, own seconds)."""

    def __init__(self, model: Module):
        self.model = model
        self.times: dict[str, tuple[int, float, float]] = {path: (0, 0.0, 0.0) for path, _ in model.named_modules()}
        self._inside: list[float] = []  # seconds of the modules inside of each one that computes

    @contextmanager
    def measure(self) -> Iterator[None]:
        """A context in which forwards are timed."""
        originals = [(module, module.__dict__.get("forward")) for _, module in self.model.named_modules()]
        try:
            for path, module in self.model.named_modules():
                module.__dict__["forward"] = self._with_timer(path, module.forward)
            yield
        finally:
            for module, forward in originals:
                module.__dict__.pop("forward", None) if forward is None else module.__dict__.update(forward=forward)

    def take(self) -> dict[str, tuple[int, float, float]]:
        """The times so far, which begin anew."""
        taken = self.times
        self.times = {path: (0, 0.0, 0.0) for path in taken}
        return taken

    def _with_timer(self, path: str, forward: Callable) -> Callable:
        def run(*args, **kwargs):
            self._inside.append(0.0)
            began = perf_counter()
            try:
                return forward(*args, **kwargs)
            finally:
                took = perf_counter() - began
                inner = self._inside.pop()
                if self._inside:
                    self._inside[-1] += took
                calls, seconds, own = self.times[path]
                self.times[path] = calls + 1, seconds + took, own + took - inner

        return run
