"""Effects of SoX on sounds. Each cuts its result to [-1, 1] unless it says otherwise."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.recursive import delay_line, filter_wave, oscillate, phase_shift
from labdl.data.transforms.audio.units import Count, rate_of
from labdl.data.transforms.ranges import Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.settings import Share

Percent = Annotated[float, Ge(0), Le(100)]
Regeneration = Annotated[float, Ge(-95), Le(95)]
Delay = Annotated[float, Ge(0), Le(30)]
Depth = Annotated[float, Ge(0), Le(10)]
PhaserDelay = Annotated[float, Ge(0), Le(5)]
Decay = Annotated[float, Ge(0), Le(0.99)]
Speed = Annotated[float, Ge(0.1), Le(10)]
PhaserSpeed = Annotated[float, Ge(0.1), Le(2)]


@transform
class Contrast(Transform):
    """Make a sound appear louder by bending its values with a sine; ``enhancement_amount`` may be a pair (low, high).

    The result is not cut. Source: torchaudio.functional.contrast.
    """

    enhancement_amount: Percent | tuple[Percent, Percent] = 75.0

    def check_settings(self) -> None:
        check_order(self, "enhancement_amount")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"amount": draw(self.enhancement_amount, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        angle = as_float(audio.array) * (math.pi / 2)
        return np.sin(angle + params["amount"] / 750 * np.sin(angle * 4))


@transform({"shift": 0.3})
class DCShift(Transform):
    """Add a constant; ``limiter_gain`` (about 0.05) bends the peaks instead of cutting them off.

    ``shift`` may be a pair (low, high). Source: torchaudio.functional.dcshift.
    """

    shift: Range
    limiter_gain: Share | None = None

    def check_settings(self) -> None:
        check_order(self, "shift")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"shift": draw(self.shift, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, shift = as_float(audio.array), params["shift"]
        shifted = np.clip(wave + np.asarray(shift, wave.dtype), -1, 1)
        threshold = 1 - abs(shift) + (self.limiter_gain or 0)
        if self.limiter_gain is None or shift == 0 or threshold >= 1:
            return shifted
        side = math.copysign(1, shift)
        over = (wave * side - threshold) * self.limiter_gain / (1 - threshold) + threshold + abs(shift)
        return np.where(wave * side > threshold, side * np.minimum(over, threshold), shifted).astype(wave.dtype)


@transform
class Dither(Transform):
    """Round to ``bits`` bits after adding noise, so that the error is not heard as distortion.

    The noise is "TPDF" (triangular, two steps wide), "RPDF" (uniform, one step) or "GPDF" (Gaussian, half a step);
    ``noise_shaping`` moves the error to high frequencies. The result is not cut.
    Source: torchaudio.functional.dither; unlike there, the noise is independent for each sample.
    """

    density_function: Literal["TPDF", "RPDF", "GPDF"] = "TPDF"
    noise_shaping: bool = False
    bits: Annotated[int, Ge(2), Le(24)] = 16

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"seed": int(rng.integers(2**63))}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rng = as_float(audio.array), np.random.default_rng(params["seed"])
        noise = {
            "TPDF": lambda: rng.uniform(-0.5, 0.5, wave.shape) + rng.uniform(-0.5, 0.5, wave.shape),
            "RPDF": lambda: rng.uniform(-0.5, 0.5, wave.shape),
            "GPDF": lambda: rng.normal(0, 0.5, wave.shape),
        }[self.density_function]()
        steps = 2 ** (self.bits - 1)
        exact = wave.astype("float64") * steps
        if self.noise_shaping:  # feeding each error into the next sample is to round the running sum
            rounded = np.diff(np.round(np.cumsum(exact, -1) + noise), axis=-1, prepend=0)
        else:
            rounded = np.round(exact + noise)
        return (rounded / steps).astype(wave.dtype)


@transform
class Overdrive(Transform):
    """Distort by an amplifier of ``gain`` decibels that saturates; ``color`` is the amount of even harmonics.

    Source: torchaudio.functional.overdrive, where ``color`` is spelled as in Britain.
    """

    gain: Percent | tuple[Percent, Percent] = 20.0
    color: Percent | tuple[Percent, Percent] = 20.0

    def check_settings(self) -> None:
        check_order(self, "gain", "color")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"gain": draw(self.gain, rng), "color": draw(self.color, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave = as_float(audio.array)
        driven = np.clip(wave * 10 ** (params["gain"] / 20) + params["color"] / 200, -1, 1)
        driven -= driven**3 / 3
        centered = filter_wave(driven, (1.0, -1.0), (1.0, -0.995), clamp=False)
        return np.clip(wave * 0.5 + centered * 0.75, -1, 1).astype(wave.dtype)


@transform
class Phaser(Transform):
    """Add a sound delayed by up to ``delay_ms``, which swings ``mod_speed`` times a second.

    Source: torchaudio.functional.phaser.
    """

    gain_in: Share = 0.4
    gain_out: Annotated[float, Ge(0)] = 0.74
    delay_ms: PhaserDelay = 3.0
    decay: Decay = 0.4
    mod_speed: PhaserSpeed = 0.5
    sinusoidal: bool = True
    sample_rate: Count | None = None

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rate = as_float(audio.array), rate_of(self, audio)
        longest = max(int(self.delay_ms * 0.001 * rate + 0.5), 1)
        shape = "sinusoidal" if self.sinusoidal else "triangular"
        table = oscillate(shape, max(int(rate / self.mod_speed + 0.5), 1), 1.0, float(longest), math.pi / 2)
        delays = longest + 1 - np.resize((table + 0.5).astype(np.int64), wave.shape[1])
        return np.clip(phase_shift(wave, delays, self.gain_in, self.decay) * wave.dtype.type(self.gain_out), -1, 1)


@transform
class Flanger(Transform):
    """Add a sound delayed by ``delay`` ms and up to ``depth`` ms more, which swings ``speed`` times a second.

    ``regen`` per cent of the delayed sound enter the delay again, ``width`` is its part of the result in per cent, and
    ``phase`` the shift between channels in per cent of a period. Source: torchaudio.functional.flanger.
    """

    delay: Delay = 0.0
    depth: Depth = 2.0
    regen: Regeneration = 0.0
    width: Percent = 71.0
    speed: Speed = 0.5
    phase: Percent = 25.0
    modulation: Literal["sinusoidal", "triangular"] = "sinusoidal"
    interpolation: Literal["linear", "quadratic"] = "linear"
    sample_rate: Count | None = None

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rate = as_float(audio.array), rate_of(self, audio)
        feedback, width = self.regen / 100, self.width / 100
        gain = width / (1 + width) * (1 - abs(feedback))
        size = int(rate / self.speed)
        least = math.floor(self.delay / 1000 * rate + 0.5)
        most = int((self.delay + self.depth) / 1000 * rate + 0.5)
        table = oscillate(self.modulation, size, float(least), float(most), 3 * math.pi / 2).astype("float32")
        shifts = (np.arange(len(wave)) * size * self.phase / 100 + 0.5).astype(np.int64)
        delays = table[(np.arange(wave.shape[1]) + shifts[:, None]) % size]
        delayed = delay_line(wave, delays, feedback, self.interpolation == "quadratic")
        return np.clip(wave / np.asarray(1 + width, wave.dtype) + delayed * np.asarray(gain, wave.dtype), -1, 1)
