"""Sounds, pictures and clips as files for a page: their sizes are bounded."""

import io

import numpy as np
import PIL.Image
import pytest

from labdl import data
from labdl.data.codecs.audio import decode_audio
from labdl.data.codecs.video import decode_video
from labdl.errors import DataError
from labdl.lab.dataset_view import media
from labdl.lab.dataset_view.media import encode


def test_a_sound():
    wave = np.sin(np.arange(800) / 9).astype("float32")
    mime, content = encode("audio", data.Audio(wave, sample_rate=8000), ())
    assert mime == "audio/wav"
    np.testing.assert_allclose(decode_audio(content).array[0], wave, atol=1e-3)


def test_a_picture_in_its_own_size():
    mime, content = encode("image", np.full((30, 50, 3), 90, np.uint8), ())
    assert (mime, PIL.Image.open(io.BytesIO(content)).size) == ("image/jpeg", (50, 30))


def frames(count, height, width, channels=3, dtype="uint8"):
    values = np.linspace(0, 1, count)[:, None, None, None] * np.ones((1, height, width, channels))
    return (values * 255).astype(dtype) if dtype == "uint8" else values.astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("shape", [(9, 33, 47, 3), (9, 32, 48, 1), (3, 1, 1, 3)], ids=str)
def test_a_clip_of_any_size(shape, dtype):
    mime, content = encode("clip", data.Video(frames(*shape, dtype), fps=5), ())
    played = decode_video(content)
    assert (mime, len(played), played.fps) == ("video/webm", shape[0], 5)
    assert played.shape[1:3] == (shape[1] + shape[1] % 2, shape[2] + shape[2] % 2)
    np.testing.assert_allclose(np.asarray(played, float).mean((1, 2, 3)), np.linspace(0, 255, shape[0]), atol=6)


def test_a_clip_in_a_normalized_range_does_not_flicker():
    pixels = (frames(8, 32, 32, 3, "float32") - 0.5) * 4  # -2 to 2
    _, content = encode("clip", data.Video(pixels, fps=5), ())
    levels = np.asarray(decode_video(content), float).mean((1, 2, 3))
    assert (np.diff(levels) > 10).all()


def test_a_large_clip_is_made_smaller_and_a_long_one_has_fewer_frames(monkeypatch):
    monkeypatch.setattr(media, "_CLIP_PIXELS", 20 * 60 * 80)
    _, content = encode("clip", data.Video(frames(10, 240, 320), fps=10), ())
    small = decode_video(content)
    assert small.shape[0] == 10
    assert 20 * 60 * 80 * 0.8 < np.prod(small.shape[:3]) < 20 * 60 * 80 * 1.1  # sides are even
    monkeypatch.setattr(media, "_CLIP_FRAMES", 25)
    _, content = encode("clip", data.Video(frames(100, 16, 16), fps=20), ())
    short = decode_video(content)
    assert (len(short), short.fps, len(short) / short.fps) == (25, 5, 5)


def test_what_no_page_can_take_is_refused_before_it_is_encoded(monkeypatch):
    monkeypatch.setattr(media, "_LARGEST", 1000)
    monkeypatch.setattr(media.sounds, "to_wav", None)
    with pytest.raises(DataError, match=r"audio of 0\.1 s"):
        encode("audio", data.Audio(np.zeros((1, 800), np.float32), sample_rate=8000), ())
