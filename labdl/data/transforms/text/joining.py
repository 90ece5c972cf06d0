"""Texts joined of parts of a sample, and the plain text of Wikipedia's markup."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from labdl.data.parts import Text, Tokens
from labdl.data.transforms.sample_parts import part_at
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import DataError

_FIELD = re.compile(r"\{(\w*)\}")


@transform({"template": "{name}: {text}", "into": "prompt"})
class Format(Transform):
    """Fill the places of a template with parts of a dictionary: "{title}: {text}". Source: tf.strings.format.

    A text alone takes the place of ``{}``. The result is a Text named ``into``. A place is a name only: no attributes,
    indices or widths, so that a template from a file cannot do more than fill in.
    """

    template: str
    into: str = "text"

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if isinstance(sample, dict):
            filled = Text(_FIELD.sub(lambda match: _show(part_at(self, sample, match[1])), self.template))
            return {**sample, self.into: filled}
        if isinstance(sample, tuple | list) and not isinstance(sample, Tokens):
            raise DataError("Format wants a dictionary or a text, received a tuple: name its parts first")
        return Text(_FIELD.sub(lambda match: _show(sample), self.template))


def _show(part: Any) -> str:
    return " ".join(part) if isinstance(part, Tokens) else str(part)


@transform({"separator": "-"})
class Join(Transform):
    """Join tokens to a text, or the texts ``keys`` of a dictionary to the text ``into``. Source: tf.strings.reduce_join."""

    separator: str = " "
    keys: tuple[str, ...] = ()
    into: str = "text"

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not self.keys:
            return Transform.apply(self, sample, rng)
        return {**sample, self.into: Text(self.separator.join(_show(part_at(self, sample, key)) for key in self.keys))}

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Text:
        return Text(self.separator.join(tokens))


# in this order; no repetition passes the beginning of its own pattern, so that the time grows with the text only
_WIKIPEDIA = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<[^<>]*>", ""),
        (r"&amp;", "&"),
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        (r"<ref[^<]*</ref>", ""),
        (r"<[^<>]*>", ""),
        (r"\[http:[^] ]*", "["),
        (r"\|thumb|\|left|\|right", ""),
        (r"\|\d+px", ""),
        (r"(?i)\[\[image:[^\[\]]*\|", ""),
        (r"(?i)\[\[category:([^\[\]|]*)(?:\|[^\[\]]*)?\]\]", r"[[\1]]"),
        (r"\[\[[a-z\-]*:[^\[\]]*\]\]", ""),
        (r"\[\[[^\[\]|]*\|", "[["),
        (r"\{\{[^{}]*\}\}", ""),
        (r"\{[^{}]*\}", ""),
        (r"[\[\]]", ""),
        (r"&[^&;]*;", " "),
    )
]
_NAMES = "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"
_DIGITS = {str(digit): f" {name} " for digit, name in enumerate(_NAMES)}
_SPELL = str.maketrans({**{chr(65 + at): chr(97 + at) for at in range(26)}, **_DIGITS})
_LONGEST = 1 << 24  # characters of an article


@transform
class FilterWikipediaXML(Transform):
    """Keep the words of Wikipedia's XML, in a to z: markup is removed and digits are spelled; redirects become empty.

    The rules are those of wikifil.pl by Matt Mahoney, as torchtext has them; tags are removed one by one.
    Raises DataError for a text of more than 16 million characters. Source: mindspore.dataset.text.FilterWikipediaXML.
    """

    def apply_to_text(self, text: Text, params: Parameters) -> Text:
        if len(text) > _LONGEST:
            raise DataError(
                f"FilterWikipediaXML wants a text of at most {_LONGEST:,} characters, received {len(text):,}"
            )
        if "#redirect" in text or "#REDIRECT" in text:
            return Text("")
        plain = str(text)
        for pattern, replacement in _WIKIPEDIA:
            plain = pattern.sub(replacement, plain)
        return Text(" ".join(re.sub(r"[^a-z]+", " ", plain.translate(_SPELL)).split()))
