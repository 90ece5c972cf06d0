"""A prepared sample: the inputs of a model, and settings of the post-processor for this sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class PreparedSample:
    """Result of pre-processing with settings of post-processing for this sample.

    ``inputs`` are the model's: an array, or a tuple of arrays. ``settings`` are the post-processor's for this sample
    only, such as ``{"original_size": (480, 640)}``; unknown ones are ignored.
    """

    inputs: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
