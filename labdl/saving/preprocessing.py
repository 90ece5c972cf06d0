"""The preprocessing of a saved model: a pipeline of data transforms as plain values."""

from __future__ import annotations

import warnings
from typing import Any

from labdl.errors import LabDLError


def preprocessing_dict(preprocessing: Any) -> dict[str, Any] | None:
    """Plain values of a pipeline or a transform, None for None. Raises ConfigError for functions, which no file holds."""
    if preprocessing is None:
        return None
    from labdl.data.pipeline import Pipeline

    return (preprocessing if isinstance(preprocessing, Pipeline) else Pipeline(preprocessing)).to_dict()


def read_preprocessing(values: Any, name: str) -> Any:
    """The pipeline of `preprocessing_dict`; None with a warning if it cannot be used here.

    A transform of a notebook that is not defined is no reason to refuse the weights of a model.
    """
    from labdl.data.pipeline import Pipeline

    try:
        return Pipeline.from_dict(values)
    except LabDLError as error:
        warnings.warn(f"{name} has a preprocessing that cannot be used, and is read without: {error}", stacklevel=3)
        return None
