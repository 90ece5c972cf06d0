"""Transforms of transforms: one after the other, with a probability, one of several, in random order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from labdl.data.transforms.sample_parts import part_at
from labdl.data.transforms.transform import Transform, transform
from labdl.errors import ConfigError
from labdl.settings import INNER, Share

Transforms = tuple[Transform, ...]


def check_inner_transforms(owner: Transform, transforms: Any) -> None:
    """Raise ConfigError unless the transforms inside of another one are a tuple of those that change one sample."""
    if not isinstance(transforms, tuple):
        raise ConfigError(f"{type(owner).__name__} wants a list of transforms, received {transforms!r:.200}")
    for one in transforms:
        if not isinstance(one, Transform):
            raise ConfigError(
                f"{type(owner).__name__} wants transforms, received {one!r:.80}: wrap a function as T.Lambda(function)"
            )
        if one.others:
            raise ConfigError(
                f"{type(one).__name__} reads further samples: put it into the list of Dataset.map, not into "
                f"{type(owner).__name__}"
            )


@transform({"transforms": ()})
class Compose(Transform):
    """Apply transforms one after the other. Source: torchvision.transforms.v2.Compose."""

    transforms: Transforms = field(metadata=INNER)

    def check_settings(self) -> None:
        check_inner_transforms(self, self.transforms)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        for one in self.transforms:
            sample = one.apply(sample, rng)
        return sample


@transform({"transforms": ()})
class RandomApply(Transform):
    """Apply all transforms of a list with a probability, or none of them. Source: torchvision.transforms.v2.RandomApply."""

    transforms: Transforms = field(metadata=INNER)
    p: Share = 0.5

    def check_settings(self) -> None:
        check_inner_transforms(self, self.transforms)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if rng.random() >= self.p:
            return sample
        for one in self.transforms:
            sample = one.apply(sample, rng)
        return sample


@transform({"transforms": ()})
class RandomChoice(Transform):
    """Apply one transform of a list; ``weights`` are relative probabilities. Source: torchvision.transforms.v2.RandomChoice."""

    transforms: Transforms = field(metadata=INNER)
    weights: tuple[float, ...] | None = None

    def check_settings(self) -> None:
        check_inner_transforms(self, self.transforms)
        if self.weights is not None and (
            len(self.weights) != len(self.transforms) or min(self.weights, default=0) < 0 or not sum(self.weights) > 0
        ):
            raise ConfigError(
                f"RandomChoice wants a weight of at least 0 for each of {len(self.transforms)} transforms, "
                f"received {self.weights}"
            )

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self.transforms:
            return sample
        shares = None if self.weights is None else np.array(self.weights) / sum(self.weights)
        return self.transforms[int(rng.choice(len(self.transforms), p=shares))].apply(sample, rng)


@transform({"transforms": ()})
class RandomOrder(Transform):
    """Apply transforms in random order. Source: torchvision.transforms.v2.RandomOrder."""

    transforms: Transforms = field(metadata=INNER)

    def check_settings(self) -> None:
        check_inner_transforms(self, self.transforms)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        for at in rng.permutation(len(self.transforms)):
            sample = self.transforms[at].apply(sample, rng)
        return sample


@transform
class Identity(Transform):
    """Return the sample unchanged. Source: torchvision.transforms.v2.Identity."""

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return sample


@transform({"function": np.flipud, "key": "image"})
class Lambda(Transform):
    """Apply a function of the whole sample, or of the part ``key`` of a dictionary; it cannot be saved to a file.

    Source: torchvision.transforms.v2.Lambda.
    """

    function: Callable[[Any], Any] = field(metadata=INNER)
    key: str | None = None

    def check_settings(self) -> None:
        if not callable(self.function):
            raise ConfigError(f"Lambda wants a function of a sample, received {self.function!r:.80}")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.key is None:
            return self.function(sample)
        return {**sample, self.key: self.function(part_at(self, sample, self.key))}
