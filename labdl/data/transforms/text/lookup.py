"""Tokens, texts and integers as numbers, and back."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Part, Text, TokenIds, Tokens
from labdl.data.text.hashing import fingerprint64, hash64, sip_hash
from labdl.data.text.vocabulary import Vocab
from labdl.data.transforms.sample_parts import apply_at, array_of, change, replace, select
from labdl.data.transforms.text.bert import vocab_tokens
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER

Strength = Literal["fast", "default", "strong"]
Key64 = Annotated[int, Ge(0)]


@transform({"vocab": ("<unk>", "the", "quick", "fox"), "unknown_token": "<unk>"})
class Lookup(Transform):
    """Convert tokens to their numbers in a vocabulary. Source: mindspore.dataset.text.Lookup.

    ``vocab`` is a data.text.Vocab or a list of tokens, or left out and trained by ``fit(samples)``. Tokens that are not in
    it become ``unknown_token``; without one they are a DataError. ``key`` names one part of a dictionary.
    """

    vocab: Any = field(default=(), metadata=INNER)
    unknown_token: str | None = None
    key: str | None = None

    def check_settings(self) -> None:
        unknown = self.vocab.unknown if isinstance(self.vocab, Vocab) else None
        if self.unknown_token is None:
            self.unknown_token = unknown
        self.vocab = vocab_tokens("Lookup", self.vocab)
        self._vocab = Vocab(self.vocab, self.unknown_token if self.vocab else None)

    def fit(self, samples: Iterable[Any], size: int | None = None, *, min_frequency: int = 1) -> Lookup:
        """Train the vocabulary on the tokens of samples, with <pad> as 0 and <unk> as 1."""
        from labdl.data.transforms.transform import iterate_parts

        parts = (sample[self.key] if self.key is not None else sample for sample in samples)
        tokens = (leaf for part in parts for leaf in iterate_parts(part) if isinstance(leaf, Tokens))
        self._vocab = Vocab.train(tokens, size, min_frequency=min_frequency)
        self.vocab, self.unknown_token = self._vocab.tokens, self._vocab.unknown
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether there is a vocabulary, trained or given."""
        return bool(self.vocab)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return apply_at(self, sample, self.key, rng)

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> TokenIds:
        if not self.vocab:
            raise ConfigError("Lookup has no vocabulary: give it vocab=, or train it with fit(samples)")
        return self._vocab.encode(tokens)


@transform({"vocabulary": (1, 3, 5), "key": "labels"})
class IntegerLookup(Transform):
    """Convert integers to their places in a list, after those of the unknown ones. Source: keras.layers.IntegerLookup.

    An integer that is not in ``vocabulary`` becomes one of ``num_oov_indices`` numbers, by its remainder. ``mask_token``
    becomes 0, and all others start at 1.
    """

    vocabulary: tuple[int, ...]
    num_oov_indices: Annotated[int, Ge(0)] = 1
    mask_token: int | None = None
    key: str | None = None

    def check_settings(self) -> None:
        if len(set(self.vocabulary)) != len(self.vocabulary):
            raise ConfigError("IntegerLookup wants each integer once")
        first = self.num_oov_indices + (self.mask_token is not None)
        self._numbers = {number: at + first for at, number in enumerate(self.vocabulary)}
        if self.mask_token is not None:
            self._numbers[self.mask_token] = 0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return change(self, sample, self.key, self._look_up)

    def _look_up(self, part: Any) -> Any:
        array = array_of(self, part)
        if array.dtype.kind not in "iu":
            raise DataError(f"IntegerLookup wants integers, received {array.dtype}")
        result = np.array([self._number(number) for number in array.reshape(-1).tolist()], "int64").reshape(array.shape)
        return part.like(result) if isinstance(part, TokenIds) else result

    def _number(self, number: int) -> int:
        found = self._numbers.get(number)
        if found is not None:
            return found
        if self.num_oov_indices == 0:
            raise DataError(f"IntegerLookup has not {number} in its vocabulary: let it have num_oov_indices of 1")
        return number % self.num_oov_indices + (self.mask_token is not None)


@functools.lru_cache(1 << 16)
def hash_text(text: str, num_bins: int, strength: Strength, key: tuple[int, int]) -> int:
    """Number of a text from 0 to ``num_bins`` - 1."""
    data = text.encode("utf-8", "surrogatepass")
    value = {"fast": fingerprint64, "default": hash64, "strong": lambda d: sip_hash(d, key)}[strength](data)
    return value % num_bins


@transform({"num_bins": 1000})
class Hashing(Transform):
    """Convert texts and tokens to numbers below ``num_bins`` by a hash, without a vocabulary.

    ``strength`` "fast" is FarmHash, equal on all machines (tf.strings.to_hash_bucket_fast); "default" that of
    tf.strings.to_hash_bucket; "strong" SipHash with the secret ``salt`` of two numbers, for texts that an adversary writes
    (tf.strings.to_hash_bucket_strong). Source: tf.strings.to_hash_bucket_fast.
    """

    num_bins: Annotated[int, Ge(1)]
    strength: Strength = "fast"
    salt: tuple[Key64, Key64] = (0, 0)
    key: str | None = None

    def check_settings(self) -> None:
        if max(self.salt) >= 1 << 64:
            raise ConfigError(f"Hashing wants two numbers below 2**64 as salt, received {self.salt}")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return apply_at(self, sample, self.key, rng)

    def apply_to_text(self, text: Text, params: Parameters) -> np.int64:
        return np.int64(hash_text(str(text), self.num_bins, self.strength, self.salt))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> TokenIds:
        return TokenIds([hash_text(token, self.num_bins, self.strength, self.salt) for token in tokens])


_NUMBER = re.compile(
    r"\s*[+-]?(?:(?:\d{1,400}(?:\.\d{0,1000})?|\.\d{1,1000})(?:[eE][+-]?\d{1,6})?|inf(?:inity)?|nan)\s*", re.I | re.A
)
_INTEGER = re.compile(r"\s*[+-]?\d{1,40}\s*", re.A)


@transform({"dtype": "float32", "key": "number"})
class ToNumber(Transform):
    """Convert a text or tokens to numbers of a dtype. Source: mindspore.dataset.text.ToNumber.

    Raises DataError for a text that is no number and for one that the dtype cannot hold.
    """

    dtype: Literal["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"] = (
        "float32"
    )
    key: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return change(self, sample, self.key, self._convert)

    def _convert(self, part: Any) -> Any:
        if isinstance(part, str):
            return np.dtype(self.dtype).type(self._number(part))
        if isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype.kind == "U"):
            return np.array([self._number(str(token)) for token in part], self.dtype)
        raise DataError(f"ToNumber wants a text or tokens, received {type(part).__name__}")

    def _number(self, text: str) -> int | float:
        if np.dtype(self.dtype).kind == "f":
            if _NUMBER.fullmatch(text):
                return float(text)
        elif _INTEGER.fullmatch(text):
            number, limits = int(text), np.iinfo(self.dtype)
            if limits.min <= number <= limits.max:
                return number
        raise DataError(f"ToNumber wants a number of {self.dtype}, received {text!r:.80}")


@transform({"precision": 2, "key": "labels"})
class AsString(Transform):
    """Convert numbers to tokens, a single one to a Text. Source: tf.strings.as_string.

    ``precision`` is the number of decimal places, -1 for the 6 of C; ``width`` fills up with ``fill``; ``scientific`` and
    ``shortest`` are the forms %e and %g of floating-point numbers.
    """

    precision: Annotated[int, Ge(-1)] = -1
    scientific: bool = False
    shortest: bool = False
    width: Annotated[int, Ge(-1)] = -1
    fill: Literal["", "0", " "] = ""
    key: str | None = None

    def check_settings(self) -> None:
        if self.scientific and self.shortest:
            raise ConfigError("AsString wants either scientific or shortest")
        if max(self.precision, self.width) > 1000:
            raise ConfigError(
                f"AsString wants precision and width of at most 1000, received {self.precision}, {self.width}"
            )

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return replace(sample, self.key, self._convert(select(self, sample, self.key)))

    def _convert(self, part: Any) -> Text | Tokens:
        array = array_of(self, part)
        if array.dtype.kind not in "biuf" or array.ndim > 1:
            raise DataError(f"AsString wants numbers (n,), received {array.dtype} of the shape {array.shape}")
        kind = array.dtype.kind
        if kind == "b":
            texts = ["true" if value else "false" for value in np.atleast_1d(array)]
        else:
            form = "e" if self.scientific else "g" if self.shortest else "f"
            precision = "" if self.precision < 0 or kind in "iu" else f".{self.precision}"
            width = "" if self.width < 0 else str(self.width)
            pattern = f"%{'0' if self.fill == '0' else ''}{width}{precision}{'d' if kind in 'iu' else form}"
            texts = [pattern % value for value in np.atleast_1d(array).tolist()]
        return Text(texts[0]) if array.ndim == 0 else Tokens(texts)


@transform({"vectors": (("the", (0.1, 0.2)), ("fox", (0.3, 0.4)))})
class ToVectors(Transform):
    """Convert tokens to word vectors (tokens, dimensions), float32. Source: mindspore.dataset.text.ToVectors.

    ``vectors`` are data.text.WordVectors, a dictionary, or the path of a GloVe, fastText or word2vec file, which is read once
    (a pipeline's file keeps the path). Words without one become ``unk_init``, by default zeros.
    """

    vectors: Any = field(metadata=INNER)
    unk_init: tuple[float, ...] | None = None
    lower_case_backup: bool = False
    key: str | None = None

    def check_settings(self) -> None:
        from labdl.data.text.vectors import WordVectors, vectors_of

        if isinstance(self.vectors, str):
            self._vectors = WordVectors.load(self.vectors)
        elif isinstance(self.vectors, WordVectors):
            self._vectors = self.vectors
        else:
            self._vectors = vectors_of(self.vectors)
            self.vectors = tuple(zip(self._vectors.words, map(tuple, self._vectors.values.tolist()), strict=True))
        if self.unk_init is not None and len(self.unk_init) != self._vectors.dimensions:
            raise ConfigError(
                f"ToVectors wants unk_init of {self._vectors.dimensions} numbers, received {len(self.unk_init)}"
            )

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        return apply_at(self, sample, self.key, rng)

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> np.ndarray:
        return self._vectors.look_up(tokens, unknown=self.unk_init, lower_case_backup=self.lower_case_backup)


@transform({"transitions": ((0.0, -1.0), (-1.0, 0.0)), "include_bos_eos_tag": False, "key": "scores"})
class ViterbiDecode(Transform):
    """Convert scores (steps, tags) to the best path of tags, TokenIds. Source: paddle.text.ViterbiDecoder.

    ``transitions[a][b]`` is the score of tag b after a. With ``include_bos_eos_tag`` the last row has the scores of the first
    tag, and the last row but one those of the last tag. ``score`` names an entry of the dictionary for the score of the path.
    """

    transitions: tuple[tuple[float, ...], ...]
    include_bos_eos_tag: bool = True
    key: str | None = None
    score: str | None = None

    def check_settings(self) -> None:
        if not self.transitions or any(len(row) != len(self.transitions) for row in self.transitions):
            raise ConfigError("ViterbiDecode wants transitions of as many rows as columns")
        if self.score is not None and self.key is None:
            raise ConfigError("ViterbiDecode with score wants the key of the part in a dictionary")

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        from labdl.data.text.viterbi import viterbi_decode

        part = select(self, sample, self.key)
        potentials = part.array if isinstance(part, Part) else np.asarray(part)
        score, path = viterbi_decode(
            potentials, np.array(self.transitions), include_bos_eos_tag=self.include_bos_eos_tag
        )
        result = replace(sample, self.key, TokenIds(path))
        if self.score is not None:
            result[self.score] = np.float32(score)
        return result
