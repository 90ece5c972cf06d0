"""The libraries whose data sets can be converted: the frameworks by their backends, and Hugging Face datasets."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError, suggest_name

if TYPE_CHECKING:
    from labdl.backends.protocol import NativeSource, SampleSource

HUGGING_FACE = "datasets"
_KINDS = ("Dataset", "IterableDataset", "DatasetDict", "IterableDatasetDict")


def native_source(value: Any) -> NativeSource | None:
    """How to read the data set or loader of a framework; None for any other value. Imports no framework."""
    from labdl import dispatch  # imported lazily: data sets of arrays and files work without any backend

    return dispatch.source_of_native(value)


def is_hugging_face(value: Any) -> bool:
    """Whether a value is a data set of Hugging Face, or a dictionary of its splits."""
    library = sys.modules.get(HUGGING_FACE)
    kinds = [getattr(library, name, None) for name in _KINDS]
    return isinstance(value, tuple([kind for kind in kinds if isinstance(kind, type)]))


def native_dataset(library: str, samples: SampleSource, settings: Mapping[str, Any]) -> Any:
    """The samples as a data set of a framework. Raises ConfigError for other libraries, BackendError if it is missing."""
    from labdl import dispatch, framework_info

    known = (*framework_info.TRAINING, HUGGING_FACE)
    if library not in known:
        raise ConfigError(
            f"to_native wants one of {', '.join(map(repr, known))}, received {library!r:.80}"
            f"{suggest_name(str(library), list(known))}"
        )
    try:
        return dispatch.load(library).native_dataset(samples, settings)
    except TypeError as error:  # settings that the framework does not have, samples that it cannot hold
        raise ConfigError(f"{samples.name} as a data set of {framework_info.FACTS[library].title}: {error}") from error
