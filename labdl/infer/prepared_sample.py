"""Inputs of a model for one sample and for a batch, with settings of the post-processing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class PreparedSample:
    """Result of pre-processing with settings of post-processing for this sample.

    ``inputs`` are the model's: an array, or a tuple of arrays. ``settings`` are the post-processor's for this sample
    only, such as ``{"original_size": (480, 640)}``; unknown ones are ignored.
    """

    inputs: Any
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs of the model for a batch, and settings of the post-processor for single samples, if any."""

    inputs: tuple[np.ndarray, ...]
    settings: Sequence[Mapping[str, Any]] = ()
