"""The errors that LabDL raises, each also a subclass of the built-in error that fits (T/AII 008-2023, tables B.9 to B.11)."""


class LabDLError(Exception):
    """Base class of all errors that LabDL raises on purpose."""


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
