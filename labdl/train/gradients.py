"""What is done with gradients before an update: their norm, and clipping, with `labdl.ops` on any backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labdl import dispatch, ops

Gradients = list[Any]  # in the order of the parameters; None where there is none


def norm(gradients: Sequence[Any]):
    """The Euclidean norm of all of them as one vector, in float32 at least; None where there are none."""
    total = None
    for g in gradients:
        if g is not None:
            g = ops.astype(g, "float32") if _dtype(g) in ("float16", "bfloat16") else g
            square = ops.sum(ops.square(g))
            total = square if total is None else ops.add(total, square)
    return None if total is None else ops.sqrt(total)


def clipped_norm(gradients: Sequence[Any], length, largest: float) -> Gradients:
    """All of them shortened by one factor, so that their norm, which is given, is at most ``largest``.

    As ``torch.nn.utils.clip_grad_norm_``: the factor is largest / (norm + 1e-6), at most 1.
    """
    factor = ops.minimum(ops.multiply(ops.reciprocal(ops.add(length, 1e-6)), largest), 1.0)
    return [None if g is None else ops.multiply(g, ops.astype(factor, _dtype(g))) for g in gradients]


def clipped_value(gradients: Sequence[Any], largest: float) -> Gradients:
    """Each element between -largest and largest, as ``torch.nn.utils.clip_grad_value_``."""
    return [None if g is None else ops.clip(g, -largest, largest) for g in gradients]


def added(sums: Gradients, gradients: Sequence[Any], weight: float) -> Gradients:
    """The gradients of one more part of a batch, which weighs so much, behind those before, if there are any."""
    found = [None if g is None else ops.multiply(g, weight) for g in gradients]
    if not sums:
        return found
    return [a if b is None else b if a is None else ops.add(a, b) for a, b in zip(sums, found, strict=True)]


def scaled(gradients: Sequence[Any], factor: float) -> Gradients:
    return [None if g is None else ops.multiply(g, factor) for g in gradients]


def _dtype(tensor) -> str:
    return dispatch.spec_of(tensor).dtype
