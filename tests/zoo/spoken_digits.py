"""Spoken digits of espeak-ng, a program of Debian: several voices and speeds, rows of up to three words."""

import io
import shutil
import subprocess
from collections.abc import Sequence

import numpy as np
import soundfile

from labdl import data

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
VOICES = (
    "en-us",
    "en-gb+f1",
    "en-us+f2",
    "en-gb+m2",
    "en-us+m3",
    "en-gb",
    "en-us+f4",
    "en-gb+m4",
    "en-us+m5",
    "en-gb+m7",
)
TEST_VOICES = ("en-us+m1", "en-gb+f3")  # of which the training has none


class SpokenDigits(data.Dataset):
    """Sounds of ``count`` rows of one to ``most`` digits, drawn by the seed; samples have "audio" and "text".

    The voices take turns, with 120 to 200 words a minute. Raises RuntimeError without espeak-ng.
    """

    inputs, targets = ("audio",), ("text",)

    def __init__(self, count: int, voices: Sequence[str] = VOICES, *, seed: int = 0, most: int = 3):
        self.name, rng = "spoken digits", np.random.default_rng(seed)
        self.samples = []
        for at in range(count):
            text = " ".join(WORDS[digit] for digit in rng.integers(0, len(WORDS), rng.integers(1, most + 1)))
            sound = speak(text, voices[at % len(voices)], int(rng.integers(120, 201)))
            self.samples.append({"audio": sound, "text": text})

    def __len__(self) -> int:
        return len(self.samples)

    def read(self, index: int, epoch: int = 0):
        return self.samples[index]

    def label_of(self, index: int) -> str:
        return self.samples[index]["text"]


def speak(text: str, voice: str, speed: int) -> data.Audio:
    """The sound of a text, by espeak-ng. ``speed`` is in words a minute."""
    program = shutil.which("espeak-ng")
    if program is None:
        raise RuntimeError("espeak-ng is missing: apt-get install espeak-ng")
    command = [program, "-v", voice, "-s", str(speed), "--stdout", text]
    content = subprocess.run(command, capture_output=True, check=True).stdout
    wave, rate = soundfile.read(io.BytesIO(content), dtype="float32")
    return data.Audio(wave, sample_rate=rate)
