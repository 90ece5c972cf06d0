"""The state of random numbers: seeds, the generator of portable numbers, and snapshots."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl import dispatch

_generator = np.random.default_rng()


def seed(value: int, portable: bool = False) -> None:
    """Seed LabDL's own random numbers, ``random``, ``numpy.random`` and those of every backend, also of those loaded later.

    ``portable=True``: from now on all backends use NumPy's random numbers, so that dropout, noise and samples are equal on
    all of them, also in compiled steps; where NumPy cannot be called in a compiled step, the step is not compiled
    (MindSpore, Paddle), or an error (XLA). As keras.utils.set_random_seed.
    """
    global _generator
    _generator = np.random.default_rng(value)
    random.seed(value)
    dispatch.seed(value, portable)


def generator() -> np.random.Generator:
    """The generator of portable numbers."""
    return _generator


def random_state(backend: str | None = None) -> dict[str, Any]:
    """The state of the random numbers of a backend and, in portable mode, of NumPy: JSON types and NumPy arrays."""
    target = dispatch.get(backend)
    return {
        "backend": target.name,
        "own": target.random_state(),
        "portable": dict(_generator.bit_generator.state),
        "seed": dispatch.current_seed(),
        "mode": dispatch.portable(),
    }


def set_random_state(state: Mapping[str, Any], backend: str | None = None) -> bool:
    """Restore the state returned by `random_state`; returns False for the state of another backend.

    Then only portable numbers are restored, and the backend keeps its state. Raises ValueError for an invalid
    state.
    """
    target = dispatch.get(backend)
    try:
        mode, before = bool(state["mode"]), dispatch.current_seed()
        value = before if state["seed"] is None else int(state["seed"])
        if value is not None and (value, mode) != (before, dispatch.portable()):
            dispatch.seed(value, mode)
        if state["backend"] == target.name:
            target.set_random_state(state["own"])
        _generator.bit_generator.state = state["portable"]
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RuntimeError) as error:
        raise ValueError(f"not a random state of {target.name}: {error}") from error
    return state["backend"] == target.name or mode
