"""Coefficients (b0, b1, b2, a0, a1, a2) of filters of second order (R. Bristow-Johnson's cookbook; SoX; torchaudio)."""

from __future__ import annotations

import math

Coefficients = tuple[float, float, float, float, float, float]

# zeros and poles of the playback curve of the Recording Industry Association of America by sampling rate
RIAA: dict[int, tuple[float, float, float, float]] = {
    44_100: (-0.2014898, 0.9233820, 0.7083149, 0.9924091),
    48_000: (-0.1766069, 0.9321590, 0.7396325, 0.9931330),
    88_200: (-0.1168735, 0.9648312, 0.8590646, 0.9964002),
    96_000: (-0.1141486, 0.9676817, 0.8699137, 0.9966946),
}
# corner frequency, slope and gain of the deemphasis of compact discs (ISO 908) by sampling rate
DEEMPHASIS: dict[int, tuple[float, float, float]] = {44_100: (5283, 0.4845, -9.477), 48_000: (5356, 0.479, -9.62)}


def _angle(rate: float, frequency: float, q: float) -> tuple[float, float]:
    """The cosine of the corner's angle and the bandwidth."""
    w = 2 * math.pi * frequency / rate
    return math.cos(w), math.sin(w) / 2 / q


def lowpass(rate: float, frequency: float, q: float) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    return (1 - cos) / 2, 1 - cos, (1 - cos) / 2, 1 + alpha, -2 * cos, 1 - alpha


def highpass(rate: float, frequency: float, q: float) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    return (1 + cos) / 2, -1 - cos, (1 + cos) / 2, 1 + alpha, -2 * cos, 1 - alpha


def allpass(rate: float, frequency: float, q: float) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    return 1 - alpha, -2 * cos, 1 + alpha, 1 + alpha, -2 * cos, 1 - alpha


def bandpass(rate: float, frequency: float, q: float, const_skirt_gain: bool = False) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    peak = alpha * q if const_skirt_gain else alpha
    return peak, 0.0, -peak, 1 + alpha, -2 * cos, 1 - alpha


def bandreject(rate: float, frequency: float, q: float) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    return 1.0, -2 * cos, 1.0, 1 + alpha, -2 * cos, 1 - alpha


def band(rate: float, frequency: float, q: float, noise: bool = False) -> Coefficients:
    a2 = math.exp(-2 * math.pi * frequency / q / rate)
    a1 = -4 * a2 / (1 + a2) * math.cos(2 * math.pi * frequency / rate)
    b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
    if noise:
        b0 = math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
    return b0, 0.0, 0.0, 1.0, a1, a2


def equalizer(rate: float, frequency: float, q: float, gain: float) -> Coefficients:
    (cos, alpha), size = _angle(rate, frequency, q), 10 ** (gain / 40)
    return 1 + alpha * size, -2 * cos, 1 - alpha * size, 1 + alpha / size, -2 * cos, 1 - alpha / size


def treble(rate: float, frequency: float, q: float, gain: float) -> Coefficients:
    cos, alpha = _angle(rate, frequency, q)
    return _high_shelf(cos, alpha, 10 ** (gain / 40))


def bass(rate: float, frequency: float, q: float, gain: float) -> Coefficients:
    (cos, alpha), size = _angle(rate, frequency, q), 10 ** (gain / 40)
    edge, low, high = 2 * math.sqrt(size) * alpha, (size - 1) * cos, (size + 1) * cos
    return (
        size * (size + 1 - low + edge),
        2 * size * (size - 1 - high),
        size * (size + 1 - low - edge),
        size + 1 + low + edge,
        -2 * (size - 1 + high),
        size + 1 + low - edge,
    )


def deemphasis(rate: int) -> Coefficients:
    frequency, slope, gain = DEEMPHASIS[rate]
    w, size = 2 * math.pi * frequency / rate, 10 ** (gain / 40)
    alpha = math.sin(w) / 2 * math.sqrt((size + 1 / size) * (1 / slope - 1) + 2)
    return _high_shelf(math.cos(w), alpha, size)


def _high_shelf(cos: float, alpha: float, size: float) -> Coefficients:
    edge, low, high = 2 * math.sqrt(size) * alpha, (size - 1) * cos, (size + 1) * cos
    return (
        size * (size + 1 + low + edge),
        -2 * size * (size - 1 + high),
        size * (size + 1 + low - edge),
        size + 1 - low + edge,
        2 * (size - 1 - high),
        size + 1 - low - edge,
    )


def riaa(rate: int) -> Coefficients:
    """Of gain 1 at 1 kHz."""
    zero, other_zero, pole, other_pole = RIAA[rate]
    b = 1.0, -(zero + other_zero), zero * other_zero
    a = 1.0, -(pole + other_pole), pole * other_pole
    turn = complex(math.cos(2 * math.pi * 1000 / rate), -math.sin(2 * math.pi * 1000 / rate))
    gain = abs((a[0] + a[1] * turn + a[2] * turn**2) / (b[0] + b[1] * turn + b[2] * turn**2))
    return b[0] * gain, b[1] * gain, b[2] * gain, *a
