"""Exceptions, each also a subclass of the matching built-in exception (T/AII 008-2023, tables B.9 to B.11)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class LabDLError(Exception):
    """Base class of LabDL's exceptions.

    ``place`` is the location in the model, if known: ``node``, a layer's name or None, and ``what`` of it.
    """

    place: dict[str, str | None] | None = None


class ConfigError(LabDLError, ValueError):
    """A setting or a hyper-parameter is unknown, missing or out of range."""


class ArgumentError(ConfigError, TypeError):
    """A layer has no such argument, or is given one twice or not at all."""


class ModelError(LabDLError, ValueError):
    """A model is inconsistent, is not built, or gives values that are not finite."""


class UnknownValueError(ModelError, TypeError):
    """A forward reads the values of a tensor that has none yet: its shapes are inferred, or its graph is traced."""


class TensorMethodError(ModelError, AttributeError):
    """A forward uses a method or an attribute that only the tensors of one framework have."""


class GradientError(LabDLError, ArithmeticError):
    """A gradient is missing or not finite."""


class UpdateError(LabDLError, ArithmeticError):
    """An update left a parameter that is not finite."""


class StateDictError(LabDLError, KeyError):
    """Parameters in a file or dictionary do not match those of the model."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would quote the message


class BackendError(LabDLError, ImportError):
    """A backend is unknown, not installed, or cannot be loaded in this process."""


class MissingFileError(LabDLError, FileNotFoundError):
    """A file or a data set does not exist (tables B.1 and B.2)."""


class TrainingError(LabDLError, RuntimeError):
    """All trainings of a race failed."""


class DataError(LabDLError, ValueError):
    """A sample of a data set cannot be read, or is inconsistent with the others."""


class FileFormatError(LabDLError, ValueError):
    """A file is broken, foreign, or newer than this version of LabDL."""


class NotRegularFileError(OSError, FileFormatError):
    """A folder, a device, a pipe or a link in a circle stands where a file is wanted."""


class OutOfRangeError(IndexError, ValueError):
    """An axis or an index is out of range, or the shape of a mask does not match."""


def message_of(error: BaseException) -> str:
    """The message of an error; that of the operating system names the file and the reason, without an error number."""
    if isinstance(error, OSError) and error.strerror:
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        return ": ".join([*names, error.strerror])
    return str(error)


def suggest_name(received: object, names: Iterable[str]) -> str:
    """The end of an error message that suggests the most similar name; "" if none is similar.

    Case and the suffixes loss and layer are ignored; initials (``"mse"``) match the words they abbreviate.
    """
    if not isinstance(received, str):
        return ""
    known = {name.lower().replace("_", ""): name for name in names}
    known |= {"".join(part[0] for part in name.split("_")): name for name in known.values() if "_" in name}
    word = re.sub(r"[^a-z0-9]", "", received.lower())
    found = next((known[w] for w in (word, word.removesuffix("loss"), word.removesuffix("layer")) if w in known), None)
    near = difflib.get_close_matches(word, known, 1, 0.75) if found is None else []
    return f": did you mean {found or known[near[0]]!r}?" if found or near else ""


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if getattr(value, "__module__", "") == __name__]
