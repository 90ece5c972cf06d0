"""Names of layers, nodes and blocks: words joined by "/", as in the names of parameters.

Two questions have one answer each. `fault_of` says what no graph, file or shared document holds: words are letters, digits
and ``_`` of any language, in the normal form NFKC, as Python has them after the first character. `fault_of_word` says what a
person may not type for a new name, so that it can be written as ``self.name``: identifiers of Python, no keywords. A model
in code may have other words, such as "1x1" in a ``ModuleDict``. `scripts/generate_names.py` writes both for the canvas.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Collection

LONGEST = 1_000  # characters
DEEPEST = 64  # words; what reads a graph lists the blocks around each node, and models have a dozen at most
_RULE = "use letters, digits and _"


def fault_of(name: object) -> str | None:
    """The fault of the name of a node or the path of a block, None for a valid one."""
    if not isinstance(name, str):
        return f"{name!r:.80}: {_RULE}"
    words = name.count("/") + 1
    if len(name) > LONGEST or words > DEEPEST:
        return (
            f"{name[:40]!r}... of {len(name):,} characters and {words:,} words: "
            f"use at most {LONGEST:,} characters and {DEEPEST} words"
        )
    if all(map(_is_word, name.split("/"))):
        return None
    return f"{name!r}: {_RULE}, such as {valid_path(name)!r}"


def fault_of_word(word: str) -> str | None:
    """Why a word must not be typed as a name: "empty", "characters", "digit" (at its start), "keyword"; None for a valid one.

    The word is compared in its normal form, under which it is kept.
    """
    word = unicodedata.normalize("NFKC", word)
    if not word:
        return "empty"
    if not _is_word(word):
        return "characters"
    if not word.isidentifier():
        return "digit"
    return "keyword" if keyword.iskeyword(word) else None


def valid_path(name: str) -> str:
    """A valid path like ``name``: other characters are ``_``, an empty word is ``layer``.

    ```python
    valid_path("my block/conv!")  # my_block/conv_
    ```
    """
    words = name[-LONGEST:].split("/")[-DEEPEST:]
    return "/".join(_replace_characters(word) or "layer" for word in words)[-LONGEST:].lstrip("/")


def valid_word(word: str, reserved: Collection[str] = ()) -> str:
    """A name like ``word`` that may be typed; ``reserved`` are taken by every model.

    ```python
    valid_word("my layer")  # my_layer
    valid_word("1conv")  # layer_1conv
    valid_word("class")  # class_
    ```
    """
    name = _replace_characters(word).strip("_") if fault_of_word(word) else unicodedata.normalize("NFKC", word)
    if not name.isidentifier():
        name = f"layer_{name}" if name else "layer"
    return f"{name}_" if keyword.iskeyword(name) or name in reserved else name


def _is_word(word: str) -> bool:
    if word == "" or not f"_{word}".isidentifier():
        return False
    return word.isascii() or (all(map(_continues, word)) and unicodedata.is_normalized("NFKC", word))


def _continues(character: str) -> bool:
    """Whether an identifier may go on with a character; Python versions differ in invisible joiners."""
    return f"_{character}".isidentifier() and character not in "\u200c\u200d"


def _replace_characters(word: str) -> str:
    normal = unicodedata.normalize("NFKC", word)
    return unicodedata.normalize("NFKC", "".join(c if _continues(c) else "_" for c in normal))
