"""Neighbours in a sequence of characters or tokens: n-grams and sliding windows."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Ge

from labdl.data.parts import Text, TokenIds, Tokens
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError

Size = Annotated[int, Ge(1)]
Padding = tuple[str, Annotated[int, Ge(0)]]
_MOST = 1000


def _sizes(owner: Transform, n: int | tuple[int, ...]) -> tuple[int, ...]:
    sizes = n if isinstance(n, tuple) else (n,)
    if not sizes or max(sizes) > _MOST:
        raise ConfigError(f"{type(owner).__name__} wants n from 1 to {_MOST}, received {n}")
    return sizes


@transform({"n": 2})
class Ngram(Transform):
    """Join neighbouring tokens to n-grams, of one or several sizes ``n``. Source: mindspore.dataset.text.Ngram.

    ``left_pad`` and ``right_pad`` are a token and how many of it are put before and behind the others, at most n - 1.
    """

    n: Size | tuple[Size, ...]
    left_pad: Padding = ("", 0)
    right_pad: Padding = ("", 0)
    separator: str = " "

    def check_settings(self) -> None:
        _sizes(self, self.n)

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        grams = Tokens()
        for size in _sizes(self, self.n):
            left, right = min(self.left_pad[1], size - 1), min(self.right_pad[1], size - 1)
            padded = [self.left_pad[0]] * left + tokens + [self.right_pad[0]] * right
            grams += [self.separator.join(padded[at : at + size]) for at in range(len(padded) - size + 1)]
        return grams


@transform({"n": 3})
class CharacterNgrams(Transform):
    """Cut a text, or each token, into overlapping n-grams of characters. Source: fastText, Bojanowski et al. (2017).

    ``n`` is one or several sizes; with ``mark_borders`` the text is put between < and > before.
    """

    n: Size | tuple[Size, ...] = 3
    mark_borders: bool = False

    def check_settings(self) -> None:
        _sizes(self, self.n)

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        marked = f"<{text}>" if self.mark_borders else str(text)
        return Tokens(marked[at : at + n] for n in _sizes(self, self.n) for at in range(len(marked) - n + 1))

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        return Tokens(gram for token in tokens for gram in self.apply_to_text(Text(token), params))


@transform({"width": 3})
class SlidingWindow(Transform):
    """Cut tokens, or numbers of tokens, into a list of windows of ``width``. Source: mindspore.dataset.text.SlidingWindow.

    Each window starts ``step`` behind the one before it; fewer tokens than ``width`` give no window.
    """

    width: Size
    step: Size = 1

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> list[Tokens]:
        return [Tokens(tokens[at : at + self.width]) for at in self._starts(tokens)]

    def apply_to_token_ids(self, ids: TokenIds, params: Parameters) -> list[TokenIds]:
        return [ids.like(ids.array[at : at + self.width].copy()) for at in self._starts(ids)]

    def _starts(self, sequence: Any) -> range:
        return range(0, len(sequence) - self.width + 1, self.step)
