"""How much two pictures (height, width, channels) differ; further axes in front are several pictures."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from labdl.errors import DataError

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def psnr(images: np.ndarray, others: np.ndarray, max_val: float) -> np.ndarray:
    """Peak signal-to-noise ratio in dB; ``max_val`` is the range of values, 255 or 1. Source: tf.image.psnr."""
    one, other = _compare("psnr", images, others)
    error = np.square(one - other).mean((-3, -2, -1))
    with np.errstate(divide="ignore"):
        return 20 * np.log10(max_val) - 10 * np.log10(error)


def ssim(
    images: np.ndarray,
    others: np.ndarray,
    max_val: float,
    *,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> np.ndarray:
    """Structural similarity, 1 for equal pictures; ``max_val`` is the range of values, 255 or 1.

    Means and variances are taken within a Gaussian window. Source: tf.image.ssim (Wang et al. 2004).
    """
    one, other = _compare("ssim", images, others)
    window = filter_size, filter_sigma
    return _by_picture(lambda a, b: _structure("ssim", a, b, max_val, window, k1, k2)[0].mean(), one, other)


def ssim_multiscale(
    images: np.ndarray,
    others: np.ndarray,
    max_val: float,
    *,
    power_factors: Sequence[float] = _SCALES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> np.ndarray:
    """Structural similarity at several sizes, each half of the one before; ``power_factors`` are their weights.

    Source: tf.image.ssim_multiscale (Wang et al. 2003).
    """
    one, other = _compare("ssim_multiscale", images, others)
    window = filter_size, filter_sigma

    def compute(a: np.ndarray, b: np.ndarray) -> float:
        product = np.ones(a.shape[-1])
        for at, power in enumerate(power_factors):
            if at:
                a, b = _halve(a), _halve(b)
            both, contrast = _structure("ssim_multiscale", a, b, max_val, window, k1, k2)
            product *= np.maximum(both if at == len(power_factors) - 1 else contrast, 0) ** power
        return product.mean()

    return _by_picture(compute, one, other)


def _structure(name, one, other, max_val: float, window: tuple[int, float], k1: float, k2: float):
    """Structural similarity of each channel, and its term of contrast and structure alone."""
    size, sigma = window
    if min(one.shape[:2]) < size:
        raise DataError(
            f"{name} wants pictures of at least {size} × {size} pixels at each of its sizes, received one of "
            f"{one.shape[0]} × {one.shape[1]}: write a smaller filter_size"
        )
    kernel = np.exp(-np.square(np.arange(size) - (size - 1) / 2) / (2 * sigma**2))
    kernel /= kernel.sum()
    low, high = size // 2, (size - 1) // 2

    def blur(values: np.ndarray) -> np.ndarray:
        rows, columns = values.shape[:2]
        blurred = cv2.sepFilter2D(np.ascontiguousarray(values), cv2.CV_64F, kernel, kernel).reshape(values.shape)
        return blurred[low : rows - high, low : columns - high]

    mean, other_mean = blur(one), blur(other)
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    product, squares = mean * other_mean * 2, mean**2 + other_mean**2
    luminance = (product + c1) / (squares + c1)
    contrast = (blur(one * other) * 2 - product + c2) / (blur(one**2 + other**2) - squares + c2)
    return (luminance * contrast).mean((0, 1)), contrast.mean((0, 1))


def _halve(image: np.ndarray) -> np.ndarray:
    rows, columns = image.shape[:2]
    image = np.pad(image, ((0, rows % 2), (0, columns % 2), (0, 0)), "symmetric")
    return image.reshape(-(-rows // 2), 2, -(-columns // 2), 2, -1).mean((1, 3))


def _compare(name: str, images: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    one, other = np.asarray(images, "float64"), np.asarray(others, "float64")
    if one.ndim < 3 or one.shape != other.shape:
        raise DataError(
            f"{name} wants two pictures (…, height, width, channels) of the same shape, received {one.shape} and {other.shape}"
        )
    return one, other


def _by_picture(function, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    front = one.shape[:-3]
    pairs = zip(one.reshape(-1, *one.shape[-3:]), other.reshape(-1, *one.shape[-3:]), strict=True)
    return np.array([function(a, b) for a, b in pairs]).reshape(front)
