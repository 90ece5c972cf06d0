"""Data sets of LabDL as data sets of Hugging Face: columns with features, and the rows that samples become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from labdl.data.native.plain_samples import PlainSamples, plain_sample
from labdl.data.parts import Audio, Image
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError, DataError

_EXAMPLES = 8
_MOST_AXES = 5  # of Array2D to Array5D


def hugging_face_dataset(samples: Any, settings: Mapping[str, Any]) -> Any:
    """A ``datasets.Dataset`` in memory, of a stream a ``datasets.IterableDataset`` that reads it."""
    try:
        import datasets
    except ImportError:
        raise ConfigError("the library datasets of Hugging Face is not installed: pip install datasets") from None
    typed = samples.dataset  # its parts tell pictures and sounds from arrays
    features = features_of(samples)
    if not samples.indexed:
        return datasets.IterableDataset.from_generator(
            StreamedRows(typed, features), **{"features": features, **settings}
        )
    rows = (encode_row(typed.read(i), features) for i in range(len(typed)))
    columns: dict[str, list[Any]] = {name: [] for name in features}
    for row in rows:
        for name, value in row.items():
            columns[name].append(value)
    return datasets.Dataset.from_dict(columns, **{"features": features, **settings})


def features_of(samples: PlainSamples) -> Any:
    """The features of the columns, by the parts and shapes of some samples. Raises ConfigError for nested samples."""
    import datasets

    dataset = samples.dataset
    rows = [as_row(sample) for sample in samples.examples(_EXAMPLES, plain=False)]
    features = {}
    for name in rows[0]:
        values = [row.get(name) for row in rows]
        labels = name in (*dataset.targets, "label", f"column_{len(rows[0]) - 1}") and dataset.classes
        if labels and isinstance(values[0], int | np.integer) and not isinstance(values[0], bool):
            features[name] = datasets.ClassLabel(names=list(dataset.classes or ()))
        else:
            features[name] = _feature(name, values)
    return datasets.Features(features)


def as_row(sample: Any) -> dict[str, Any]:
    """The entries of a sample by name; those of tuples are "column_0", "column_1" and so on."""
    if isinstance(sample, Mapping):
        return dict(sample)
    values = sample if type(sample) is tuple else (sample,)
    return {f"column_{i}": value for i, value in enumerate(values)}


def encode_row(sample: Any, features: Any) -> dict[str, Any]:
    """A sample as values of the columns: pictures and sounds are encoded without loss."""
    row = as_row(sample)
    if row.keys() != features.keys():
        raise ConfigError(
            f"samples have different entries, {', '.join(features)} and {', '.join(map(str, row))}: columns want the same"
        )
    return {name: _encode(value, features[name]) for name, value in row.items()}


class StreamedRows:
    """A function that yields the rows of a stream; a copy is the same object, because the library hashes it by pickling."""

    _alive: ClassVar[WeakValueDictionary[int, StreamedRows]] = WeakValueDictionary()

    def __init__(self, stream: IterableDataset, features: Any):
        self.stream, self.features = stream, features
        self._alive[id(self)] = self

    def __call__(self) -> Iterator[dict[str, Any]]:
        for sample in self.stream.open():
            yield encode_row(sample, self.features)

    @classmethod
    def find(cls, number: int) -> StreamedRows:
        """The object of a number. Raises DataError in another process, which has none of them."""
        if number not in cls._alive:
            raise DataError("a stream of LabDL cannot be sent to another process: read it in the process that made it")
        return cls._alive[number]

    def __reduce__(self) -> Any:
        return StreamedRows.find, (id(self),)


def _feature(name: str, values: list[Any]) -> Any:
    import datasets

    value = next((v for v in values if v is not None), None)
    if isinstance(value, Image) and value.dtype == np.uint8 and value.shape[-1] in (1, 3, 4):
        return datasets.Image()
    if isinstance(value, Audio) and value.sample_rate:
        return {
            "array": datasets.List(datasets.List(datasets.Value(str(value.dtype)))),
            "sampling_rate": datasets.Value("int64"),
        }
    if isinstance(value, str):
        return datasets.Value("string")
    if isinstance(value, bytes):
        return datasets.Value("binary")
    plain = plain_sample(value, False)
    if not isinstance(plain, np.ndarray) or plain.dtype.kind not in "biufU":
        raise ConfigError(
            f"the entry {name} is a {type(value).__name__}, columns are arrays and strings: bring it into this form with "
            "Dataset.map"
        )
    inner = datasets.Value("string" if plain.dtype.kind == "U" else str(plain.dtype))
    if plain.ndim == 0:
        return inner
    shapes = {np.shape(v) for v in values if v is not None}
    if 2 <= plain.ndim <= _MOST_AXES and len({s[1:] for s in shapes}) == 1 and plain.dtype.kind != "U":
        kind = getattr(datasets, f"Array{plain.ndim}D")
        return kind(shape=(plain.shape[0] if len(shapes) == 1 else None, *plain.shape[1:]), dtype=str(plain.dtype))
    for _ in range(plain.ndim):
        inner = datasets.List(inner)
    return inner


def _encode(value: Any, feature: Any) -> Any:
    import datasets

    if value is None:
        return None
    if isinstance(feature, datasets.Image):
        from labdl.data.codecs.image import encode_image

        return {"bytes": encode_image(value, "png"), "path": None}
    if isinstance(feature, dict):
        return {"array": value.array.tolist(), "sampling_rate": value.sample_rate}
    plain = plain_sample(value, False)
    return plain if not isinstance(plain, np.ndarray) or plain.ndim else plain.item()
