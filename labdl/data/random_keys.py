"""Random numbers of a sample: a function of seed, epoch and index, not of the worker that reads it."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_local = threading.local()
_MASK = 2**64 - 1


def sample_generator(seed: int, epoch: int, index: int) -> np.random.Generator:
    """The random numbers of a sample in an epoch.

    The generator belongs to the thread and is set to the sample's numbers; the next call sets it to another's. Philox takes
    a key and a counter, so that this costs 1.5 µs, a tenth of a new generator. Source: Salmon et al., Parallel random
    numbers: as easy as 1, 2, 3 (2011).
    """
    try:
        generator, state = _local.generator, _local.state
    except AttributeError:
        generator = _local.generator = np.random.Generator(np.random.Philox(key=[0, 0]))
        state: Any = generator.bit_generator.state
        _local.state = state
    state["state"]["key"][:] = seed & _MASK, index & _MASK
    # the generator counts up in the first number: 2**64 draws until it would meet the next epoch
    state["state"]["counter"][:] = 0, epoch & _MASK, 0, 0
    state["buffer_pos"], state["has_uint32"], state["uinteger"] = 4, 0, 0
    generator.bit_generator.state = state
    return generator


def takes_generator(function: Callable[..., Any]) -> bool:
    """Whether a function that reads samples has a parameter ``rng`` for the random numbers of the sample."""
    try:
        return "rng" in inspect.signature(function).parameters
    except (ValueError, TypeError):  # written in C
        return False


def new_generator(seed: int, epoch: int, index: int) -> np.random.Generator:
    """A generator of the numbers of `sample_generator`, of its own: code of users may keep it, or read other samples."""
    return np.random.Generator(np.random.Philox(key=[seed & _MASK, index & _MASK], counter=[0, epoch & _MASK, 0, 0]))


def derive_seed(seed: int, *parts: int) -> int:
    """A seed of 64 bits that depends on another seed and on some numbers."""
    return int(np.random.SeedSequence([seed & _MASK, *(p & _MASK for p in parts)]).generate_state(1, np.uint64)[0])
