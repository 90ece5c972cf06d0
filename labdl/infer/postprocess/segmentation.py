"""Masks from the scores of a segmentation model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from labdl import ops
from labdl.errors import FileFormatError, ModelError
from labdl.infer.postprocess.processor import PostProcessor, Share, Side, postprocessor, probabilities, sigmoid, single


@dataclass(frozen=True, eq=False)
class Mask:
    """Class numbers (height, width), int64; where asked for, ``areas`` (classes) in pixels and run lengths of each class."""

    mask: np.ndarray
    areas: np.ndarray | None = None
    run_lengths: dict[int, dict[str, list[int]]] | None = None
    names: tuple[str, ...] | None = None


@postprocessor
class Segmentation(PostProcessor):
    """The class of each pixel: that of the largest score.

    Scores (classes, height, width), with ``data_format="channels_last"`` (height, width, classes); one score a pixel is that
    of "yes", a logit or with ``from_logits=False`` a probability, and class 1 is where it is above ``threshold``; whole
    numbers (height, width) are classes already. ``original_size`` (height, width) brings the mask to the size of the
    picture: "bilinear" interpolates the scores, "nearest" the classes. ``areas`` adds the pixels of each class,
    ``run_lengths`` those of each class but ``background`` as COCO writes them (see `run_lengths`).
    """

    data_format: Literal["channels_first", "channels_last"] = "channels_first"
    threshold: Share = 0.5
    from_logits: bool = True
    original_size: tuple[Side, Side] | None = None
    interpolation: Literal["bilinear", "nearest"] = "bilinear"
    areas: bool = False
    run_lengths: bool = False
    background: int | None = 0
    names: tuple[str, ...] | None = None

    def __call__(self, output) -> Mask:
        scores = single(self, output, "scores (classes, height, width)", 2, 3)
        if scores.ndim == 2 and scores.dtype.kind in "iub":
            mask, classes = self._sized(scores.astype("int64"), "nearest"), int(scores.max(initial=0)) + 1
        else:
            mask, classes = self._decided(scores)
        classes = max(classes, len(self.names or ()))
        areas = np.bincount(mask.ravel(), minlength=classes)
        lengths = {int(kind): run_lengths(mask == kind) for kind in np.flatnonzero(areas) if kind != self.background}
        return Mask(mask, areas if self.areas else None, lengths if self.run_lengths else None, self.names)

    def _decided(self, scores: np.ndarray) -> tuple[np.ndarray, int]:
        """Class numbers from scores, and how many classes there are."""
        if scores.ndim == 2:
            scores = scores[None]
        elif self.data_format == "channels_last":
            scores = np.moveaxis(scores, -1, 0)
        if len(scores) == 1:
            shares = probabilities(sigmoid, scores[0], self.from_logits)
            if self.interpolation == "nearest":
                return self._sized((shares > self.threshold).astype("int64"), "nearest"), 2
            return (self._sized(shares, "bilinear") > self.threshold).astype("int64"), 2
        if self.interpolation == "nearest":
            return self._sized(scores.argmax(0), "nearest"), len(scores)
        return self._sized(scores, "bilinear").argmax(0), len(scores)

    def _sized(self, planes: np.ndarray, mode: str) -> np.ndarray:
        """Planes (..., height, width) in the size of the picture."""
        if self.original_size is None or planes.shape[-2:] == self.original_size:
            return planes
        if mode == "nearest":
            rows, columns = (np.arange(n) * m // n for n, m in zip(self.original_size, planes.shape[-2:], strict=True))
            return planes[..., rows[:, None], columns]
        stacked = planes.reshape(1, -1, *planes.shape[-2:])
        return ops.interpolate(stacked, self.original_size, mode=mode).reshape(*planes.shape[:-2], *self.original_size)

    def for_metrics(self, results) -> np.ndarray:
        """Class numbers (N, height, width), for `MeanIoU` and the like."""
        shapes = {found.mask.shape for found in results}
        if len(shapes) > 1:
            raise ModelError(f"the masks of a batch have the sizes {', '.join(map(str, sorted(shapes)))}: evaluate with "
                             "batch_size=1, or without original_size")  # fmt: skip
        return np.stack([found.mask for found in results])


def run_lengths(mask: np.ndarray) -> dict[str, list[int]]:
    """A mask (height, width) as COCO's uncompressed run lengths: ``{"size": [height, width], "counts": [...]}``.

    Pixels are read column by column, top to bottom; counts are those of 0, 1, 0, 1 … in turn, the first may be 0.
    Source: the data format of the COCO challenge (Lin et al., 2014).
    """
    flat = np.asarray(mask, bool).ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff(np.concatenate([[0], ends, [flat.size]]))
    first = [0] if flat.size and flat[0] else []
    return {"size": [int(n) for n in mask.shape], "counts": first + counts.tolist()}


def mask_of(lengths: dict[str, Sequence[int]]) -> np.ndarray:
    """The mask (height, width) of run lengths, bool. Raises FileFormatError where counts and size disagree."""
    (height, width), counts = lengths["size"], np.asarray(lengths["counts"], "int64")
    if (counts < 0).any() or counts.sum() != height * width:
        raise FileFormatError(f"run lengths of {counts.sum()} pixels do not make a mask of {height} × {width}")
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return flat.reshape(height, width, order="F")
