"""Evaluation mode for as long as somebody computes, whatever the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from labdl.nn.module import Module

_lock = threading.Lock()
_held: dict[
    int, tuple[int, bool]
] = {}  # for each module at work, how many compute with it, and its mode before the first


@contextmanager
def evaluating(modules: Sequence[Module]) -> Iterator[None]:
    """Modules in evaluation mode until the last thread that computes with them is done; then as they were before."""
    with _lock:
        for module in modules:
            count, mode = _held.get(id(module), (0, module.training))
            _held[id(module)] = count + 1, mode
            module.__dict__["training"] = False
    try:
        yield
    finally:
        with _lock:
            for module in modules:
                count, mode = _held.pop(id(module))
                if count > 1:
                    _held[id(module)] = count - 1, mode
                elif mode:  # one that was in evaluation mode may have been told to train in the meantime
                    module.__dict__["training"] = True
