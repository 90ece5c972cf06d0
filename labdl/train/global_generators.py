"""The states of NumPy's and Python's global random generators, which data sets and callbacks may use."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.errors import FileFormatError

_WORDS = 624  # of the Mersenne Twister, which both use


def generator_states() -> dict[str, Any]:
    """The states of ``numpy.random`` and ``random`` as plain data and arrays; None for another generator than MT19937."""
    version, words, following = random.getstate()
    numpy = np.random.get_state(legacy=False)
    return {
        "python": {"key": np.array(words[:_WORDS], "uint32"), "pos": int(words[_WORDS]), "gauss": following}
        if version == 3
        else None,
        "numpy": {
            "key": np.asarray(numpy["state"]["key"], "uint32").copy(),
            "pos": int(numpy["state"]["pos"]),
            "gauss": float(numpy["gauss"]) if numpy["has_gauss"] else None,
        }
        if numpy["bit_generator"] == "MT19937"
        else None,
    }


def set_generator_states(states: Mapping[str, Any], name: str) -> None:
    """Restore `generator_states`; a generator without a state keeps its own. Raises FileFormatError, naming the file."""
    if states.keys() != {"python", "numpy"}:
        raise FileFormatError(f"{name}: features.generators wants python and numpy, has {', '.join(map(str, states))}")
    values = {part: _check(states[part], f"{name}: features.generators.{part}") for part in ("python", "numpy")}
    if (python := values["python"]) is not None:
        key, pos, gauss = python
        random.setstate((3, (*map(int, key), pos), gauss))
    if (numpy := values["numpy"]) is not None:
        key, pos, gauss = numpy
        # a generator that the user has chosen in the meantime stays
        if np.random.get_state(legacy=False)["bit_generator"] == "MT19937":
            np.random.set_state(("MT19937", key, pos, int(gauss is not None), gauss or 0.0))


def _check(state: Any, name: str) -> tuple[np.ndarray, int, float | None] | None:
    """The words of a state, the position in them, and the normal number that was drawn ahead."""
    if state is None:
        return None
    complete = isinstance(state, Mapping) and state.keys() == {"key", "pos", "gauss"}
    key, pos, gauss = (state["key"], state["pos"], state["gauss"]) if complete else (None, None, None)
    if (
        not isinstance(key, np.ndarray)
        or (key.shape, key.dtype) != ((_WORDS,), np.uint32)
        or not key.any()
        or type(pos) is not int
        or not 0 <= pos <= _WORDS  # NumPy reads memory at any position
        or not (gauss is None or type(gauss) is float)
    ):
        raise FileFormatError(f"{name} is not the state of a generator MT19937")
    return key, pos, gauss
