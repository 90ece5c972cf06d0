"""Evaluation mode of modules shared by several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from labdl.nn.module import Module

_lock = threading.Lock()
_active: dict[
    int, tuple[int, bool]
] = {}  # for each module in use, the number of threads, and its mode before the first


@contextmanager
def eval_mode(modules: Sequence[Module]) -> Iterator[None]:
    """Put modules into evaluation mode, and restore their mode when the last thread leaves."""
    with _lock:
        for module in modules:
            count, mode = _active.get(id(module), (0, module.training))
            _active[id(module)] = count + 1, mode
            module.__dict__["training"] = False
    try:
        yield
    finally:
        with _lock:
            for module in modules:
                count, mode = _active.pop(id(module))
                if count > 1:
                    _active[id(module)] = count - 1, mode
                elif mode:  # if it was in evaluation mode before, a mode set in the meantime is kept
                    module.__dict__["training"] = True
