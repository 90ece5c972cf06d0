"""Words exchanged, left out, put in, replaced, also by synonyms and by translating back and forth."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from labdl.data.parts import Text, Tokens
from labdl.data.text.inflection import same_case
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER, Share

_WORD = re.compile(r"(\w+(?:['’-]\w+)*)")


@dataclasses.dataclass(repr=False)
class WordNoise(Transform):
    """Fields and methods of the transforms that change a share ``rate`` of the words; punctuation and spaces stay."""

    rate: Share = 0.1
    p: Share = 1.0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"rng": rng}

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        pieces = split_at_words(text)
        words = pieces[1::2]
        self._change(words, params["rng"])
        pieces[1::2] = words
        return Text(join_pieces(pieces))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        words: list[str | None] = list(tokens)
        self._change(words, params["rng"])
        return Tokens(piece for word in words if word is not None for piece in word.split(" "))

    def _change(self, words: list[str | None], rng: np.random.Generator) -> None:
        self.change(words, np.flatnonzero(rng.random(len(words)) < self.rate).tolist(), rng)

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        """Change the words at places, in the list; None removes one, and "a b" is two words."""
        raise NotImplementedError


def split_at_words(text: str) -> list[Any]:
    """The text in pieces: what is no word at even places, words at odd ones."""
    return _WORD.split(str(text))


def join_pieces(pieces: list[Any]) -> str:
    """The text of pieces; a word that became None takes the space before it along."""
    parts: list[str] = []
    for at, piece in enumerate(pieces):
        if piece is not None:
            parts.append(piece)
        elif parts and parts[-1].endswith(" "):
            parts[-1] = parts[-1][:-1]
        elif at + 1 < len(pieces) and pieces[at + 1].startswith(" ") and not "".join(parts):
            pieces[at + 1] = pieces[at + 1][1:]
    return "".join(parts)


@transform
class SwapWords(WordNoise):
    """Exchange a share ``rate`` of the words with the next one. Source: Wei and Zou, EDA (2019)."""

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        for at in places:
            if at + 1 < len(words):
                words[at], words[at + 1] = words[at + 1], words[at]


@transform
class DropWords(WordNoise):
    """Leave out a share ``rate`` of the words, but not all of them. Source: Wei and Zou, EDA (2019)."""

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        if len(places) == len(words) and places:
            places = places[:-1]
        for at in places:
            words[at] = None


@transform
class InsertWords(WordNoise):
    """Put a random word of ``words``, or of the text itself, before a share ``rate`` of the words.

    Source: Wei and Zou, EDA (2019).
    """

    words: tuple[str, ...] = ()

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        choice = self.words or tuple(words)
        for at in places:
            words[at] = f"{choice[int(rng.integers(len(choice)))]} {words[at]}"


@transform({"words": ("[MASK]",)})
class ReplaceWords(WordNoise):
    """Replace a share ``rate`` of the words by random ones of ``words``, such as one mask token.

    Source: nlpaug RandomWordAug.
    """

    words: tuple[str, ...] = ("[MASK]",)

    def check_settings(self) -> None:
        if not self.words:
            raise ConfigError("ReplaceWords wants at least one word to choose from")

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        for at in places:
            words[at] = self.words[int(rng.integers(len(self.words)))]


@transform({"synonyms": (("quick", ("fast", "rapid")), ("lazy", ("idle",))), "rate": 1.0})
class ReplaceSynonyms(WordNoise):
    """Replace a share ``rate`` of the words that have synonyms in a table by one of them. Source: Wei and Zou, EDA (2019).

    ``synonyms`` are pairs of a word in lower case and its synonyms, or a dictionary; capital letters stay.
    """

    synonyms: Any = field(default=(), metadata=INNER)

    def check_settings(self) -> None:
        pairs = self.synonyms.items() if isinstance(self.synonyms, Mapping) else self.synonyms
        try:
            self._table = {word.lower(): tuple(others) for word, others in pairs if not isinstance(others, str)}
            valid = len(self._table) == len(pairs) and all(isinstance(w, str) for o in self._table.values() for w in o)
        except (TypeError, ValueError, AttributeError):
            valid = False
        if not valid:
            raise ConfigError(
                f'ReplaceSynonyms wants a dictionary such as {{"quick": ("fast", "rapid")}}, received {self.synonyms!r:.80}'
            )
        self.synonyms = tuple(self._table.items())

    def change(self, words: list[Any], places: list[int], rng: np.random.Generator) -> None:
        for at in places:
            others = self._table.get(words[at].lower())
            if others:
                words[at] = same_case(others[int(rng.integers(len(others)))], words[at])


@transform({"function": str.swapcase})
class BackTranslate(Transform):
    """Replace a text by a function of it, such as a translation to another language and back; it cannot be saved to a file.

    Source: Sennrich et al., Improving neural machine translation models with monolingual data (2016).
    """

    function: Callable[[str], str] = field(metadata=INNER)
    p: Share = 1.0

    def check_settings(self) -> None:
        if not callable(self.function):
            raise ConfigError(f"BackTranslate wants a function from text to text, received {self.function!r:.80}")

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        result = self.function(str(text))
        if not isinstance(result, str):
            raise DataError(f"BackTranslate wants a function that returns a text, it returned {type(result).__name__}")
        return Text(result)
