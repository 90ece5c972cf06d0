"""Decoding and cutting out or resizing in one step, where a data set allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labdl.data.codecs.image import EncodedImage
from labdl.data.dataset import Dataset


def fuse_decoding(source: Dataset, stages: Sequence[Any]) -> tuple[Dataset, list[Any]]:
    """The data set to read and the stages to apply: what crops or resizes first decodes no more than it needs.

    Both stay as they are unless the data set has `Dataset.as_bytes`, and the first stage takes an EncodedImage.
    """
    can = bool(stages) and not stages[0].others and EncodedImage in stages[0].kinds()
    encoded = source.as_bytes() if can else None
    if encoded is None:
        return source, list(stages)
    # imported lazily: OpenCV, and only a data set of pictures comes here
    from labdl.data.transforms.image.decoding import Decode
    from labdl.data.transforms.transform import Transform

    first, *others = stages
    if type(first).apply is Transform.apply and not hasattr(first, "p"):
        return encoded, [first, *others]
    return encoded, [first, Decode(), *others]  # it may leave a sample as it is
