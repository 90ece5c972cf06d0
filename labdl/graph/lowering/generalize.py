"""Merging recordings with different input sizes into one program."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from labdl.errors import ModelError
from labdl.graph.lowering.program import Block, Call, Numbers, Ramp, Size

_FEW = 16  # largest tensor that is compared element by element


class Generalization:
    """One program from recordings with different sizes: numbers that depend on the sizes become `Size`.

    ``trials`` are the sizes of each recording: the first, then for each size one with that size changed, then one with all.
    """

    def __init__(self, trials: list[list[int]]):
        self.trials = trials
        count = len(trials[0])
        self.products = [c for n in range(1, count + 1) for c in itertools.combinations(range(count), n)]

    def call(self, found: list[Call]) -> Call:
        first = found[0]
        if len({c.target for c in found}) > 1:
            raise ModelError(
                f"what the model does depends on data: {' or '.join(sorted({str(c.target) for c in found}))}"
            )
        args = self.value([c.args for c in found], str(first.target))
        kwargs = self.value([c.kwargs for c in found], str(first.target))
        blocks = tuple(map(self.block, zip(*(c.blocks for c in found), strict=True)))
        return dataclasses.replace(first, args=args, kwargs=kwargs, blocks=blocks)

    def block(self, found: Sequence[Block]) -> Block:
        if len({len(block.calls) for block in found}) > 1:
            raise ModelError(
                "the calls in a branch or a loop of the model depend on the sizes of its inputs: give it fixed sizes at build"
            )
        calls = [self.call(list(each)) for each in zip(*(block.calls for block in found), strict=True)]
        return Block(calls, found[0].outputs)

    def constant(self, found: list[np.ndarray]) -> np.ndarray | Ramp | Numbers:
        first = found[0]
        if all(_equal(v, first) for v in found):
            return first
        if len({v.shape for v in found}) == 1 and first.size <= _FEW and first.dtype.kind in "iuf":
            return Numbers(self.value([v.tolist() for v in found], "a tensor"), first.dtype.name)
        ramps = [r for r in map(_ramp, found) if r is not None]
        if len(ramps) < len(found) or len({(len(r.shape), r.dtype) for r in ramps}) > 1:
            raise ModelError(
                "a constant of the model depends on data, or on the sizes of its inputs in a way that calls cannot express: "
                "give the model fixed sizes at build"
            )
        shape, start, steps = (
            self.value([getattr(r, k) for r in ramps], "a tensor") for k in ("shape", "start", "steps")
        )
        return Ramp(shape, start, steps, ramps[0].dtype)

    def value(self, found: list, target: str) -> Any:
        first = found[0]
        if all(type(v) is type(first) for v in found):
            if isinstance(first, dict) and all(v.keys() == first.keys() for v in found):
                return {k: self.value([v[k] for v in found], target) for k in first}
            if isinstance(first, list | tuple) and len({len(v) for v in found}) == 1:
                return type(first)(self.value(list(each), target) for each in zip(*found, strict=True))
            if isinstance(first, slice):
                ends = [self.value([getattr(v, end) for v in found], target) for end in ("start", "stop", "step")]
                return slice(*ends)
            if isinstance(first, int) and not isinstance(first, bool) and len(set(found)) > 1:
                return self.size(found, target)
            if isinstance(first, float) and len(set(found)) > 1 and all(map(math.isfinite, found)):
                parts = [Fraction(v).limit_denominator(10**7) for v in found]
                if all(float(part) == v for part, v in zip(parts, found, strict=True)):
                    above, below = ([getattr(p, end) for p in parts] for end in ("numerator", "denominator"))
                    return dataclasses.replace(self.size(above, target), over=self.size(below, target))
            if all(v is first or _equal(v, first) for v in found):
                return first
            if isinstance(first, np.ndarray):
                return self.constant(found)
        raise ModelError(
            f"{target} in the model takes a value that depends on data, {found[0]!r} or {found[-1]!r}: it has no flat form"
        )

    def size(self, found: list[int], target: str) -> Size:
        """The simplest formula for all of the numbers: linear in one product of sizes, else in all sizes."""
        singles = [p for p in self.products if len(p) == 1]
        for products in (*([p] for p in self.products), singles):
            if (formula := self._formula(found, products)) is not None:
                return formula
        raise ModelError(
            f"{target} in the model takes the number {found[0]} or {found[-1]}, which is not a simple function of "
            "the sizes of the inputs: give the model fixed sizes at build"
        )

    def _formula(self, found: list[int], products: list[tuple[int, ...]]) -> Size | None:
        """The numbers as ``constant + sum(factor * product)`` of integers, None unless that holds in every recording."""
        columns = [[math.prod(trial[at] for at in product) for trial in self.trials] for product in products]
        factors = []
        for product, column in zip(products, columns, strict=True):
            changed = 1 + product[0]  # the recording in which only this size differs
            factors.append(Fraction(found[changed] - found[0], column[changed] - column[0]))
        constant = found[0] - sum(factor * column[0] for factor, column in zip(factors, columns, strict=True))
        holds = all(
            constant + sum(factor * column[n] for factor, column in zip(factors, columns, strict=True)) == number
            for n, number in enumerate(found)
        )
        if not holds or any(factor.denominator > 1 for factor in factors):
            return None
        terms = tuple((int(factor), product) for factor, product in zip(factors, products, strict=True) if factor)
        return Size(terms, int(constant))


def _ramp(array: np.ndarray) -> Ramp | None:
    """The array as a ramp, if it is one."""
    if not array.size or array.dtype.kind not in "biuf":
        return None
    start, steps = array[(0,) * array.ndim].item(), []
    wanted = np.full(array.shape, start)
    for axis, size in enumerate(array.shape):
        second = tuple(1 if a == axis else 0 for a in range(array.ndim))
        following = array[second].item() if size > 1 else start
        step = following - start if following != start else 0  # inf - inf is NaN
        steps.append(step)
        if step:
            wanted = wanted + step * np.arange(size).reshape([-1 if a == axis else 1 for a in range(array.ndim)])
    return Ramp(array.shape, start, tuple(steps), array.dtype.name) if np.array_equal(wanted, array) else None


def _equal(a, b) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))
