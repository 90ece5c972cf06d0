"""LabDL beside the library that does the work, on the same samples: mel spectrograms, tokens, clips."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from labdl import data
from labdl.data import transforms as T


def sounds():
    """Mel spectrogram of 64 bands of 2 s at 16 kHz: scipy.fft and NumPy."""
    import scipy.fft

    from labdl.filter_banks import mel_filters

    wave = np.random.default_rng(0).normal(size=(1, 32_000)).astype("float32")
    dataset = data.SampleDataset([data.Audio(wave, sample_rate=16_000)] * 32)
    dataset = dataset.map(T.MelSpectrogram(n_fft=512, hop_length=256, n_mels=64))
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(512) / 512)).astype("float32")
    filters = mel_filters(257, 0.0, 8000.0, 64, 16_000, None, "htk").T.astype("float32")

    def library(index):
        padded = np.pad(wave, ((0, 0), (256, 256)), "reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, 512, -1)[..., ::256, :] * window
        spectra = scipy.fft.rfft(frames)
        return filters @ (spectra.real**2 + spectra.imag**2).swapaxes(-1, -2)

    np.testing.assert_allclose(dataset[0], library(0), rtol=1e-3, atol=1e-3)
    return dataset.read, library


def texts():
    """Numbers of the BPE tokens of a text of 1,000 characters: tokenizers."""
    source = Path(statistics.__file__).read_text(encoding="utf-8")
    text = source[:1000]
    tokenizer = data.text.Tokenizer.train(source.splitlines(), "bpe", 2000)
    dataset = data.SampleDataset([data.Text(text)] * 32).map(T.Tokenize(tokenizer))

    def library(index):
        return np.array(tokenizer.model.encode(text, add_special_tokens=False).ids, "int64")

    assert np.array_equal(dataset[0], library(0))
    return dataset.read, library


def clips():
    """16 frames in the middle of a video of 64 frames of 320 × 240, H.264: PyAV."""
    import av

    from labdl.data.codecs.video import encode_video

    rows, columns = np.mgrid[:240, :320]
    frames = np.stack([(np.stack([rows, columns, rows + columns], -1) + 4 * t) % 256 for t in range(64)])
    folder = tempfile.mkdtemp()
    path = Path(folder) / "a" / "clip.mp4"
    path.parent.mkdir()
    path.write_bytes(encode_video(frames.astype("uint8"), "mp4", fps=25))
    dataset = data.VideoFolder(folder, frames=16)
    first = int(dataset.clip(0)[0])

    def library(index):
        found = []
        with av.open(str(path)) as container:
            for at, frame in enumerate(container.decode(video=0)):
                if at >= first:
                    found.append(frame.to_ndarray(format="rgb24"))
                if len(found) == 16:
                    break
        return np.stack(found)

    assert np.array_equal(dataset[0]["video"], library(0))
    return dataset.read, library


def compare(name: str, rounds: int) -> None:
    """Print the medians of alternated rounds of 32 samples, and the median of their ratios."""
    ours, library = {"sounds": sounds, "texts": texts, "clips": clips}[name]()
    spent: list[list[float]] = []
    for turn in range(2 * rounds + 2):
        times = []
        for read in (ours, library):
            began = time.process_time()
            for index in range(32 if name != "clips" else 1):
                read(index)
            times.append(time.process_time() - began)
        if turn >= 2:
            spent.append(times)
    count = 32 if name != "clips" else 1
    mine, theirs = (statistics.median(column) / count * 1e6 for column in zip(*spent, strict=True))
    ratio = statistics.median(a / b for a, b in spent)
    print(f"  {name:8} labdl {mine:9.1f} µs   library {theirs:9.1f} µs   {ratio:5.2f} × the library")
