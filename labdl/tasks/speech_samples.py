"""Samples of speech with transcripts: read from data sets of any kind, and brought to the form of a recognizer's batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.parts import Audio, Spectrogram
from labdl.errors import ConfigError, DataError, LabDLError
from labdl.tasks.samples import read_speech

BLANK = "<blank>"  # the first symbol of a recognizer
_MOST_SYMBOLS = 10_000


def transcript_of(target: Any, classes: Sequence[str] | None) -> str:
    """The transcript of a target: a text, or the name of a class number. Raises DataError for anything else."""
    if isinstance(target, str):
        return str(target)
    if classes and isinstance(target, int | np.integer) and 0 <= target < len(classes):
        return str(classes[int(target)])
    raise DataError(
        f"a transcript is a text, or the number of a class whose name is the word, received {type(target).__name__}"
    )


def target_name(dataset: Dataset) -> str:
    """The entry of the samples that has the transcript. Raises ConfigError for a data set without one."""
    if dataset.inputs != ("audio",):
        kind = ", ".join(dataset.inputs) or "no named inputs"
        raise ConfigError(f"speech recognition wants samples with audio, {dataset!r} has {kind}")
    texts = [name for name in dataset.targets if name != "label"]
    if len(texts) == 1:
        return texts[0]
    if dataset.targets == ("label",) and dataset.classes:
        return "label"
    raise ConfigError(
        f"speech recognition wants one transcript for each sound, {dataset!r} has "
        f"{' and '.join(dataset.targets) or 'no targets'}: give a manifest with a column of texts, such as "
        'labdl.data.ManifestDataset("train.jsonl", text="text"), or a folder for each word'
    )


def find_symbols(dataset: Dataset) -> tuple[str, ...]:
    """The blank, and the characters of all transcripts in their order in Unicode. Sounds are not read if that is possible."""
    if target_name(dataset) == "label":
        texts: Iterable[str] = map(str, dataset.classes or ())
    else:
        texts = (transcript_of(dataset.label_of(at), None) for at in range(len(dataset)))
    characters = {character for text in texts for character in text}
    if len(characters) > _MOST_SYMBOLS:
        raise ConfigError(f"the transcripts have {len(characters):,} characters, at most {_MOST_SYMBOLS:,} are allowed")
    return check_symbols(sorted(characters))


def check_symbols(characters: Sequence[str]) -> tuple[str, ...]:
    """The blank and the characters of a vocabulary. Raises ConfigError unless each is one character, and there once."""
    symbols = tuple(characters)
    if not symbols or not all(isinstance(one, str) and len(one) == 1 for one in symbols):
        wrong = next((one for one in symbols if not isinstance(one, str) or len(one) != 1), None)
        raise ConfigError(f"the vocabulary of a recognizer wants single characters, received {wrong!r:.60}")
    if len(set(symbols)) < len(symbols):
        raise ConfigError("the vocabulary of a recognizer has a character twice")
    return (BLANK, *symbols)


def read_utterance(
    sample: Any, *, target: str, classes: Sequence[str] | None, symbols: Sequence[str], sample_rate: int
) -> dict[str, Any]:
    """A sample with "audio" (1, samples) of ``sample_rate`` and "labels" (characters), numbers of the symbols.

    Raises DataError for silence, an empty transcript, and characters that are no symbols.
    """
    if not isinstance(sample, Mapping) or "audio" not in sample or target not in sample:
        kind = ", ".join(map(str, sample)) if isinstance(sample, Mapping) else type(sample).__name__
        raise DataError(f"a sample of speech is a dictionary with audio and {target}, received {kind:.200}")
    text = transcript_of(sample[target], classes)
    if not text.strip():
        raise DataError('the transcript is empty: leave the sample out, or train with errors="skip"')
    numbers = {symbol: number for number, symbol in enumerate(symbols) if number}
    outside = sorted({character for character in text if character not in numbers})
    if outside:
        raise DataError(
            f"the transcript {text!r:.80} has {', '.join(map(repr, outside[:5]))}, which the vocabulary of "
            f"{len(numbers)} characters does not have: change the transcripts by Dataset.map, such as to lower case, or give "
            "task=labdl.tasks.SpeechRecognition(vocabulary=…)"
        )
    labels = np.array([numbers[character] for character in text], "int64")
    return {"audio": read_speech(sample["audio"], sample_rate), "labels": labels}


def count_ctc_steps(labels: np.ndarray) -> int:
    """The least number of steps for labels: one for each, and a blank between two equal ones."""
    return len(labels) + int(np.count_nonzero(labels[1:] == labels[:-1]))


def finish_utterance(sample: Mapping[str, Any], *, bins: int, least: int, reduction: int, ctc: bool) -> dict[str, Any]:
    """Frames (steps, bins) and labels of a sample of `read_utterance` whose sound has become a spectrogram, and their numbers.

    ``reduction`` frames are one step of the output. Raises DataError for a sound with fewer than ``least`` frames, and for
    labels that do not fit into the steps by CTC.
    """
    spectrogram, labels = sample["audio"], sample["labels"]
    if not isinstance(spectrogram, Spectrogram) or spectrogram.shape[-2] != bins:
        raise DataError(
            f"the model wants spectrograms (1, {bins}, frames), the transforms give {type(spectrogram).__name__} of the "
            f"shape {np.shape(spectrogram)}"
        )
    frames = np.ascontiguousarray(spectrogram.array[0].T, "float32")
    if len(frames) < least:
        raise DataError(f"the sound has {len(frames)} frames, the model wants at least {least}")
    steps, needed = max(1, (len(frames) - least) // reduction + 1), count_ctc_steps(labels)
    if ctc and needed > steps:
        raise DataError(
            f"the transcript of {len(labels)} characters needs {needed} steps for CTC, {len(frames)} frames of the sound give "
            f'{steps}: leave the sample out, or train with errors="skip"'
        )
    return {"frames": frames, "labels": labels, "steps": np.int64(len(frames)), "characters": np.int64(len(labels))}


def durations_of(dataset: Dataset, *, lenient: bool) -> np.ndarray:
    """The lengths (N,) of sounds in seconds; of files by their headers. ``lenient`` takes 0 for one that cannot be read."""
    return np.array([_duration(dataset, at, lenient) for at in range(len(dataset))])


def _duration(dataset: Dataset, index: int, lenient: bool) -> float:
    from labdl.data.codecs.audio import audio_info  # imported lazily: arrays need no decoder

    source, at = dataset.origin(index)
    path = getattr(source, "path", None)
    try:
        seconds = getattr(source, "seconds", None)  # of an AudioFolder that cuts and pads
        seconds = audio_info(path(at)).seconds if seconds is None and callable(path) else seconds
        if seconds is not None:
            return float(seconds)
        audio = source.read(at)["audio"]
    except (LabDLError, OSError):
        if lenient:
            return 0.0
        raise
    rate = audio.sample_rate if isinstance(audio, Audio) else None
    return np.shape(audio)[-1] / (rate or 1)
