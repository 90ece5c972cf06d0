"""Clause 6.2.2.1: reading files of texts, images, audio and videos."""

from __future__ import annotations

import json
import tempfile
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from labdl import data, standard
from labdl.conformance.row import close, equal, holds, raises, row
from labdl.errors import ConfigError, DataError, FileFormatError

_RATE = 8000  # samples a second of the sounds
_SHADES = np.arange(12) * 16 + 40  # of the frames of a clip


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def picture(height: int = 24, width: int = 32) -> np.ndarray:
    """A picture (height, width, 3) of soft colors, which JPEG keeps well."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 6 + 20, y * 8 + 20, x * 3 + y * 4], -1).astype("uint8")


@row(
    "6.2.2.1 a)",
    "Reading text files",
    "txt, json, xml, jsonl and csv with two texts each, a folder of classes; damaged ones",
    name="text files",
)
def text_files():
    texts = ["It rains.", "Die Sonne scheint über 北京."]
    listed = [{"text": text, "label": n} for n, text in enumerate(texts)]
    contents = {
        "a.txt": "\n".join(texts),
        "a.json": json.dumps(listed),
        "a.jsonl": "\n".join(map(json.dumps, listed)),
        "a.xml": "<texts>"
        + "".join(f"<item><text>{t}</text><label>{n}</label></item>" for n, t in enumerate(texts))
        + "</texts>",
    }
    with _folder() as folder:
        for name, content in contents.items():
            (folder / name).write_text(content, "utf-8")
            dataset = standard.construct_dataset(str(folder / name))
            holds([str(s["text"]) for s in dataset] == texts, f"{name} has the texts {texts}")
            if name != "a.txt":
                equal(dataset.labels(), [0, 1])
        (folder / "a.csv").write_text("text,label\n" + "\n".join(f'"{t}",{n}' for n, t in enumerate(texts)), "utf-8")
        dataset = standard.construct_dataset(str(folder / "a.csv"), format="TextDataset")
        holds([str(s["text"]) for s in dataset] == texts, f"a.csv has the texts {texts}")
        for name, text in zip(("rain", "sun"), texts, strict=True):
            (folder / "classes" / name).mkdir(parents=True)
            (folder / "classes" / name / "1.txt").write_text(text, "utf-8")
        dataset = standard.construct_dataset(str(folder / "classes"))
        holds(dataset.classes == ["rain", "sun"], "the folders are the classes")
        equal([s["label"] for s in dataset], [0, 1])
        (folder / "bad.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><a><d>&b;</d></a>')
        with raises(FileFormatError, "bad.xml"):
            standard.construct_dataset(str(folder / "bad.xml"))
        (folder / "bad.json").write_text('[{"text": "a"')
        with raises(FileFormatError, "bad.json"):
            standard.construct_dataset(str(folder / "bad.json"))


@row(
    "6.2.2.1 b)",
    "Reading image files",
    "png and bmp exactly, jpg within its loss, written by Pillow: one file, and a folder of classes; one cut off",
    name="image files",
)
def image_files():
    from PIL import Image

    pixels = picture()
    with _folder() as folder:
        for name, loss in (("a.png", 0), ("a.bmp", 0), ("a.jpg", 3)):
            Image.fromarray(pixels).save(folder / name, quality=95)
            sample = standard.get_sample(standard.construct_dataset(str(folder / name)), 0)
            holds(isinstance(sample["image"], data.Image), "the sample has an image")
            close(np.asarray(sample["image"]).astype(float), pixels, 0, 4 * loss)
            holds(np.abs(np.asarray(sample["image"]) - pixels.astype(float)).mean() <= loss, f"{name} has its pixels")
        for label, name in enumerate(("dark", "light")):
            (folder / "classes" / name).mkdir(parents=True)
            Image.fromarray(pixels // (2 - label)).save(folder / "classes" / name / "1.png")
        dataset = standard.construct_dataset(str(folder / "classes"), mode="RGB")
        holds(dataset.classes == ["dark", "light"], "the folders are the classes")
        equal(dataset[0]["image"], pixels // 2)
        equal([s["label"] for s in dataset], [0, 1])
        whole = (folder / "a.png").read_bytes()
        (folder / "bad.png").write_bytes(whole[: len(whole) // 2])
        with raises(DataError, "bad.png"):
            standard.get_sample(standard.construct_dataset(str(folder / "bad.png")), 0)


def _pitch(wave: np.ndarray) -> float:
    """The loudest frequency in Hz."""
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave))))
    return float(np.argmax(spectrum) * _RATE / len(wave))


@row(
    "6.2.2.1 c)",
    "Reading audio files",
    "wav exactly, written by Python's wave; mp3 and wma: pitch and loudness of a tone; a folder of classes; one cut off",
    name="audio files",
)
def audio_files():
    from labdl.data.codecs.audio import encode_audio

    tone = np.sin(2 * np.pi * 500 * np.arange(_RATE) / _RATE).astype("float32") / 2
    steps = (tone * 2**15).astype("<i2")
    with _folder() as folder:
        with wave.open(str(folder / "a.wav"), "wb") as file:
            file.setparams((1, 2, _RATE, 0, "NONE", ""))
            file.writeframes(steps.tobytes())
        sound = standard.get_sample(standard.construct_dataset(str(folder / "a.wav")), 0)["audio"]
        equal(sound, steps[None] / np.float32(2**15))
        holds(sound.sample_rate == _RATE, f"the sampling rate is {_RATE}")
        for kind in ("mp3", "wma"):
            content = encode_audio(data.Audio(tone, sample_rate=_RATE), kind, sample_rate=16_000)
            (folder / f"a.{kind}").write_bytes(content)
            dataset = standard.construct_dataset(str(folder / f"a.{kind}"), sample_rate=_RATE)
            sound = np.asarray(dataset[0]["audio"])[0]
            middle = sound[len(sound) // 4 : len(sound) // 4 * 3]
            holds(abs(_pitch(middle) - 500) < 5, f"{kind} keeps the pitch of 500 Hz, read were {_pitch(middle):.1f} Hz")
            close(np.sqrt(np.mean(middle**2)), 0.5 / np.sqrt(2), 0.1)
        for name in ("no", "yes"):
            (folder / "words" / name).mkdir(parents=True)
            (folder / "words" / name / "1.wav").write_bytes((folder / "a.wav").read_bytes())
        dataset = standard.construct_dataset(str(folder / "words"), seconds=0.5)
        holds(dataset[1]["audio"].shape == (1, _RATE // 2), "half a second is read")
        equal(dataset.labels(), [0, 1])
        (folder / "bad.wav").write_bytes((folder / "a.wav").read_bytes()[:500])
        with raises(DataError, "bad.wav"):
            standard.get_sample(standard.construct_dataset(str(folder / "bad.wav")), 0)


def _clip() -> np.ndarray:
    return np.broadcast_to(_SHADES[:, None, None, None], (12, 32, 48, 3)).astype("uint8")


def _shades(video: data.Video) -> np.ndarray:
    return np.asarray(video).mean((1, 2, 3))


@row(
    "6.2.2.1 d)",
    "Reading video files",
    "mp4 and mov with frames of twelve shades: one file, clips of a folder of classes; one cut off",
    name="video files",
)
def video_files():
    from labdl.data.codecs.video import encode_video

    with _folder() as folder:
        for kind in ("mp4", "mov"):
            file = folder / f"a.{kind}"
            file.write_bytes(encode_video(_clip(), kind, fps=10))
            video = standard.get_sample(standard.construct_dataset(str(file)), 0)["video"]
            holds(video.shape == (12, 32, 48, 3), f"the clip is of (12, 32, 48, 3), read was {video.shape}")
            close(_shades(video), _SHADES, 0, 3)
            close(video.fps, 10)
        for name in ("run", "walk"):
            (folder / "actions" / name).mkdir(parents=True)
            (folder / "actions" / name / "1.mp4").write_bytes((folder / "a.mp4").read_bytes())
        dataset = standard.construct_dataset(str(folder / "actions"), frames=4, stride=2)
        holds(dataset[0]["video"].shape == (4, 32, 48, 3), "a clip has four frames")
        close(np.diff(_shades(dataset[0]["video"])), [32, 32, 32], 0, 5)
        equal(dataset.labels(), [0, 1])
        (folder / "bad.mp4").write_bytes((folder / "a.mp4").read_bytes()[:300])
        with raises(DataError, "bad.mp4"):
            standard.get_sample(standard.construct_dataset(str(folder / "bad.mp4")), 0)


@row(
    "6.2.2.1 c)",
    "Decoding H.264, H.265 and AV1",
    "decode_video of twelve shades in each codec: all frames, and some by their numbers",
)
def video_decoding():
    from labdl.data.codecs.video import decode_video, encode_video, video_info

    for codec in ("h264", "h265", "av1"):
        content = encode_video(_clip(), "mp4", codec=codec, fps=10)
        holds(video_info(content).codec == codec, f"the file is encoded as {codec}")
        close(_shades(decode_video(content)), _SHADES, 0, 3)
        close(_shades(decode_video(content, frames=[9, 2, 2])), _SHADES[[9, 2, 2]], 0, 3)


@row(
    "6.2.2.1 e)",
    "Data are checked when they are read",
    "a broken .npz file, one with Python objects, arrays of unequal lengths; a file of no known format",
)
def validation():
    with _folder() as folder:
        path = folder / "data.npz"
        path.write_bytes(b"PK\3\4 nothing")
        with raises(FileFormatError, "data.npz"):
            standard.construct_dataset(str(path))
        np.savez(path, x=np.array([{}, {}], object))
        with raises(FileFormatError, "data.npz"):
            standard.construct_dataset(str(path))
        np.savez(path, x=np.zeros(3), y=np.zeros(2))
        with raises(ConfigError, "equal length"):
            standard.construct_dataset(str(path))
        (folder / "data.xyz").write_bytes(b"nothing")
        with raises(FileFormatError, "data.xyz"):
            standard.construct_dataset(str(folder / "data.xyz"))
