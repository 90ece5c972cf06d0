"""Norm, clipping and accumulation of gradients, with `labdl.ops` on any backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labdl import dispatch, ops

Gradients = list[Any]  # in the order of the parameters; None for a parameter without one


def global_norm(gradients: Sequence[Any]):
    """Euclidean norm of all gradients as one vector, in float32 or higher precision; None without gradients."""
    total = None
    for g in gradients:
        if g is not None:
            g = ops.astype(g, "float32") if _dtype(g) in ("float16", "bfloat16") else g
            square = ops.sum(ops.square(g))
            total = square if total is None else ops.add(total, square)
    return None if total is None else ops.sqrt(total)


def clip_by_norm(gradients: Sequence[Any], norm, largest: float) -> Gradients:
    """Scale all gradients by one factor such that their norm ``norm`` becomes at most ``largest``.

    As ``torch.nn.utils.clip_grad_norm_``: the factor is largest / (norm + 1e-6), at most 1.
    """
    factor = ops.minimum(ops.multiply(ops.reciprocal(ops.add(norm, 1e-6)), largest), 1.0)
    return [None if g is None else ops.multiply(g, ops.astype(factor, _dtype(g))) for g in gradients]


def clip_by_value(gradients: Sequence[Any], largest: float) -> Gradients:
    """Clip each element to [-largest, largest], as ``torch.nn.utils.clip_grad_value_``."""
    return [None if g is None else ops.clip(g, -largest, largest) for g in gradients]


def accumulate(sums: Gradients, gradients: Sequence[Any], weight: float) -> Gradients:
    """Add the weighted gradients of a part of a batch to the sums, which are empty for the first part."""
    weighted = [None if g is None else ops.multiply(g, weight) for g in gradients]
    if not sums:
        return weighted
    return [a if b is None else b if a is None else ops.add(a, b) for a, b in zip(sums, weighted, strict=True)]


def scale(gradients: Sequence[Any], factor: float) -> Gradients:
    """Multiply all gradients by a factor."""
    return [None if g is None else ops.multiply(g, factor) for g in gradients]


def _dtype(tensor) -> str:
    return dispatch.spec_of(tensor).dtype
