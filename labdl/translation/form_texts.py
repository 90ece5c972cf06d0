"""Labels of fields and first lines of docstrings in the language of a page."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).with_name("forms_zh_CN.json")
_KEYS = frozenset({"summary", "title"})


def translate_form(content: Any, language: str) -> Any:
    """An answer with forms whose labels ("title") and first lines ("summary") are in ``language``; others stay.

    A "description" that begins with its first line has that in ``language``, too.
    A text of a class that a user defined has no translation and stays as it is.

    Examples:
        >>> translate_form({"schema": {"title": "Kernel Size"}}, "zh_CN")
        {'schema': {'title': '卷积核大小'}}
    """
    return _translate(content) if language.lower().startswith("zh") else content


def _translate(content: Any, key: str = "") -> Any:
    if isinstance(content, dict):
        translated = {name: _translate(value, name) for name, value in content.items()}
        summary, text = content.get("summary"), content.get("description")
        if isinstance(summary, str) and isinstance(text, str) and text.startswith(summary):
            translated["description"] = translated["summary"] + text[len(summary) :]
        return translated
    if isinstance(content, list):
        return [_translate(value) for value in content]
    return _words().get(content, content) if key in _KEYS and isinstance(content, str) else content


@functools.cache
def _words() -> dict[str, str]:
    return json.loads(CATALOG.read_text(encoding="utf-8"))
