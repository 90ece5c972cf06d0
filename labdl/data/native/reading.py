"""Data sets and loaders of other libraries as data sets of LabDL: `from_native`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.native.foreign_samples import as_tuple, convert_sample, has_numbers
from labdl.data.native.hugging_face import from_hugging_face
from labdl.data.native.libraries import is_hugging_face, native_source
from labdl.data.streams.iterable_dataset import IterableDataset
from labdl.errors import ConfigError, DataError

if TYPE_CHECKING:
    from labdl.backends.protocol import NativeSource


def from_native(value: Any, *, batched: bool | None = None, parallel: bool = False) -> Any:
    """A data set for one of PyTorch, TensorFlow, Paddle, MindSpore or Hugging Face, or for a loader of theirs.

    With a length and random access (``torch.utils.data.Dataset``, ``paddle.io.Dataset``, ``datasets.Dataset``) it becomes a
    `Dataset`; a stream or a loader (``IterableDataset``, ``DataLoader``, ``tf.data.Dataset``, ``keras.utils.PyDataset``,
    ``mindspore.dataset``) an `IterableDataset`; a ``datasets.DatasetDict`` a dictionary of these by split. Tensors become
    arrays, Pillow pictures `Image`; nested dictionaries, tuples and lists stay as they are. A training takes them all
    directly, on any backend: ``trainer.fit(loader)``.

    ``batched`` says whether elements are batches, which a training takes as they are; None is the rule of the library: those
    of a DataLoader, and of TensorFlow and MindSpore, are batches, others are samples. ``parallel=True`` lets threads of a
    `Loader` read several samples of a data set at once, which the libraries do not ask of it. Bytes of TensorFlow that are
    UTF-8 become strings. Columns of MindSpore become a dictionary, of which the last one is the target, or a tuple if they
    are named "column_0", "column_1" and so on.

    Example: ``pictures = data.from_native(torchvision_dataset).map(T.Resize(64))``. Raises ConfigError for other objects.
    """
    if is_hugging_face(value):
        return from_hugging_face(value)
    source = native_source(value)
    if source is None:
        raise ConfigError(
            f"from_native wants a data set or loader of PyTorch, TensorFlow, Paddle, MindSpore or Hugging Face, received "
            f"{type(value).__name__}: wrap other objects as data.SampleDataset(…) or data.IterableDataset(…)"
        )
    batched = source.batched if batched is None else batched
    if source.read is None:
        return NativeStream(source, value, batched)
    if source.length is None:
        raise ConfigError(
            f"the data set {type(value).__name__} has no length: give it a method __len__, or make it an IterableDataset"
        )
    return NativeDataset(source, value, batched, parallel)


def is_native(value: Any) -> bool:
    """Whether `from_native` takes a value."""
    return is_hugging_face(value) or native_source(value) is not None


class NativeDataset(Dataset):
    """A data set of another library, read by index; see `from_native`."""

    def __init__(self, source: NativeSource, value: Any, batched: bool, parallel: bool):
        self.native, self.batched, self.parallel = value, batched, parallel
        self._source = source
        self.name, self.classes = source.name or _name(value), _class_names(value)
        self.inputs, self.targets = (_names(getattr(value, name, ())) for name in ("inputs", "targets"))

    def __len__(self) -> int:
        return self._source.length or 0

    def read(self, index: int, epoch: int = 0) -> Any:
        assert self._source.read is not None
        return convert_sample(self._source.read(index), self._source.convert)


class NativeStream(IterableDataset):
    """A stream or a loader of another library; see `from_native`."""

    def __init__(self, source: NativeSource, value: Any, batched: bool):
        super().__init__()
        self.native, self.batched = value, batched
        self.stream = source
        self.name, self.classes, self.endless = source.name or _name(value), _class_names(value), source.endless
        self.parallel = True  # a single thread reads the stream, others apply the maps
        if source.columns and not has_numbers(source.columns):
            self.inputs, self.targets = source.columns[:-1] or source.columns, source.columns[-1:]

    @property
    def length(self) -> int | None:
        return self.stream.length

    @property
    def restartable(self) -> bool:
        return True

    def peek(self) -> Any:
        if self._ahead is None:  # kept though it could be read again: a loader may shuffle anew
            samples = self.read(0)
            for sample in samples:
                self._ahead = sample, samples
                break
            else:
                raise DataError(f"{self.name} has no samples")
        return self._ahead[0]

    def open(self, epoch: int = 0) -> Iterator[Any]:
        if epoch:
            self._ahead = None
        return super().open(epoch)

    def read(self, epoch: int = 0) -> Iterator[Any]:
        elements, last = self.stream.open(epoch), self.stream.length
        for number, element in enumerate(elements, 1):
            if number == last:  # who takes so many does not ask for more: let the pass end, as samplers shuffle there
                next(elements, None)
            if self.stream.columns:
                element = as_tuple(element)
            element = convert_sample(element, self.stream.convert)
            yield _as_batch(element) if self.batched else element
            if number == last:
                return


def _as_batch(value: Any) -> Any:
    """The lists of collate functions as the tuples that they were made of, and lists of texts as arrays."""
    if isinstance(value, dict):
        return {name: _as_batch(v) for name, v in value.items()}
    if isinstance(value, tuple | list) and value:
        if all(isinstance(v, str) for v in value):
            return np.array(value, np.str_)
        return tuple(map(_as_batch, value))
    return value


def _name(value: Any) -> str:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else type(value).__name__


def _class_names(value: Any) -> list[str] | None:
    """The names of the classes, as torchvision's and Keras's data sets have them; those of a loader's data set."""
    for one in (value, getattr(value, "dataset", None)):
        for name in ("classes", "class_names"):
            found = getattr(one, name, None)
            if isinstance(found, list | tuple) and found and all(isinstance(c, str) for c in found):
                return list(found)
    return None


def _names(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, tuple | list) and all(isinstance(v, str) for v in value) else ()
