"""SampleDataset: a data set of any object with samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labdl.data.dataset import Dataset
from labdl.data.random_keys import new_generator, takes_generator
from labdl.errors import ConfigError


class SampleDataset(Dataset):
    """A data set of any object with a length and samples, such as a list or one of PyTorch; of any function of an index.

    A function, or ``__getitem__``, with a parameter ``rng`` receives a NumPy generator for random augmentation, which depends
    on ``seed``, the epoch and the index, as in `Dataset`.

    Example: ``data.SampleDataset(lambda i: (x[i], y[i]), length=100)``.
    """

    def __init__(
        self,
        source: Any,
        *,
        length: int | None = None,
        name: str | None = None,
        classes: Sequence[str] | None = None,
        seed: int = 0,
    ):
        if callable(source) and not hasattr(source, "__getitem__"):
            if length is None:
                raise ConfigError("SampleDataset of a function wants length=, the number of samples")
            self._get, self._length = source, length
        elif hasattr(source, "__getitem__") and hasattr(source, "__len__"):
            self._get, self._length = source.__getitem__, length
        else:
            raise ConfigError(
                f"SampleDataset wants an object with a length and samples, or a function, received {type(source).__name__}"
            )
        self.source: Any = source
        self.seed, self._takes_generator = seed, takes_generator(self._get)
        self.describe_as(source)
        self.name = name or self.name
        self.classes = self.classes if classes is None else classes

    def __len__(self) -> int:
        return len(self.source) if self._length is None else self._length

    def read(self, index: int, epoch: int = 0) -> Any:
        if self._takes_generator:
            return self._get(index, rng=new_generator(self.seed, epoch, index))
        return self._get(index)
