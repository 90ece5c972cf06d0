"""Inputs of pretrained models for pictures and sounds, by the settings in the preprocessor_config.json of their folders."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.errors import ConfigError, DataError
from labdl.tasks.samples import read_picture, read_sound

Processor = Callable[[Any], np.ndarray]

_INTERPOLATIONS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}  # numbers of Pillow
_PICTURES = ("ViTImageProcessor", "ViTFeatureExtractor", "DeiTImageProcessor", "DeiTFeatureExtractor")
_LARGEST_SIDE, _MOST_SAMPLES = 1 << 14, 1 << 26


def create_processor(settings: Mapping[str, Any]) -> Processor:
    """The function from a picture or a sound to one input of the model, float32, as the public library computes it.

    Pictures (see `labdl.tasks.samples.read_picture`) become (3, height, width), sounds log-mel spectrograms (bins, frames).
    ``settings`` are those of a preprocessor_config.json: ``model.pretrained.processor``. Raises ConfigError naming a kind or a
    setting that LabDL does not compute. Source: transformers.ViTImageProcessor, transformers.WhisperFeatureExtractor.
    """
    kind = settings.get("image_processor_type") or settings.get("feature_extractor_type")
    if isinstance(kind, str) and kind.removesuffix("Fast") in _PICTURES:
        return functools.partial(_prepare_picture, _picture_steps(settings), settings)
    if kind == "WhisperFeatureExtractor":
        return functools.partial(_log_mel, _sound_settings(settings))
    raise ConfigError(
        f"preprocessor_config.json is of {kind!r:.80}, LabDL computes WhisperFeatureExtractor, "
        f"{' and '.join(_PICTURES[::2])}: prepare the inputs and give them as an array"
    )


# -- pictures


def _picture_steps(settings: Mapping[str, Any]) -> list[Callable]:
    from labdl.data import transforms as T  # imported lazily: transforms need OpenCV

    steps: list[Callable] = []
    if settings.get("do_resize", True):
        number = settings.get("resample", 2)
        if number not in _INTERPOLATIONS:
            raise ConfigError(f"preprocessor_config.json: resample wants 0 to 3, received {number!r:.40}")
        size: Any = _size(settings, "size", 224)
        steps.append(T.Resize(size, _INTERPOLATIONS[number]))  # type: ignore[arg-type]
    if settings.get("do_center_crop", str(settings.get("image_processor_type", "")).startswith("DeiT")):
        steps.append(T.CenterCrop(_size(settings, "crop_size", 224)))
    return steps


def _size(settings: Mapping[str, Any], name: str, default: int) -> tuple[int, int]:
    """Height and width, which files write as a table, or in older ones as one number for both."""
    value = settings.get(name, default)
    sides = (value.get("height"), value.get("width")) if isinstance(value, Mapping) else (value, value)
    if not all(isinstance(side, int) and not isinstance(side, bool) and 0 < side <= _LARGEST_SIDE for side in sides):
        raise ConfigError(f"preprocessor_config.json: {name} wants height and width in pixels, received {value!r:.80}")
    return sides  # type: ignore[return-value]


def _prepare_picture(steps: Sequence[Callable], settings: Mapping[str, Any], sample: Any) -> np.ndarray:
    picture: Any = read_picture(sample)
    for step in steps:
        picture = step(picture)
    scale = settings.get("rescale_factor", 1 / 255) if settings.get("do_rescale", True) else 1.0
    values = np.asarray(picture)
    values = values.astype("float32") * np.float32(scale if values.dtype == np.uint8 else 1.0)
    if settings.get("do_normalize", True):
        mean, std = (_colors(settings, f"image_{name}") for name in ("mean", "std"))
        values = (values - mean) / std
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def _colors(settings: Mapping[str, Any], name: str) -> np.ndarray:
    value = settings.get(name, [0.5, 0.5, 0.5])
    if not isinstance(value, Sequence) or len(value) != 3 or not all(isinstance(each, int | float) for each in value):
        raise ConfigError(f"preprocessor_config.json: {name} wants three numbers, received {value!r:.80}")
    return np.array(value, "float32")


# -- sounds


def _sound_settings(settings: Mapping[str, Any]) -> dict[str, int]:
    defaults = {"feature_size": 80, "sampling_rate": 16000, "hop_length": 160, "n_fft": 400, "chunk_length": 30}
    values = {name: settings.get(name, default) for name, default in defaults.items()}
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 1 << 20:
            raise ConfigError(f"preprocessor_config.json: {name} wants a whole number above 0, received {value!r:.80}")
    if settings.get("dither", 0.0):
        raise ConfigError("preprocessor_config.json: dither adds noise, which LabDL does not: set it to 0.0")
    if values["chunk_length"] * values["sampling_rate"] > _MOST_SAMPLES:
        raise ConfigError(f"preprocessor_config.json: chunk_length={values['chunk_length']} seconds are too many")
    return values


def _log_mel(settings: Mapping[str, int], sample: Any) -> np.ndarray:
    """Whisper's log-mel spectrogram (bins, frames) of a sound that is padded with silence to ``chunk_length`` seconds."""
    from labdl.data.sound.spectra import apply_filters, mel_bank, spectra_of

    rate, size = settings["sampling_rate"], settings["n_fft"]
    wave = np.asarray(read_sound(sample, rate))[0]
    length = settings["chunk_length"] * rate
    if len(wave) > length:
        raise DataError(
            f"the sound lasts {len(wave) / rate:.1f} seconds, the model takes {settings['chunk_length']} at once: give it "
            "in parts"
        )
    wave = np.pad(wave, (0, length - len(wave)))
    powers = spectra_of(wave, size, hop_length=settings["hop_length"])[:-1]
    filters = mel_bank(size // 2 + 1, 0.0, 8000.0, settings["feature_size"], rate, "slaney", "slaney")
    levels = np.log10(np.maximum(apply_filters(filters, powers), np.float32(1e-10)))
    return ((np.maximum(levels, levels.max() - 8) + 4) / 4).astype("float32")
