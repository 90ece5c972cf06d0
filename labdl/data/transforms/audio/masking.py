"""Masks of spectrograms: bands of frequencies and stretches of frames that a model must do without."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from labdl.data import parts
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.settings import Share

Width = Annotated[int, Ge(0)]


def _mask(values: np.ndarray, uniforms: np.ndarray, axis: int, widest: float, fill: float | np.ndarray) -> None:
    """Fill bands along an axis of (channels, frequencies, frames), from two uniform numbers for all channels or each.

    Both are rounded down after the place of the band has been drawn among those for its exact width.
    """
    size = values.shape[axis]
    for channels, (width, start) in zip(
        (slice(None),) if uniforms.ndim == 1 else range(len(values)), uniforms.reshape(2, -1).T, strict=True
    ):
        first = int(start * (size - width * widest))
        band = slice(first, first + int(width * widest))
        values[(channels, ..., band) if axis == -1 else (channels, ..., band, slice(None))] = fill


def _draw(rng: np.random.Generator, part: parts.Part, each: bool) -> np.ndarray:
    """Two uniform numbers: the width and the place of a mask, for all channels or each of them."""
    return rng.uniform(size=(2, len(part)) if each else 2)


def _widest(limit: int, size: int, share: float = 1.0) -> float:
    return min(limit, size, int(size * share))


@transform({"mask_param": 10, "axis": 2})
class MaskAlongAxis(Transform):
    """Fill a band of up to ``mask_param`` rows with ``mask_value``: frequencies (``axis`` 1) or frames (2).

    Source: torchaudio.functional.mask_along_axis.
    """

    mask_param: Width
    mask_value: float = 0.0
    axis: Literal[1, 2] = 1

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"uniforms": _draw(rng, part, False)}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        result, axis = spectrogram.array.copy(), self.axis - 3
        _mask(result, params["uniforms"], axis, _widest(self.mask_param, result.shape[axis]), self.mask_value)
        return result


@transform({"mask_param": 10, "axis": 2})
class MaskAlongAxisIID(Transform):
    """Fill a band as `MaskAlongAxis` does, another one in each channel. Source: torchaudio.functional.mask_along_axis_iid."""

    mask_param: Width
    mask_value: float = 0.0
    axis: Literal[1, 2] = 1

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"uniforms": _draw(rng, part, True)}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        result, axis = spectrogram.array.copy(), self.axis - 3
        _mask(result, params["uniforms"], axis, _widest(self.mask_param, result.shape[axis]), self.mask_value)
        return result


@transform({"freq_mask_param": 10})
class FrequencyMasking(Transform):
    """Fill a band of up to ``freq_mask_param`` frequencies with ``mask_value``, with ``iid_masks`` another in each channel.

    Source: torchaudio.transforms.FrequencyMasking.
    """

    freq_mask_param: Width
    iid_masks: bool = False
    mask_value: float = 0.0

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"uniforms": _draw(rng, part, self.iid_masks)}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        result = spectrogram.array.copy()
        _mask(result, params["uniforms"], -2, _widest(self.freq_mask_param, result.shape[-2]), self.mask_value)
        return result


@transform({"time_mask_param": 10})
class TimeMasking(Transform):
    """Fill up to ``time_mask_param`` frames with ``mask_value``, but at most ``max_share`` of them.

    With ``iid_masks`` they are others in each channel.
    Source: torchaudio.transforms.TimeMasking, where ``max_share`` is named p.
    """

    time_mask_param: Width
    iid_masks: bool = False
    max_share: Share = 1.0
    mask_value: float = 0.0

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"uniforms": _draw(rng, part, self.iid_masks)}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        result = spectrogram.array.copy()
        widest = _widest(self.time_mask_param, result.shape[-1], self.max_share)
        _mask(result, params["uniforms"], -1, widest, self.mask_value)
        return result


@transform
class SpecAugment(Transform):
    """Fill several stretches of frames and bands of frequencies with the mean, or with 0 (Park et al., 2019, no warping).

    A stretch has at most ``max_share`` of the frames. With ``iid_masks`` they are others in each channel.
    Source: torchaudio.transforms.SpecAugment, where ``max_share`` is named p.
    """

    n_time_masks: Width = 2
    time_mask_param: Width = 40
    n_freq_masks: Width = 2
    freq_mask_param: Width = 15
    iid_masks: bool = True
    max_share: Share = 1.0
    zero_masking: bool = False

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {
            "time": [_draw(rng, part, self.iid_masks) for _ in range(self.n_time_masks)],
            "frequency": [_draw(rng, part, self.iid_masks) for _ in range(self.n_freq_masks)],
        }

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        result = spectrogram.array.copy()
        fill = 0.0 if self.zero_masking or not result.size else result.mean()
        for uniforms in params["time"]:
            _mask(result, uniforms, -1, _widest(self.time_mask_param, result.shape[-1], self.max_share), fill)
        for uniforms in params["frequency"]:
            _mask(result, uniforms, -2, _widest(self.freq_mask_param, result.shape[-2]), fill)
        return result
