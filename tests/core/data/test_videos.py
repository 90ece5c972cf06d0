"""Clips: codecs and containers, random access, time, rotation, sound, damaged files, and folders of videos."""

import io
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs import video as codec
from labdl.data.codecs import video_container
from labdl.data.codecs.video import decode_video, encode_video, video_info
from labdl.data.folders.video_folder import VideoFolder
from labdl.errors import ConfigError, DataError, MissingFileError

av = pytest.importorskip("av")

FPS, COUNT = 30, 50
FILES = {
    "mp4-h264": ("mp4", "h264"),
    "mp4-h265": ("mp4", "h265"),
    "mp4-av1": ("mp4", "av1"),
    "mov-h264": ("mov", "h264"),
    "mkv-h264": ("mkv", "h264"),
    "mkv-h265": ("mkv", "h265"),
    "webm-vp9": ("webm", "vp9"),
    "webm-av1": ("webm", "av1"),
    "avi-mpeg4": ("avi", "mpeg4"),
}


def clip(count: int = COUNT, height: int = 64, width: int = 96) -> data.Video:
    """Frames whose grey value is five times their number, with a red left third and a blue bottom."""
    frames = np.zeros((count, height, width, 3), "uint8")
    frames[...] = (np.arange(count) * 5 % 256).astype("uint8")[:, None, None, None]
    frames[:, :, : width // 3] = 200, 20, 20
    frames[:, height // 2 :, width // 3 :] = 20, 20, 200
    return data.Video(frames, fps=FPS)


def numbers(video: np.ndarray) -> list[int]:
    """The numbers of the frames, from their grey value."""
    return np.round(np.asarray(video)[:, 8:24, 48:80].mean((1, 2, 3)) / 5).astype(int).tolist()


def tone(seconds: float = COUNT / FPS, rate: int = 16_000) -> data.Audio:
    time = np.arange(round(seconds * rate)) / rate
    return data.Audio((0.5 * np.sin(2 * np.pi * (200 + 100 * time) * time)).astype("float32"), sample_rate=rate)


@pytest.fixture(scope="module")
def files():
    return {name: encode_video(clip(), form, codec=kind) for name, (form, kind) in FILES.items()}


@pytest.mark.parametrize("name", FILES)
def test_a_clip_comes_back(files, name):
    found = decode_video(files[name])
    assert type(found) is data.Video
    assert (found.shape, found.dtype, found.fps) == (clip().shape, np.uint8, FPS)
    assert np.abs(found.array.astype(int) - clip()).mean() < 6
    assert numbers(found) == list(range(COUNT))


@pytest.mark.parametrize("name", FILES)
def test_frames_by_number_are_those_of_the_whole(files, name):
    whole = decode_video(files[name]).array
    for chosen in ([0], [COUNT - 1], [-1], [30, 2, 30, 47, 11], range(5, 45, 10), range(20, 32)):
        part = decode_video(files[name], frames=chosen)
        np.testing.assert_array_equal(part, whole[list(chosen)])


@pytest.mark.parametrize("name", FILES)
def test_time_and_rate(files, name):
    assert numbers(decode_video(files[name], start=0.5, seconds=0.5)) == list(range(15, 30))
    part = decode_video(files[name], start=0.5, seconds=1, fps=10)
    assert (numbers(part), part.fps) == (list(range(15, 45, 3)), 10)
    assert numbers(decode_video(files[name], start=1.5, seconds=60)) == list(range(45, 50))
    assert numbers(decode_video(files[name], seconds=0.1, fps=60)) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("name", FILES)
def test_the_head_tells_of_the_video(files, name, tmp_path):
    path = tmp_path / "a name without its format"
    path.write_bytes(files[name])
    info = video_info(path)
    assert (info.codec, info.frames, info.height, info.width) == (FILES[name][1], COUNT, 64, 96)
    assert (info.fps, info.sound) == (FPS, False)
    assert info.seconds == pytest.approx(COUNT / FPS, abs=2e-3)
    np.testing.assert_array_equal(decode_video(path, frames=[7]), decode_video(files[name], frames=[7]))


def test_only_frames_after_a_key_frame_are_decoded(files, monkeypatch):
    decoded = []
    advance = video_container.FrameReader._advance

    def counted(self, number):
        before = self._at
        frame = advance(self, number)
        decoded.append(self._at - before)
        return frame

    monkeypatch.setattr(video_container.FrameReader, "_advance", counted)
    for name in files:
        decoded.clear()
        decode_video(files[name], frames=[46])
        assert sum(decoded) <= 12, name


@pytest.mark.parametrize(
    ("frames", "fps"), [([4, 8, 12], FPS / 4), ([3], FPS), ([5, 5], None), ([9, 2], None), ([0, 1, 4], FPS / 2)]
)
def test_fps_of_chosen_frames(files, frames, fps):
    assert decode_video(files["mp4-h264"], frames=frames).fps == (fps if fps is None else pytest.approx(fps))


def encoded(count=12, *, angle=None, times=None, sizes=None, format="mp4", **settings) -> bytes:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=format) as container:
        stream = container.add_stream("libx264", rate=FPS, options=settings)
        stream.height, stream.width, stream.pix_fmt = 64, 96, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        if angle is not None:
            stream.set_display_rotation(angle)
        for number, image in enumerate(clip(count)):
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            frame.time_base = Fraction(1, 1000)
            frame.pts = round(1000 * number / FPS) if times is None else times[number]
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


@pytest.mark.parametrize("angle", [0, 90, 180, -90])
def test_videos_are_upright(angle):
    content = encoded(angle=angle)
    with av.open(io.BytesIO(content)) as container:
        stored = np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
    expected = np.rot90(stored, angle // 90, axes=(1, 2))  # against the clock, as FFmpeg defines the angle
    found = decode_video(content, frames=range(12))
    np.testing.assert_array_equal(found, expected)
    assert (video_info(content).height, video_info(content).width) == found.shape[1:3]


@pytest.mark.parametrize("format", ["mp4", "matroska"])
def test_a_variable_rate_is_read_by_time_stamps(format):
    times = [0, 40, 80, 500, 540, 1000, 1100, 1200, 1900, 1940, 2000, 2100]
    content = encoded(times=times, format=format, g="4")
    assert numbers(decode_video(content, start=0, seconds=2, fps=2)) == [0, 3, 5, 7]
    assert numbers(decode_video(content, start=0.5, seconds=0.55)) == [3, 4, 5]
    assert numbers(decode_video(content, frames=[11, 6, 1])) == [11, 6, 1]


def test_long_groups_with_open_ends():
    """Frames before a key frame that refer to those behind it."""
    for options in ({"bf": "3", "g": "9", "x264-params": "open-gop=1:b-pyramid=2"}, {"bf": "0", "g": "100"}):
        content = encoded(40, **options)
        whole = decode_video(content).array
        for number in range(40):
            np.testing.assert_array_equal(decode_video(content, frames=[number])[0], whole[number])


@pytest.mark.parametrize("format", ["mpegts", "flv", "avi", "mpeg"])
def test_other_containers_with_frames_out_of_order(format):
    """In mpegts seeking is not exact, in avi there are no time stamps."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=format) as container:
        stream = container.add_stream("mpeg2video" if format == "mpeg" else "libx264", rate=FPS)
        stream.height, stream.width, stream.pix_fmt, stream.bit_rate = 64, 96, "yuv420p", 4_000_000
        stream.codec_context.gop_size, stream.codec_context.max_b_frames = 12, 2
        for number, image in enumerate(clip()):
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    content = buffer.getvalue()
    assert numbers(decode_video(content)) == list(range(COUNT))
    for number in (0, 1, 11, 12, 13, 25, 49):
        assert numbers(decode_video(content, frames=[number])) == [number]


def test_a_file_without_time_stamps_is_counted(files, monkeypatch):
    listed = video_container._list(files["mp4-h264"])
    with video_container.open_video(files["mp4-h264"]) as (container, stream, _, name):
        counted = video_container._count(container, stream, name)
    assert counted.counted
    np.testing.assert_allclose(counted.times, listed.times, atol=1e-6)
    monkeypatch.setattr(codec, "list_frames", lambda source: counted)
    assert numbers(decode_video(files["mp4-h264"], frames=[30, 2, 47])) == [30, 2, 47]


@pytest.mark.parametrize("format", ["mp4", "mov", "mkv", "webm", "avi"])
def test_the_sound_of_the_same_time(format):
    content = encode_video(clip(), format, codec="mpeg4" if format == "avi" else None, audio=tone())
    assert video_info(content).sound
    video, audio = decode_video(content, sound=True, start=0.5, seconds=0.5, sample_rate=16_000)
    assert numbers(video) == list(range(15, 30))
    assert type(audio) is data.Audio
    assert (audio.shape, audio.sample_rate) == ((1, 8000), 16_000)
    expected = tone().array[0]
    best = max(range(-400, 401), key=lambda shift: float(np.dot(audio.array[0], expected[8000 + shift :][:8000])))
    assert abs(best) <= 1 or (format in ("mkv", "webm") and abs(best) <= 16 * 23)  # priming of the codec, up to 23 ms
    video, audio = decode_video(content, sound=True, frames=[15, 29])
    assert audio.seconds == pytest.approx(0.5, abs=2e-3)


def test_a_video_without_sound(files):
    with pytest.raises(DataError, match=r"has no sound: read it with sound=False"):
        decode_video(files["mp4-h264"], sound=True)


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.7, 0.3, 0.05, 0.003])
def test_a_file_that_is_cut_off_is_named(files, name, share, tmp_path):
    path = tmp_path / "half.video"
    path.write_bytes(files[name][: max(1, int(len(files[name]) * share))])
    with pytest.raises(DataError, match=r"half\.video"):
        decode_video(path)


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused(files, name):
    """Whatever bytes are in it: a clip or a DataError."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        damaged = bytearray(files[name])
        for at in rng.integers(0, len(damaged), 8):
            damaged[at] = int(rng.integers(256))
        try:
            assert decode_video(bytes(damaged), max_pixels=1 << 24).ndim == 4
        except DataError:
            continue


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello, this is a text and no video", "no video of a known format"),
        (b"#EXTM3U\nfile:///etc/hostname\n", "no video of a known format"),
        (b"ffconcat version 1.0\nfile /etc/hostname\n", "no video of a known format"),
        (b"\x89PNG\r\n\x1a\n" + bytes(300), "no video of a known format"),
        (b"\x1a\x45\xdf\xa3" + bytes(300), "cannot be read as matroska"),
        (bytes(4) + b"ftypisom" + bytes(300), "cannot be read as mp4|has no video"),
    ],
)
def test_files_that_are_no_videos_are_named(content, message, tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        decode_video(path)
    assert "film.mp4" in str(error.value)


def test_missing_files_and_wrong_settings(files, tmp_path):
    content = files["mp4-h264"]
    with pytest.raises(MissingFileError, match="there is no file"):
        decode_video(tmp_path / "none.mp4")
    with pytest.raises(DataError, match="has 50 frames, received the number 50"):
        decode_video(content, frames=[50])
    with pytest.raises(DataError, match="start=9 s lies after it"):
        decode_video(content, start=9)
    for settings in ({"frames": [1], "fps": 3}, {"start": -1}, {"fps": 0}, {"frames": []}, {"frames": [0.5]}):
        with pytest.raises(ConfigError, match="decode_video wants"):
            decode_video(content, **settings)


def test_pixels_are_bounded(files):
    with pytest.raises(DataError, match=r"50 × 64 × 96 pixels, more than max_pixels=100,000: read fewer"):
        decode_video(files["mp4-h264"], max_pixels=100_000)
    assert len(decode_video(files["mp4-h264"], frames=[1, 2], max_pixels=100_000)) == 2


def test_what_a_format_cannot_hold_is_named():
    for call in (
        lambda: encode_video(clip(), "ogm"),  # type: ignore[arg-type]
        lambda: encode_video(clip().array.astype("float32")),
        lambda: encode_video(clip(height=31)),
        lambda: encode_video(clip(), crf=99),
    ):
        with pytest.raises(ConfigError, match="encode_video w"):
            call()
    with pytest.raises(ConfigError, match="cannot be written as h264 in webm"):
        encode_video(clip(2), "webm", codec="h264")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("actions")
    for label, lengths in {"jump": (50, 40), "run": (6,)}.items():
        (root / label).mkdir()
        for count in lengths:
            content = encode_video(clip(count), audio=tone(count / FPS))
            (root / label / f"{count}.mp4").write_bytes(content)
    (root / "run" / "notes.txt").write_text("no video")
    return root


def test_a_folder_of_videos(tree):
    videos = VideoFolder(tree, frames=8, stride=2)
    assert (len(videos), videos.classes, videos.labels().tolist()) == (3, ["jump", "run"], [0, 0, 1])
    sample = videos[0]  # 40.mp4: the clip in the middle
    assert (set(sample), sample["label"], sample["video"].fps) == ({"video", "label"}, 0, FPS / 2)
    assert numbers(sample["video"]) == list(range(12, 28, 2))
    assert numbers(videos[2]["video"]) == [0, 2, 4, 5, 5, 5, 5, 5]
    batch = videos[np.array([0, 1, 2])]
    assert batch["video"].shape == (3, 3, 8, 64, 96)
    assert videos.path(1).name == "50.mp4"
    unlabeled = VideoFolder(tree, frames=4, labels=False)
    assert (len(unlabeled), set(unlabeled[0])) == (3, {"video"})


def test_clips_at_equal_distances(tree):
    videos = VideoFolder(tree, frames=5, clips=3)
    assert len(videos) == 9
    assert [videos.clip(i)[0] for i in range(6)] == [0, 18, 35, 0, 22, 45]
    spread = VideoFolder(tree, frames=5, stride=None)
    assert spread.clip(0).tolist() == [4, 12, 20, 28, 36]
    assert VideoFolder(tree, frames=4, fps=10).clip(1).tolist() == [18, 21, 24, 27]


def test_random_clips_depend_on_seed_epoch_and_index(tree):
    videos = VideoFolder(tree, frames=5, sampling="random", clips=2, seed=3)
    starts = [[int(videos.clip(i, epoch)[0]) for i in range(4)] for epoch in range(6)]
    again = VideoFolder(tree, frames=5, sampling="random", clips=2, seed=3)
    assert [[int(again.clip(i, epoch)[0]) for i in range(4)] for epoch in range(6)] == starts
    assert len({tuple(row) for row in starts}) > 3
    assert all(0 <= start <= 45 for row in starts for start in row)
    assert numbers(videos.read(1, epoch=2)["video"]) == videos.clip(1, epoch=2).tolist()
    spread = VideoFolder(tree, frames=5, stride=None, sampling="random")
    for epoch in range(5):
        assert (spread.clip(1, epoch) // 10).tolist() == [0, 1, 2, 3, 4]


def test_every_clip_of_a_video(tree):
    videos = VideoFolder(tree, frames=16, sampling="all")
    assert [videos.path(i).name for i in range(len(videos))] == ["40.mp4"] * 2 + ["50.mp4"] * 3 + ["6.mp4"]
    assert numbers(videos[3]["video"]) == list(range(16, 32))
    assert videos.labels().tolist() == [0, 0, 0, 0, 0, 1]
    assert len(VideoFolder(tree, frames=16, sampling="all", step=1)) == 25 + 35 + 1


def test_the_sound_of_a_clip(tree):
    videos = VideoFolder(tree, frames=15, sound=True, sample_rate=8000, classes=["jump"])
    sample = videos[1]
    assert videos.inputs == ("video", "audio")
    assert sample["audio"].sample_rate == 8000
    assert sample["audio"].seconds == pytest.approx(0.5, abs=2e-3)


def test_folders_of_videos_with_wrong_settings(tree, tmp_path):
    for settings in (
        {"frames": 0},
        {"sampling": "some"},
        {"sampling": "all", "stride": None},
        {"step": 2},
        {"fps": -1.0},
        {"clips": 0},
    ):
        with pytest.raises(ConfigError, match="VideoFolder"):
            VideoFolder(tree, **settings)
    with pytest.raises(MissingFileError, match="there is no folder"):
        VideoFolder(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no videos"):
        VideoFolder(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="the C library checks its heap by an environment variable")
def test_narrow_clips_do_not_damage_memory():
    """x265 wrote beyond the rows of pictures narrower than 64 pixels; the process aborts where its heap is damaged."""
    script = (
        "import numpy as np\n"
        "from labdl.data.codecs.video import decode_video, encode_video\n"
        "for height, width in ((32, 48), (64, 40), (64, 62)):\n"
        "    for _ in range(4):\n"
        "        clip = np.full((14, height, width, 3), 90, 'uint8')\n"
        "        found = decode_video(encode_video(clip, 'mp4', codec='h265', fps=10))\n"
        "        assert found.shape == clip.shape and abs(float(found.array.mean()) - 90) < 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "MALLOC_CHECK_": "3"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_encoders_print_nothing(capfd):
    for codec_name in ("h264", "h265", "av1"):
        encode_video(clip(4), "mp4", codec=codec_name)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="a system without scheduling policies")
def test_writing_av1_leaves_the_priority_of_the_thread():
    before = os.sched_getscheduler(0)
    encode_video(np.zeros((2, 64, 64, 3), "uint8"), "mp4", codec="av1")
    assert os.sched_getscheduler(0) == before
