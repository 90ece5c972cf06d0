"""Two values of a transform's setting give different samples: one that is accepted and ignored is a fault."""

import dataclasses
import itertools
import typing

import numpy as np
import pytest
from samples import picture, rows, sample_for, vision_sample
from variations import is_equal, literals, variations

from labdl.data import transforms as T
from labdl.data.parts import Audio, Image, Mask, Part, Spectrogram, Text, Tokens, Video
from labdl.data.text import SentencePiece, Tokenizer
from labdl.data.transforms.transform import iterate_parts
from labdl.errors import ConfigError, DataError

SEEDS = 3
# settings that say what the samples have: with another value some are refused
CHECKED = ("key", "sample_rate", "orig_freq", "columns", "pad_if_needed", "handle_unknown")
REASONS = {
    ("PhaseVocoder", "hop_length"): "whole turns of a phase, which are nothing; torchaudio has the setting too",
    ("Convolve", "response"): "the path of a file; test_audio_augmentation has it",
}


def map_sample():
    return {**vision_sample(), "masks": Mask(vision_sample()["masks"].array.argmax(0).astype("uint8") + 3)}


def bright_sample():
    return {"image": Image(picture().astype("float32") / 255)}


def pairs_of_pictures():
    other = {**vision_sample(), "image": Image(picture()[::-1].copy()), "label": 2}
    return [vision_sample(), other]


def two_channels():
    values = np.random.default_rng(2).uniform(0.1, 4, (2, 40, 50)).astype("float32")
    return {"audio": Spectrogram(values, sample_rate=8000, hop_length=100)}


def words_after_noise():
    time, rng = np.arange(24_000) / 8000, np.random.default_rng(4)
    voice = sum(np.sin(2 * np.pi * 180 * n * time) / n for n in range(1, 8))
    spoken = (time > 0.9) & (time < 1.2) | (time > 1.35) & (time < 2.6)
    wave = 0.004 * rng.normal(size=time.size) + 0.3 * voice * np.where(time < 1.3, 0.08, 1.0) * spoken
    return {"audio": Audio(wave[None].astype("float32"), sample_rate=8000)}


def text(words):
    return lambda: {"text": Text(words)}


def tokens(*words):
    return lambda: {"text": Tokens(words)}


TEXTS = ["The quick brown fox jumps over the lazy dog, twice.", "A fox and a dog are no friends."] * 5


def trained(kind="bpe"):
    texts = [text[::-1] for text in TEXTS]
    return SentencePiece.train(texts, 40) if kind == "sentencepiece" else Tokenizer.train(texts, kind, 300)


ROWS = [{**row, "day": f"2026-0{at + 1}-07"} for at, row in enumerate(rows())]
INCOMPLETE = [*ROWS, {**ROWS[0], "age": None}]
OTHER_COLUMNS = {"number": [("label",)], "category": [("day",)], "date": [("city",)]}


def gap():
    return INCOMPLETE[-1]


FLIPS = (T.HorizontalFlip(p=1.0), T.VerticalFlip(p=1.0))
BEYOND = {"Crop": {"top": -5}, "CenterCrop": {"size": 60}, "RandomCrop": {"size": 80, "pad_if_needed": True}}
CORNERS = ((0, 0), (63, 0), (63, 47), (0, 47))
INWARDS = ((5, 2), (60, 0), (63, 40), (0, 47))
MATRIX = np.eye(36, dtype="float32")
FINE, LOUD = {"measure_freq": 100.0, "measure_duration": 0.1}, {"measure_freq": 50.0, "trigger_level": 12.0}
VOICES = {
    "allowed_gap": ({}, words_after_noise),
    "noise_down_time": (FINE, words_after_noise, [5.0]),
    "hp_filter_freq": (FINE, words_after_noise, [1000.0]),
    "lp_filter_freq": (FINE, words_after_noise, [300.0]),
    "hp_lifter_freq": (LOUD, words_after_noise, [1000.0]),
    "lp_lifter_freq": (LOUD, words_after_noise, [200.0]),
}
# what shows a setting that the example and its sample do not: settings, sample, and values where types do not tell them
BASES: dict[tuple[str, str], tuple] = {
    **{
        (name, "transforms"): ({}, None, [FLIPS])
        for name in ("Compose", "RandomApply", "RandomChoice", "UniformAugment")
    },
    ("RandomOrder", "transforms"): ({}, None, [FLIPS]),
    ("RandomApply", "p"): ({"transforms": FLIPS}, None),
    ("RandomChoice", "weights"): ({"transforms": FLIPS}, None, [(0.0, 1.0), (1.0, 0.0)]),
    ("UniformAugment", "num_ops"): ({"transforms": FLIPS}, None),
    ("RandomSelectSubpolicy", "policy"): ({}, None, [(((FLIPS[0], 1.0),),)]),
    ("BoundingBoxAugment", "transform"): ({}, None, [FLIPS[1]]),
    ("Lambda", "function"): ({}, None, [np.fliplr]),
    ("PythonTokenizer", "function"): ({}, None, [list]),
    ("BackTranslate", "function"): ({}, None, [str.upper]),
    **{("SlidingWindowCMN", n): ({"cmn_window": 10, "min_cmn_window": 1}, None) for n in ("cmn_window", "center")},
    **{(name, "clamp"): ({"a_coeffs": (1.0, 0.0), "b_coeffs": (9.0, 0.0)}, None) for name in ("LFilter", "FiltFilt")},
    **{(name, "iid_masks"): ({}, two_channels) for name in ("FrequencyMasking", "TimeMasking", "SpecAugment")},
    ("TimeMasking", "max_share"): ({"time_mask_param": 50, "max_share": 0.2}, None),
    ("AddNoise", "noise"): ({}, None, ["pink"]),
    **{("Resample", name): ({"new_freq": 5000}, None) for name in ("quality", "resampling_method")},
    **{
        ("Resample", name): ({"new_freq": 5000, "resampling_method": "sinc_interp_hann"}, None)
        for name in ("lowpass_filter_width", "rolloff")
    },
    ("Resample", "beta"): ({"new_freq": 5000, "resampling_method": "sinc_interp_kaiser"}, None, [3.0]),
    ("InverseSpectrogram", "n_fft"): ({}, None, [79]),
    ("GriffinLim", "n_fft"): ({}, None, [79]),
    ("GriffinLim", "length"): ({}, None, [500]),
    ("DetectPitchFrequency", "freq_high"): ({}, None, [200.0]),
    **{("VAD", f.name): VOICES.get(f.name, (FINE, words_after_noise)) for f in dataclasses.fields(T.TRANSFORMS["VAD"])},
    ("Concatenate", "keys"): ({"key": None, "keys": ("ids",)}, None, [("ids", "labels")]),
    ("SanitizeBoundingBoxes", "min_size"): ({}, None, [14.5]),
    ("SanitizeBoundingBoxes", "min_area"): ({}, None, [300.0]),
    ("Grayscale", "p"): ({"num_output_channels": 3}, None),
    **{(name, setting): (own, map_sample) for name, own in BEYOND.items() for setting in ("fill", "mask_fill")},
    ("RandomCrop", "padding_mode"): (BEYOND["RandomCrop"], None),
    ("RandomCrop", "pad_if_needed"): (BEYOND["RandomCrop"], None),
    ("UniformTemporalSubsample", "num_samples"): (
        {},
        lambda: {"clip": Video(np.arange(10 * 8 * 8 * 3, dtype="uint8").reshape(10, 8, 8, 3))},
    ),
    ("PermuteChannels", "permutation"): ({}, None, [(1, 2, 0)]),
    ("ExtractPatches", "padding"): ({"size": 20}, None),
    ("MixUp", "alpha"): ({}, pairs_of_pictures),
    ("Mosaic", "min_size"): ({}, None, [18.0]),
    ("CopyPaste", "share"): ({}, pairs_of_pictures),
    ("GaussianNoise", "clip"): ({"sigma": 0.5}, bright_sample),
    ("LinearTransformation", "transformation_matrix"): ({}, None, [MATRIX]),
    ("LinearTransformation", "mean_vector"): ({}, None, [MATRIX[0]]),
    ("ZoomOut", "side_range"): ({}, None, [(2.0, 3.0)]),
    ("Perspective", "startpoints"): ({"startpoints": CORNERS, "endpoints": INWARDS}, None, [INWARDS[::-1]]),
    ("Perspective", "endpoints"): ({"startpoints": CORNERS, "endpoints": INWARDS}, None, [CORNERS]),
    ("Affine", "shear"): ({}, None, [(0.0, 20.0)]),
    ("Resize", "max_size"): ({"size": 24}, None, [28]),
    ("CropAndResize", "boxes"): ({}, None, [((0.0, 0.0, 0.5, 0.5),)]),
    ("CropAndResize", "extrapolation_value"): ({"boxes": ((-0.5, 0.0, 0.5, 0.5),)}, None),
    ("OneHotEncode", "handle_unknown"): ({"handle_unknown": "ignore"}, lambda: {**ROWS[1], "city": "Paris"}),
    **{
        ("OrdinalEncode", name): ({"handle_unknown": "use_encoded_value"}, lambda: {**ROWS[1], "city": "Paris"})
        for name in ("handle_unknown", "unknown_value")
    },
    ("Hash", "alternate_sign"): ({}, lambda: {**ROWS[1], "city": "Paris"}),
    ("DateParts", "format"): ({}, None, ["%Y-%d-%m"]),
    ("MinMax", "clip"): ({}, lambda: {**ROWS[1], "age": 99.0}),
    ("Impute", "columns"): ({}, gap),
    ("Impute", "strategy"): ({}, gap),
    ("Impute", "fill_value"): ({"strategy": "constant", "fill_value": 3.0}, gap),
    ("TextVectorization", "max_tokens"): ({"vocabulary": ()}, None, [3]),
    ("TextVectorization", "output_sequence_length"): ({"output_mode": "int"}, None, [2]),
    ("TextVectorization", "pad_to_max_tokens"): ({"max_tokens": 9}, None),
    ("TextVectorization", "idf_weights"): ({"output_mode": "tf_idf", "idf_weights": (1.0, 2.0, 3.0)}, None),
    ("TablePreprocessor", "impute"): ({}, gap),
    ("TablePreprocessor", "indicator"): ({}, gap),
    ("TablePreprocessor", "max_tokens"): ({"columns": ("text",)}, lambda: {"text": "word0 and word1"}, [3]),
    **{(name, "sample_rate"): ({}, None, [48_000]) for name in ("DeemphBiquad", "RiaaBiquad")},
    **{(name, "tokenizer"): ({}, None, lambda: [trained()]) for name in ("Tokenize", "BPETokenizer")},
    ("Detokenize", "tokenizer"): ({}, tokens("t", "h"), lambda: [trained()]),
    ("UnigramTokenizer", "tokenizer"): ({}, None, lambda: [trained("unigram")]),
    ("SentencePieceTokenizer", "tokenizer"): ({}, None, lambda: [trained("sentencepiece")]),
    **{(name, "vocab_size"): ({"vocab_size": 300}, None, [260]) for name in ("Tokenize", "BPETokenizer")},
    ("SentencePieceTokenizer", "vocab_size"): ({"vocab_size": 40}, None, [36, 38, 45]),
    ("RegexTokenizer", "keep_delim_pattern"): ({}, None, [r"\s+"]),
    ("BasicTokenizer", "normalization_form"): ({}, text("ﬁne"), ["NFKC"]),
    ("BertTokenizer", "normalization_form"): ({"vocab": ("[UNK]", "fine")}, text("ﬁne"), ["NFKC"]),
    **{(name, "preserve_unused_token"): ({}, text("a [MASK] b")) for name in ("BasicTokenizer", "BertTokenizer")},
    ("WordPieceTokenizer", "unknown_token"): ({}, tokens("the", "zebra")),
    ("JiebaTokenizer", "mode"): ({}, text("小明硕士毕业于中国科学院计算所")),
    ("JiebaTokenizer", "words"): ({}, text("男默女泪"), [(("男默女泪", 100_000),)]),
    ("RegexFullMatch", "pattern"): ({}, text("fox"), ["dog"]),
    ("RegexFullMatch", "into"): ({"key": "text"}, None, ["matches"]),
    ("UnicodeTranscode", "input_encoding"): ({}, lambda: {"text": "né".encode()}, ["latin-1"]),
    ("UnicodeTranscode", "output_encoding"): ({}, lambda: {"text": "né".encode()}, ["latin-1"]),
    ("UnicodeDecode", "input_encoding"): ({}, lambda: {"text": "né".encode()}, ["latin-1"]),
    ("UnicodeEncode", "output_encoding"): ({}, None, ["utf-8"]),
    ("InsertWords", "words"): ({}, None, [("very",)]),
    ("ReplaceWords", "words"): ({}, None, [("very",)]),
    ("ChangeTense", "verbs"): ({}, text("we blorp"), [(("blorp", "blorped"),)]),
    ("ChangeNumber", "nouns"): ({}, text("a blorp"), [(("blorp", "blorps"),)]),
    ("Join", "keys"): ({}, lambda: {"a": Text("x"), "b": Text("y")}, [("a", "b"), ("b", "a")]),
    ("Lookup", "unknown_token"): ({}, None, ["the"]),
    ("Hashing", "salt"): ({"strength": "strong"}, None, [(1, 2)]),
    ("ToVectors", "lower_case_backup"): ({}, tokens("The", "fox")),
}


def find_base(cls, name):
    settings, sample, values = (*BASES.get((cls.__name__, name), ({}, None)), [])[:3]
    settings = {**cls.example, **settings}
    if cls.category.startswith("table") and "columns" not in settings:
        kinds = {"number": ("age",), "category": ("city",), "date": ("day",)}
        settings["columns"] = kinds.get(getattr(cls, "kind", None), ("age", "city", "day"))
        values = OTHER_COLUMNS.get(getattr(cls, "kind", None), []) if name == "columns" else values
        sample = sample or (lambda: ROWS[1])
    return settings, sample or (map_sample if name == "mask_fill" else None), values


def create(cls, settings):
    transform = cls(**settings)
    if cls.category.startswith("table"):
        if settings["columns"] == ("text",):
            return transform.fit([{"text": f"word{n % 4} and word{n % 3} in line {n}"} for n in range(40)])
        return transform.fit(INCOMPLETE if cls.__name__ in ("Impute", "TablePreprocessor") else ROWS)
    if hasattr(transform, "fit") and not transform.is_fitted:
        transform.fit(TEXTS)
    return transform


def leaves_of(result):
    """The parts of a sample as arrays, and what is noted beside their values."""
    leaves = []
    for part in iterate_parts(result):
        notes = [
            getattr(part, name, None) for name in ("format", "canvas", "sample_rate", "hop_length", "offsets", "fps")
        ]
        leaves.append(np.array([f"{type(part).__name__} {notes}"]))
        if isinstance(part, Part) or (isinstance(part, np.ndarray) and part.dtype.kind in "biufc"):
            leaves.append(np.asarray(getattr(part, "array", part)))
        else:
            leaves.append(np.array([f"{part!r}"]))
    return leaves


def observe(transform, sample, seeds=SEEDS):
    return list(itertools.chain.from_iterable(leaves_of(transform(sample(), rng=seed)) for seed in range(seeds)))


def matters(cls, name) -> bool:
    settings, sample, values = find_base(cls, name)
    base = create(cls, settings)
    sample = sample or (lambda: sample_for(base))
    seeds = 20 if "Augment" in cls.__name__ else SEEDS
    expected = observe(base, sample, seeds)
    listed = literals(typing.get_type_hints(cls, include_extras=True)[name])
    for other in (values() if callable(values) else values) or variations(getattr(base, name), listed):
        try:
            results = observe(create(cls, {**settings, name: other}), sample, seeds)
        except ConfigError:  # of the setting itself
            continue
        except DataError:  # of a sample that does not fit
            if name in CHECKED:
                return True
            continue
        if not is_equal(results, expected):
            return True
    return False


SETTINGS = [
    pytest.param(cls, [f.name for f in dataclasses.fields(cls) if f.init], id=kind)
    for kind, cls in T.TRANSFORMS.items()
    if cls.category != "custom" and dataclasses.fields(cls)
]


@pytest.mark.sample(every=24)
@pytest.mark.parametrize(("cls", "names"), SETTINGS)
def test_every_setting_changes_a_sample(cls, names):
    ignored = [name for name in names if (cls.__name__, name) not in REASONS and not matters(cls, name)]
    assert not ignored


def test_lists_name_settings_that_exist():
    names = {(kind, f.name) for kind, cls in T.TRANSFORMS.items() for f in dataclasses.fields(cls)}
    assert names >= REASONS.keys() | BASES.keys()
