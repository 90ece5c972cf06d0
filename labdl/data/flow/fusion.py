"""Decoding and cutting out in one step, where a data set allows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from labdl.data.dataset import Dataset


def fuse_decoding(source: Dataset, stages: Sequence[Any]) -> tuple[Dataset, list[Any]]:
    """The data set to read and the stages to apply: a random crop at the beginning decodes what it cuts out.

    Both stay as they are unless the data set has `Dataset.as_bytes`. The rectangles are the same ones.
    """
    encoded = source.as_bytes() if stages and not stages[0].others else None
    if encoded is None:
        return source, list(stages)
    # imported lazily: OpenCV, and only a data set of pictures comes here
    from labdl.data.transforms.image.decoding import DecodeAndRandomResizedCrop
    from labdl.data.transforms.image.resized_crop import RandomResizedCrop

    first = stages[0]
    if type(first) is not RandomResizedCrop:
        return source, list(stages)
    settings = {field.name: getattr(first, field.name) for field in dataclasses.fields(first)}  # type: ignore[arg-type]
    return encoded, [DecodeAndRandomResizedCrop(**settings, fast=True), *stages[1:]]
