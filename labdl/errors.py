"""The errors that LabDL raises, each also a subclass of the built-in error that fits (T/AII 008-2023, tables B.9 to B.11)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class LabDLError(Exception):
    """Base class of all errors that LabDL raises on purpose.

    ``place`` says where in a model it happened, if that is known: ``node``, a layer's name or None, and ``what`` of it.
    """

    place: dict[str, str | None] | None = None


class ConfigError(LabDLError, ValueError):
    """A setting or a hyper-parameter is unknown, missing or out of range."""


class ModelError(LabDLError, ValueError):
    """A model does not fit together, is not built, or gives values that are not finite."""


class GradientError(LabDLError, ArithmeticError):
    """A gradient is missing or not finite."""


class UpdateError(LabDLError, ArithmeticError):
    """An update left a parameter that is not finite."""


class StateDictError(LabDLError, KeyError):
    """Parameters in a file or dictionary do not match those of the model."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would print the sentence in quotes


class BackendError(LabDLError, ImportError):
    """A backend is unknown, not installed, or cannot be loaded in this process."""


class MissingFileError(LabDLError, FileNotFoundError):
    """A file or a data set is not there (tables B.1 and B.2)."""


class DataError(LabDLError, ValueError):
    """A sample of a data set cannot be read, or does not go with the others."""


class FileFormatError(LabDLError, ValueError):
    """A file is broken, foreign, or newer than this version of LabDL."""


class OutOfRangeError(IndexError, ValueError):
    """An axis or an index names a place that the tensor does not have, or a mask has another shape."""


def meant(received: object, names: Iterable[str]) -> str:
    """Which of the names was probably meant, as the end of a sentence; "" where none is near.

    Capital letters, a word's initials (``"mse"``) and the words loss and layer make no difference.
    """
    if not isinstance(received, str):
        return ""
    known = {name.lower().replace("_", ""): name for name in names}
    known |= {"".join(part[0] for part in name.split("_")): name for name in known.values() if "_" in name}
    word = re.sub(r"[^a-z0-9]", "", received.lower())
    found = next((known[w] for w in (word, word.removesuffix("loss"), word.removesuffix("layer")) if w in known), None)
    near = difflib.get_close_matches(word, known, 1, 0.75) if found is None else []
    return f": did you mean {found or known[near[0]]!r}?" if found or near else ""
