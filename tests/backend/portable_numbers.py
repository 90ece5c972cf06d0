"""Random numbers of NumPy for all backends, as after ``labdl.seed(0, portable=True)``, without what that costs.

A seed makes TensorFlow forget its kernels, and each of the next operations takes ten times as long.
"""

import numpy as np

from labdl import dispatch
from labdl.ops.random import state


def restart_portable_numbers() -> None:
    """Draw NumPy's numbers from their beginning."""
    dispatch._portable = True
    state.generator().bit_generator.state = np.random.default_rng(0).bit_generator.state
