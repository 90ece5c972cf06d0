"""Policies of augmentation: operations drawn from a list with magnitudes; boxes, masks and key points move along."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from labdl.data.parts import Image, Part, Video
from labdl.data.transforms.general.compose import Compose, RandomApply, check_inner_transforms
from labdl.data.transforms.image.policy_tables import AUTO_POLICIES, GEOMETRY, SIGNED, TONES, Limits, operation
from labdl.data.transforms.transform import Parameters, Transform, iterate_parts, transform
from labdl.data.vision.padding import Fill
from labdl.data.vision.pixels import brightest
from labdl.data.vision.warping import WarpInterpolation
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER

Count = Annotated[int, Ge(1)]
Bins = Annotated[int, Ge(2)]
Chain = Annotated[int, Ge(-1)]
Positive = Annotated[float, Gt(0)]

_FACTORS = ("Brightness", "Color", "Contrast", "Sharpness")
_SPACE = ("Identity", *GEOMETRY, *_FACTORS, *TONES)
_WIDE = Limits(shear=0.99, pixels=32.0, degrees=135.0, factor=0.99, bits=(8, 6))
_MIX = Limits(translate=1 / 3, bits=(4, 4))


class _Policy(Transform):
    """A policy draws names and magnitudes; it is applied to the whole sample."""

    interpolation: Any
    fill: Any

    def step(self, sample: Any, name: str, share: float, limits: Limits, rng: np.random.Generator) -> Any:
        """Apply one operation at a share of its range, with a random sign."""
        picture = _picture(sample, type(self).__name__)
        canvas = picture.canvas
        magnitude = limits.magnitude(name, share, canvas)
        if name in SIGNED and rng.random() < 0.5:
            magnitude = -magnitude
        white = brightest(picture.dtype)
        return operation(name, magnitude, canvas, white, self.interpolation, self.fill).apply(sample, rng)


@transform
class AutoAugment(_Policy):
    """Apply one of the 25 pairs of operations that were learned on ImageNet, CIFAR-10 or SVHN.

    Source: torchvision.transforms.v2.AutoAugment; Cubuk et al. 2019.
    """

    policy: Literal["imagenet", "cifar10", "svhn"] = "imagenet"
    interpolation: WarpInterpolation = "nearest"
    fill: Fill = 0.0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        policies = AUTO_POLICIES[self.policy]
        for name, probability, magnitude in policies[int(rng.integers(len(policies)))]:
            if rng.random() <= probability:
                sample = self.step(sample, name, magnitude / 9, Limits(), rng)
        return sample


@transform
class RandAugment(_Policy):
    """Apply ``num_ops`` random operations, all at ``magnitude`` of ``num_magnitude_bins`` steps.

    Source: torchvision.transforms.v2.RandAugment; Cubuk et al. 2020.
    """

    num_ops: Count = 2
    magnitude: Annotated[int, Ge(0)] = 9
    num_magnitude_bins: Bins = 31
    interpolation: WarpInterpolation = "nearest"
    fill: Fill = 0.0

    def check_settings(self) -> None:
        if self.magnitude >= self.num_magnitude_bins:
            raise ConfigError(
                f"RandAugment: magnitude wants a number below num_magnitude_bins={self.num_magnitude_bins}, "
                f"received {self.magnitude}"
            )

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        share = self.magnitude / (self.num_magnitude_bins - 1)
        for at in rng.integers(len(_SPACE), size=self.num_ops):
            sample = self.step(sample, _SPACE[at], share, Limits(), rng)
        return sample


@transform
class TrivialAugmentWide(_Policy):
    """Apply one random operation at a random magnitude of wide ranges.

    Source: torchvision.transforms.v2.TrivialAugmentWide; Müller and Hutter 2021.
    """

    num_magnitude_bins: Bins = 31
    interpolation: WarpInterpolation = "nearest"
    fill: Fill = 0.0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        name = _SPACE[int(rng.integers(len(_SPACE)))]
        share = rng.integers(self.num_magnitude_bins) / (self.num_magnitude_bins - 1)
        return self.step(sample, name, float(share), _WIDE, rng)


@transform
class AugMix(_Policy):
    """Mix the picture with ``mixture_width`` chains of operations on it; boxes and masks stay.

    ``chain_depth`` is the length of the chains, -1 draws it from 1 to 3; ``severity`` 1 to 10 bounds magnitudes; ``alpha``
    is that of the weights. Source: torchvision.transforms.v2.AugMix; Hendrycks et al. 2020.
    """

    severity: Annotated[int, Ge(1), Le(10)] = 3
    mixture_width: Count = 3
    chain_depth: Chain = -1
    alpha: Positive = 1.0
    all_ops: bool = True
    interpolation: WarpInterpolation = "bilinear"
    fill: Fill = 0.0

    def check_settings(self) -> None:
        if self.chain_depth == 0:
            raise ConfigError("AugMix: chain_depth wants a number of at least 1, or -1, received 0")

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        return {"seed": int(rng.integers(1 << 62))}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        rng = np.random.default_rng(params["seed"])
        names = [*GEOMETRY, *TONES, *(_FACTORS if self.all_ops else ())]
        original = Image(np.asarray(image))
        own = rng.beta(self.alpha, self.alpha)
        weights = rng.dirichlet([self.alpha] * self.mixture_width) * (1 - own)
        mixture = original.array * np.float32(own)
        for weight in weights:
            depth = self.chain_depth if self.chain_depth > 0 else int(rng.integers(1, 4))
            changed: Any = original
            for _ in range(depth):
                share = float(rng.integers(self.severity)) / 9
                changed = self.step(changed, names[int(rng.integers(len(names)))], share, _MIX, rng)
            mixture += np.asarray(changed) * np.float32(weight)
        if original.dtype.kind != "f":
            mixture = np.clip(np.rint(mixture), 0, brightest(original.dtype))
        return mixture.astype(original.dtype, copy=False)


@transform({"transforms": ()})
class UniformAugment(Transform):
    """Draw ``num_ops`` transforms of a list, and apply each of them with the probability one half.

    Source: mindspore.dataset.vision.UniformAugment; LingChen et al. 2020.
    """

    transforms: tuple[Transform, ...] = field(metadata=INNER)
    num_ops: Count = 2

    def check_settings(self) -> None:
        check_inner_transforms(self, self.transforms)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        for at in rng.permutation(len(self.transforms))[: self.num_ops]:
            if rng.random() < 0.5:
                sample = self.transforms[at].apply(sample, rng)
        return sample


def _subpolicies(policy: Any) -> tuple[Transform, ...]:
    """The subpolicies as transforms of the same random numbers: each a Compose of a RandomApply for each pair."""
    return tuple(Compose(tuple(RandomApply((one,), p=float(p)) for one, p in subpolicy)) for subpolicy in policy)


def _policy(subpolicies: tuple[Transform, ...]) -> tuple[Any, ...]:
    """The pairs of `_subpolicies`; a transform of another kind is one that is always applied."""
    return tuple(
        tuple(
            (one.transforms[0], one.p) if isinstance(one, RandomApply) and len(one.transforms) == 1 else (one, 1.0)
            for one in (subpolicy.transforms if isinstance(subpolicy, Compose) else (subpolicy,))
        )
        for subpolicy in subpolicies
    )


@transform({"policy": ()})
class RandomSelectSubpolicy(Transform):
    """Draw one subpolicy, a list of pairs (transform, probability), and apply its transforms in order.

    Source: mindspore.dataset.vision.RandomSelectSubpolicy.
    """

    policy: tuple[Any, ...] = field(metadata=INNER | {"transforms": (_subpolicies, _policy)})

    def check_settings(self) -> None:
        for subpolicy in self.policy if isinstance(self.policy, tuple) else (self.policy,):
            pairs = subpolicy if isinstance(subpolicy, tuple) else (subpolicy,)
            if not all(map(_is_pair, pairs)):
                raise ConfigError(
                    f"RandomSelectSubpolicy wants lists of pairs (transform, probability 0 to 1), received {subpolicy!r:.200}"
                )
            check_inner_transforms(self, tuple(one for one, _ in pairs))

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self.policy:
            return sample
        for one, probability in self.policy[int(rng.integers(len(self.policy)))]:
            if rng.random() < probability:
                sample = one.apply(sample, rng)
        return sample


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], int | float) and bool(0 <= pair[1] <= 1)


def _picture(sample: Any, name: str) -> Image | Video:
    leaves = list(iterate_parts(sample))
    for leaf in leaves:
        if isinstance(leaf, Image | Video):
            return leaf
    if not any(isinstance(leaf, Part) for leaf in leaves):
        for leaf in leaves:
            if type(leaf).__module__.startswith("PIL.") or (isinstance(leaf, np.ndarray) and leaf.ndim in (2, 3)):
                return Image(leaf)
    raise DataError(f"{name} wants a sample with a picture, received {type(sample).__name__} without one")
