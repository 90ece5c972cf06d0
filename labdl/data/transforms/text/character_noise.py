"""Typing errors: characters exchanged, left out, put in, replaced."""

from __future__ import annotations

import dataclasses

import numpy as np

from labdl.data.parts import Text, Tokens
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError
from labdl.settings import Share

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclasses.dataclass(repr=False)
class CharacterNoise(Transform):
    """Fields and methods of the transforms that change a share ``rate`` of the characters; white space stays."""

    rate: Share = 0.05
    p: Share = 1.0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"rng": rng}

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        return Text(self._change(text, params["rng"]))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(self._change(token, params["rng"]) or token for token in tokens)

    def _change(self, text: str, rng: np.random.Generator) -> str:
        characters = list(text)
        chosen = np.flatnonzero(rng.random(len(characters)) < self.rate)
        self.change(characters, [at for at in chosen.tolist() if not characters[at].isspace()], rng)
        return "".join(characters)

    def change(self, characters: list[str], places: list[int], rng: np.random.Generator) -> None:
        """Change the characters at places, in the list; an entry may become several characters or none."""
        raise NotImplementedError


@transform
class SwapCharacters(CharacterNoise):
    """Exchange characters with the next one of the same word, for a share ``rate`` of them. Source: nlpaug RandomCharAug."""

    def change(self, characters: list[str], places: list[int], rng: np.random.Generator) -> None:
        for at in places:
            if at + 1 < len(characters) and not characters[at + 1].isspace():
                characters[at], characters[at + 1] = characters[at + 1], characters[at]


@transform
class DropCharacters(CharacterNoise):
    """Leave out a share ``rate`` of the characters; a token keeps at least one. Source: nlpaug RandomCharAug."""

    def change(self, characters: list[str], places: list[int], rng: np.random.Generator) -> None:
        for at in places:
            characters[at] = ""


@dataclasses.dataclass(repr=False)
class _NewCharacters(CharacterNoise):
    characters: str = _LETTERS

    def check_settings(self) -> None:
        if not self.characters:
            raise ConfigError(f"{type(self).__name__} wants at least one character to choose from")


@transform
class InsertCharacters(_NewCharacters):
    """Put random ``characters`` before a share ``rate`` of the characters. Source: nlpaug RandomCharAug."""

    def change(self, characters: list[str], places: list[int], rng: np.random.Generator) -> None:
        for at, new in zip(places, rng.integers(len(self.characters), size=len(places)), strict=True):
            characters[at] = self.characters[new] + characters[at]


@transform
class ReplaceCharacters(_NewCharacters):
    """Replace a share ``rate`` of the characters by random ``characters``. Source: nlpaug RandomCharAug."""

    def change(self, characters: list[str], places: list[int], rng: np.random.Generator) -> None:
        for at, new in zip(places, rng.integers(len(self.characters), size=len(places)), strict=True):
            characters[at] = self.characters[new]
