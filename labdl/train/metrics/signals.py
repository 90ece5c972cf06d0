"""Metrics of restored signals and images."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.lib.stride_tricks import sliding_window_view

from labdl.errors import ModelError
from labdl.train.metrics.metric import Metric, as_arrays, metric

__all__ = ["PSNR", "SSIM", "SignalToNoise"]

Positive = Annotated[float, Gt(0)]


def _decibels(signal, noise) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return 10 * np.log10(signal / noise)


def _total(values: np.ndarray) -> tuple:
    return values.sum(), values.size


def _mean(total, n) -> float:
    return float(total / n) if n else float("nan")


@metric
class SignalToNoise(Metric):
    """Signal-to-noise ratio in decibels, mean over signals on the last axis.

    ``scale_invariant`` removes the means and scales the target optimally first: SI-SNR, also SI-SDR (Le Roux et al., 2019).
    """

    task = "restoration"
    higher_is_better = True

    scale_invariant: bool = True

    def statistics(self, output, target):
        output, target = as_arrays("SignalToNoise", output, target)
        if output.ndim < 2:
            raise ModelError(f"SignalToNoise wants signals (N, ..., samples), received {output.shape}")
        if self.scale_invariant:
            output, target = (v - v.mean(-1, keepdims=True) for v in (output, target))
            power = (target**2).sum(-1, keepdims=True)
            fit = (output * target).sum(-1, keepdims=True)
            target = target * np.divide(fit, power, out=np.zeros_like(fit), where=power > 0)
        return _total(_decibels((target**2).sum(-1), ((output - target) ** 2).sum(-1)))

    def value(self, total, n):
        return _mean(total, n)


@metric
class PSNR(Metric):
    """Peak signal-to-noise ratio in decibels, mean over images (N, ...); ``peak`` is the largest possible value.

    Semantics: skimage.metrics.peak_signal_noise_ratio of each image.
    """

    task = "restoration"
    higher_is_better = True

    peak: Positive = 1.0

    def statistics(self, output, target):
        output, target = as_arrays("PSNR", output, target)
        if output.ndim < 2:
            raise ModelError(f"PSNR wants images (N, ...), received {output.shape}")
        error = ((output - target) ** 2).mean(tuple(range(1, output.ndim)))
        return _total(_decibels(self.peak**2, error))

    def value(self, total, n):
        return _mean(total, n)


@metric
class SSIM(Metric):
    """Structural similarity (Wang et al., 2004), 1 for equal images, mean over images.

    Images (N, channels, H, W), or with ``data_format="channels_last"`` (N, H, W, channels), are compared in Gaussian windows
    of 11 × 11 pixels (sigma 1.5) inside the image, per channel; ``peak`` is the largest possible value.
    Semantics: skimage.metrics.structural_similarity with gaussian_weights=True and use_sample_covariance=False.
    """

    task = "restoration"
    higher_is_better = True

    costly: ClassVar[bool] = True
    peak: Positive = 1.0
    data_format: Literal["channels_first", "channels_last"] = "channels_first"
    window: Annotated[int, Ge(1)] = 11
    sigma: Positive = 1.5

    def statistics(self, output, target):
        output, target = as_arrays("SSIM", output, target)
        if output.ndim != 4:
            raise ModelError(f"SSIM wants 4 axes, images with channels, received {output.shape}")
        if self.data_format == "channels_last":
            output, target = (np.moveaxis(v, -1, 1) for v in (output, target))
        if min(output.shape[2:]) < self.window:
            raise ModelError(
                f"SSIM(window={self.window}) wants images of at least that size, received {output.shape[2:]}"
            )
        x, y, xx, yy, xy = map(self._blur, (output, target, output**2, target**2, output * target))
        small, steady = (0.01 * self.peak) ** 2, (0.03 * self.peak) ** 2
        light = (2 * x * y + small) / (x**2 + y**2 + small)
        structure = (2 * (xy - x * y) + steady) / (xx - x**2 + yy - y**2 + steady)
        return _total((light * structure).mean((1, 2, 3)))

    def value(self, total, n):
        return _mean(total, n)

    def _blur(self, images: np.ndarray) -> np.ndarray:
        """Gaussian-weighted means of all windows, separably."""
        place = np.arange(self.window) - (self.window - 1) / 2
        weights = np.exp(-(place**2) / (2 * self.sigma**2))
        weights /= weights.sum()
        for axis in (-1, -2):
            images = sliding_window_view(images, self.window, axis) @ weights
        return images
