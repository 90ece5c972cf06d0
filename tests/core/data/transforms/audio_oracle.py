"""Reference outputs of torchaudio for sounds, and what they were applied to."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data import parts
from labdl.data import transforms as T

RATE = 8000
FRAMES = {"n_fft": 256, "win_length": 200, "hop_length": 80}


@functools.cache
def arrays() -> dict[str, np.ndarray]:
    folder = next(p for p in Path(__file__).resolve().parents if (p / "oracles").is_dir())
    with np.load(folder / "oracles" / "transforms" / "torchaudio.npz", allow_pickle=False) as file:
        return dict(file)


@functools.cache
def cases() -> dict[str, dict[str, Any]]:
    return json.loads(str(arrays()["cases"]))


def parameters(case: str) -> dict[str, Any]:
    """The parameters of a case without those that are no settings here; "melkwargs" and the like are flat."""
    values = {k: v for k, v in cases()[case]["parameters"].items() if k not in ("of", "driver")}
    for name in ("melkwargs", "speckwargs"):
        values.update(values.pop(name, {}))
    return values


def expected(case: str) -> np.ndarray:
    return arrays()["y:" + case]


def sound(name: str = "wave", channels: int | None = None, rate: int = RATE) -> parts.Audio:
    return parts.Audio(arrays()["x:" + name][:channels], sample_rate=rate)


def spectrogram(values: np.ndarray, hop: int = 80) -> parts.Spectrogram:
    return parts.Spectrogram(values, sample_rate=RATE, hop_length=hop)


def mel() -> parts.Spectrogram:
    return spectrogram(expected("mel_spectrogram/htk_None"))


def complex_spectrogram() -> parts.Spectrogram:
    return spectrogram(expected("spectrogram/complex"))


def assert_equal(result: np.ndarray, case: str, absolute: float | None = None) -> None:
    """Equal to a case within 1e-6 and 2e-5 of the largest value, or within ``absolute``."""
    reference = expected(case)
    assert result.shape == reference.shape
    tolerance = max(1e-6, 2e-5 * float(np.abs(reference).max())) if absolute is None else absolute
    np.testing.assert_allclose(np.asarray(result), reference, rtol=0, atol=tolerance)


TESTED: set[str] = set()


def of(*prefixes: str) -> list[str]:
    """The cases whose names begin with one of the words."""
    chosen = [case for case in cases() if case.split("/")[0] in prefixes]
    TESTED.update(chosen)
    return chosen


def create(name: str, values: dict[str, Any]) -> T.Transform:
    return T.TRANSFORMS[name](**values)
