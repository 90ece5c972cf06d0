"""A sound as its wave form with the transcript, to be played: the output of a cell."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.data.parts import Audio
from labdl.generation import Generation
from labdl.infer import Transcript
from labdl.lab.dataset_view.sounds import to_wav, waveform
from labdl.lab.legend import Row, describe_legend, render_legend

_WIDTH, _HEIGHT = 800, 120
_LONGEST = 120  # seconds that a notebook keeps to play


@dataclass(frozen=True, eq=False)
class WaveView:
    """The wave form of a sound (channels, samples) with its transcript, and the ``times`` of its symbols in seconds."""

    sound: Audio
    text: str
    times: np.ndarray
    legend: tuple[Row, ...]

    @property
    def seconds(self) -> float:
        return self.sound.shape[-1] / (self.sound.sample_rate or 1)

    def _repr_html_(self) -> str:
        label = html.escape(f"Wave form of {self.seconds:.2f} s: {self.text}", quote=True)
        player = ""
        if self.seconds <= _LONGEST:
            data = base64.b64encode(to_wav(self.sound)).decode("ascii")
            player = f'<audio controls src="data:audio/wav;base64,{data}" style="width: 100%"></audio>'
        return (
            f'<figure style="margin: 0; max-width: {_WIDTH}px">'
            f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}" style="width: 100%">{self._paths()}</svg>'
            f'{player}<figcaption style="white-space: pre-wrap">{html.escape(self.text)}</figcaption>'
            f"{render_legend(self.legend)}</figure>"
        )

    def _paths(self) -> str:
        sections = waveform(np.asarray(self.sound))
        largest = max((max(abs(low), abs(high)) for low, high in sections), default=0.0) or 1.0
        middle, scale, step = _HEIGHT / 2, (_HEIGHT / 2 - 8) / largest, _WIDTH / max(len(sections), 1)
        upper = [f"{at * step:.1f} {middle - high * scale:.1f}" for at, (_, high) in enumerate(sections)]
        lower = [f"{at * step:.1f} {middle - low * scale:.1f}" for at, (low, _) in enumerate(sections)]
        wave = f'<path d="M{" L".join([*upper, *reversed(lower)])} Z" fill="currentColor" stroke="currentColor" opacity="0.7"/>'
        places = [time / self.seconds * _WIDTH for time in self.times if time <= self.seconds]
        ticks = "".join(f"M{place:.1f} {_HEIGHT - 6} V{_HEIGHT}" for place in places)
        return wave + (f'<path d="{ticks}" stroke="#0072b2" stroke-width="2"/>' if ticks else "")

    def __repr__(self) -> str:
        return "\n".join([f"sound of {self.seconds:.2f} s", self.text, *describe_legend(self.legend)])


def view_sound(sample: Any, result: Transcript | Generation, sample_rate: int) -> WaveView:
    """The view of a transcript of a sound, which is read as `labdl.tasks.samples.read_sound` reads it."""
    from labdl.tasks.samples import read_sound

    sound = read_sound(sample, sample_rate)
    times: Sequence[float] | np.ndarray = result.times if isinstance(result, Transcript) else ()
    score = () if result.score is None else (Row("log-probability", f"{result.score:.3f}"),)
    text = result.text if result.text is not None else " ".join(map(str, result.tokens.tolist()))
    return WaveView(sound, text, np.asarray(times, "float64"), score)
