"""Limits at which gradients are tried: first samples of differentiable operators at kinks, ties, equal and large values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from cases import Call, each_sample, parts_of, samples_of

import labdl
from labdl.ops.operator import OPERATORS

# where slopes change, where exp overflows (89 in float32), and beyond
POINTS = (0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5, 100.0, -100.0, 1000.0, -1000.0)

LIMITS = {
    "points": lambda array: np.resize(np.array(POINTS), array.shape),
    "zeros": np.zeros_like,
    "equal": lambda array: np.full_like(array, 0.5),
    "ones": np.ones_like,
    "ties": np.round,
    "hundred": lambda array: np.where(array < 0, -100.0, 100.0),
    "thousand": lambda array: np.where(array < 0, -1000.0, 1000.0),
}


def _one_sample(case):
    """A batch of one: each tensor that shares its first axis with the first tensor."""
    shapes = [s.shape for s in samples_of(case) if s.shape]
    if not shapes or shapes[0][0] == 1:
        return None
    first = shapes[0][0]
    return each_sample(case, lambda s: replace(s, shape=(1, *s.shape[1:])) if s.shape and s.shape[0] == first else s)


def limit_calls() -> Iterator[tuple[str, Call]]:
    """The first two samples of each operator at each limit, and with a batch of one."""
    for name, entry in OPERATORS.items():
        # complete IoUs have gradients, which are not those of differences
        differentiable = entry.differentiable or name.startswith("complete_box_iou")
        if entry.random or not differentiable or "float32" not in entry.takes:
            continue
        for i, case in enumerate(entry.samples[:2]):
            if not any(s.free and s.dtype == "float32" for s in samples_of(case)):
                continue
            for limit, spoil in LIMITS.items():
                yield f"{name}-{i}-{limit}", Call(entry, case, None, spoil)
            alone = _one_sample(case)
            if alone is not None:
                yield f"{name}-{i}-alone", Call(entry, alone)


def gradients_of(call: Call, tensor: Callable, differentiate: Callable, dtype: str = "float32"):
    """The results of a call, and the gradients of their weighted sum for its tensors of floats.

    ``tensor`` makes one of an array, ``differentiate(function, tensors)`` is a backend's `gradients`.
    """
    args, kwargs = call.arrays(seed=1)
    leaves: list[np.ndarray] = []
    each_sample((args, kwargs), lambda a: leaves.append(a) if a.dtype == np.float32 else a)
    if call.entry.name in ("batch_norm", "sync_batch_norm"):
        leaves = leaves[:3]  # the running statistics are state, not inputs
    results: list = []

    def convert(array):
        return tensor(array.astype(dtype) if array.dtype == np.float32 else array)

    def scalar(*tensors):
        variables, rest = iter(tensors), len(leaves)

        def place(array):
            nonlocal rest
            if array.dtype == np.float32 and rest:
                rest -= 1
                return next(variables)
            return convert(array)

        total = None
        for part in (part for result in call(args, kwargs, place) for part in parts_of(result)):
            results.append(part)
            shape = labdl.dispatch.spec_of(part).shape
            weights = 1.5 + np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)
            weighted = labdl.ops.sum(labdl.ops.multiply(part, convert(weights.astype("float32"))))
            total = weighted if total is None else labdl.ops.add(total, weighted)
        return total

    _, found = differentiate(scalar, [convert(leaf) for leaf in leaves])
    return results, [labdl.to_numpy(gradient).astype("float64") for gradient in found]
