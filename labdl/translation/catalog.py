"""Find the template that a finished sentence was made from, and fill its translation with the same values."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("zh_CN.json")
_PLACEHOLDER = re.compile(r"%(\d+)")
_LONGEST = 4000  # characters of a text that is translated; longer ones quote what a user gave
_DEEPEST = 4  # sentences within the values of sentences
_TEXT_KEYS = frozenset({"error", "hint", "message", "problem", "problems", "reason"})
# what a user wrote, which may have fields of the same names and comes back to be saved
_USER_KEYS = frozenset(
    {
        "graph",
        "new",
        "old",
        "content",
        "pipeline",
        "params",
        "settings",
        "value",
        "initial",
        "schema",
        "before",
        "words",
    }
)


class Template:
    """A sentence with placeholders %1, %2 …, and its translation.

    Examples:
        >>> Template("%1 has no output %2", "%1 没有输出 %2").values("conv has no output 'y'")
        {'1': 'conv', '2': "'y'"}
    """

    def __init__(self, text: str, translation: str):
        parts = _PLACEHOLDER.split(text)
        self.literals = parts[::2]
        self.names = parts[1::2]
        self.translation = translation
        self.size = sum(map(len, self.literals))

    def values(self, text: str) -> dict[str, str] | None:
        """The value of each placeholder in `text`; None if it was not made from this template.

        Each literal is taken at its first place after the one before, so that the time is linear in the text.
        """
        first, last = self.literals[0], self.literals[-1]
        if not self.names:
            return {} if text == first else None
        if len(text) < self.size or not text.startswith(first) or not text.endswith(last):
            return None
        position, end = len(first), len(text) - len(last)
        values = {}
        for name, literal in zip(self.names, [*self.literals[1:-1], ""], strict=True):
            stop = text.find(literal, position, end) if literal else end
            if stop < 0:
                return None
            values[name] = text[position:stop]
            position = stop + len(literal)
        return values


def translate(text: str, language: str) -> str:
    """A sentence of LabDL in `language`, or `text` itself where there is no translation.

    Values within the sentence stay as they are, except those that are sentences themselves.

    Examples:
        >>> translate("The model has no layers yet.", "zh_CN")
        '模型还没有层。'
        >>> translate("The model has no layers yet.", "en")
        'The model has no layers yet.'
    """
    if not language.lower().startswith("zh") or not text or len(text) > _LONGEST:
        return text
    return _translation(text, _DEEPEST) or text


def translate_answer(content: Any, language: str) -> Any:
    """A JSON answer whose errors, problems and hints are in `language`; graphs, settings and all else are as they were.

    Examples:
        >>> translate_answer({"name": "has no model", "problems": ["The model has no layers yet."]}, "zh_CN")
        {'name': 'has no model', 'problems': ['模型还没有层。']}
    """
    return _answer(content, language, False) if language.lower().startswith("zh") else content


def _answer(content: Any, language: str, is_text: bool) -> Any:
    if isinstance(content, dict):
        return {
            key: value if key in _USER_KEYS else _answer(value, language, key in _TEXT_KEYS)
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [_answer(value, language, is_text) for value in content]
    return translate(content, language) if is_text and isinstance(content, str) else content


def _translation(text: str, depth: int) -> str | None:
    if depth == 0:
        return None
    for template in _templates():
        values = template.values(text)
        if values is not None:
            shown = {name: _translation(value, depth - 1) or value for name, value in values.items()}
            parts = _PLACEHOLDER.split(template.translation)
            return "".join(shown[part] if at % 2 else part for at, part in enumerate(parts))
    place, colon, sentence = text.partition(": ")  # the name of a layer before its problem
    if colon and (translation := _translation(sentence, depth - 1)):
        return f"{place}：{translation}"
    return None


@functools.cache
def _templates() -> list[Template]:
    """The templates of the catalog, the most specific first."""
    words = json.loads(_FILE.read_text(encoding="utf-8"))
    return sorted((Template(text, translation) for text, translation in words.items()), key=lambda each: -each.size)
