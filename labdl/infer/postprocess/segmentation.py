"""Post-processor of semantic segmentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from labdl import ops
from labdl.errors import FileFormatError, ModelError
from labdl.infer.postprocess.base import PostProcessor, Share, Side, postprocessor, probabilities, sigmoid, single_array


@dataclass(frozen=True, eq=False)
class Mask:
    """Class numbers (height, width), int64; optionally ``areas`` (classes) in pixels and run lengths of each class."""

    mask: np.ndarray
    areas: np.ndarray | None = None
    run_lengths: dict[int, dict[str, list[int]]] | None = None
    names: tuple[str, ...] | None = None


@postprocessor
class Segmentation(PostProcessor):
    """Semantic segmentation: the class of each pixel with the largest score.

    Scores (classes, height, width), with ``data_format="channels_last"`` (height, width, classes); a single score per pixel
    is that of the positive class 1, a logit or with ``from_logits=False`` a probability, predicted above ``threshold``;
    integers (height, width) are class numbers. ``original_size`` (height, width) resizes the mask: "bilinear" interpolates
    the scores, "nearest" the classes. ``areas`` adds the number of pixels of each class, ``run_lengths`` the mask of each
    class but ``background`` in COCO's format (see `run_lengths`).
    """

    data_format: Literal["channels_first", "channels_last"] = "channels_first"
    threshold: Share = 0.5
    from_logits: bool | None = None
    original_size: tuple[Side, Side] | None = None
    interpolation: Literal["bilinear", "nearest"] = "bilinear"
    areas: bool = False
    run_lengths: bool = False
    background: int | None = 0
    names: tuple[str, ...] | None = None

    def __call__(self, output) -> Mask:
        scores = single_array(self, output, "scores (classes, height, width)", 2, 3)
        if scores.ndim == 2 and scores.dtype.kind in "iub":
            mask, classes = self._resize(scores.astype("int64"), "nearest"), int(scores.max(initial=0)) + 1
        else:
            mask, classes = self._classify_pixels(scores)
        classes = max(classes, len(self.names or ()))
        areas = np.bincount(mask.ravel(), minlength=classes)
        lengths = {int(kind): run_lengths(mask == kind) for kind in np.flatnonzero(areas) if kind != self.background}
        return Mask(mask, areas if self.areas else None, lengths if self.run_lengths else None, self.names)

    def _classify_pixels(self, scores: np.ndarray) -> tuple[np.ndarray, int]:
        """Class numbers from scores, and the number of classes."""
        if scores.ndim == 2:
            scores = scores[None]
        elif self.data_format == "channels_last":
            scores = np.moveaxis(scores, -1, 0)
        if len(scores) == 1:
            shares = probabilities(sigmoid, scores[0], self.from_logits)
            if self.interpolation == "nearest":
                return self._resize((shares > self.threshold).astype("int64"), "nearest"), 2
            return (self._resize(shares, "bilinear") > self.threshold).astype("int64"), 2
        if self.interpolation == "nearest":
            return self._resize(scores.argmax(0), "nearest"), len(scores)
        return self._resize(scores, "bilinear").argmax(0), len(scores)

    def _resize(self, planes: np.ndarray, mode: str) -> np.ndarray:
        """Resize planes (..., height, width) to the original size."""
        if self.original_size is None or planes.shape[-2:] == self.original_size:
            return planes
        if mode == "nearest":
            rows, columns = (np.arange(n) * m // n for n, m in zip(self.original_size, planes.shape[-2:], strict=True))
            return planes[..., rows[:, None], columns]
        stacked = planes.reshape(1, -1, *planes.shape[-2:])
        return ops.interpolate(stacked, self.original_size, mode=mode).reshape(*planes.shape[:-2], *self.original_size)

    def for_metrics(self, results) -> np.ndarray:
        """Class numbers (N, height, width), for metrics such as `MeanIoU`."""
        shapes = {found.mask.shape for found in results}
        if len(shapes) > 1:
            raise ModelError(
                f"the masks of a batch have the sizes {', '.join(map(str, sorted(shapes)))}: evaluate with "
                "batch_size=1, or without original_size"
            )
        return np.stack([found.mask for found in results])


def run_lengths(mask: np.ndarray) -> dict[str, list[int]]:
    """Encode a mask (height, width) as COCO's uncompressed run lengths: ``{"size": [height, width], "counts": [...]}``.

    Pixels are in column-major order; counts alternate between runs of 0 and 1, starting with 0, and the first may be 0.
    Source: the data format of the COCO challenge (Lin et al., 2014).
    """
    flat = np.asarray(mask, bool).ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff(np.concatenate([[0], ends, [flat.size]]))
    first = [0] if flat.size and flat[0] else []
    return {"size": [int(n) for n in mask.shape], "counts": first + counts.tolist()}


def mask_from_run_lengths(lengths: dict[str, Sequence[int]]) -> np.ndarray:
    """Decode run lengths to a mask (height, width), bool. Raises FileFormatError where counts and size disagree."""
    (height, width), counts = lengths["size"], np.asarray(lengths["counts"], "int64")
    if (counts < 0).any() or counts.sum() != height * width:
        raise FileFormatError(f"run lengths of {counts.sum()} pixels do not match a mask of {height} × {width}")
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return flat.reshape(height, width, order="F")
