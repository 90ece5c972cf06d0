"""The labels of fields and the first lines of docstrings that palette and forms show, from the registries.

`python scripts/form_texts.py` lists those that `labdl/translation/forms_zh_CN.json` lacks, `--all` every one.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labdl.lab.editor import service
from labdl.lab.training import options
from labdl.translation.form_texts import CATALOG

ROOT = Path(__file__).parents[1]


def form_texts() -> set[str]:
    """First lines and labels of the layers of the palette, and of the choices of a training."""
    palette = [layer for layer in service.layers()["layers"] if layer["palette"]]
    return {text for part in (palette, options.choices()) for text in _texts(part)}


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, dict):
        for key, value in content.items():
            if key in ("summary", "title") and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)


def main() -> None:
    """Print what has no translation."""
    words = {} if "--all" in sys.argv else json.loads(CATALOG.read_text(encoding="utf-8"))
    for text in sorted(form_texts() - words.keys()):
        print(text)


if __name__ == "__main__":
    main()
