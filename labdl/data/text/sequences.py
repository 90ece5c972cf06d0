"""Data sets of tokens: blocks of one long text for language models, and pairs of texts for translation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import open_file
from labdl.data.dataset import Dataset
from labdl.data.flow.entries import find_entry
from labdl.data.parts import TokenIds
from labdl.data.text.tokenizer import Tokenizer
from labdl.data.text.vocabulary import texts_of
from labdl.errors import ConfigError, DataError, FileFormatError

_TOGETHER = 1000  # texts that the library encodes side by side


def join_tokens(
    texts: Iterable[Any],
    tokenizer: Any = None,
    *,
    separator: int | None = None,
    key: str | None = None,
    file: str | Path | None = None,
) -> np.ndarray:
    """All texts as one array of numbers (tokens,) int64, with the number ``separator`` behind each.

    ``texts`` are texts, or samples of a data set, of which ``key`` names the text. Without a tokenizer, they are sequences
    of numbers already. ``file`` is an .npy file that the numbers are written to, and mapped from, for texts that are larger
    than the memory. Example: ``data.text.join_tokens(data.TextDataset("corpus.txt"), tokenizer, file="corpus.npy")``.
    """
    end = np.zeros(0, "int64") if separator is None else np.array([separator], "int64")
    parts = (part for ids in _encode(texts, tokenizer, key) for part in (np.asarray(ids, "int64"), end))
    if file is not None:
        _write_tokens(parts, Path(file))
        return np.load(file, mmap_mode="r")
    joined = list(parts)
    return np.concatenate(joined) if joined else np.zeros(0, "int64")


def _encode(texts: Iterable[Any], tokenizer: Any, key: str | None) -> Iterator[Any]:
    if tokenizer is None:
        yield from texts
        return
    plain = texts_of(texts, key)
    if not isinstance(tokenizer, Tokenizer):
        for text in plain:
            yield tokenizer.encode(text, add_special_tokens=False)
        return
    while some := list(islice(plain, _TOGETHER)):
        yield from tokenizer.encode_many(some)


def _write_tokens(parts: Iterable[np.ndarray], file: Path) -> None:
    """Write an .npy file whose length is known at its end; NumPy leaves room for it in the header."""
    with replace_files(file) as (stream,):
        header = {"descr": "<i8", "fortran_order": False, "shape": (0,)}
        np.lib.format.write_array_header_1_0(stream, header)
        start, count = stream.tell(), 0
        for part in parts:
            stream.write(part.astype("<i8").tobytes())
            count += len(part)
        stream.seek(0)
        np.lib.format.write_array_header_1_0(stream, header | {"shape": (count,)})
        assert stream.tell() == start
        stream.seek(0, 2)


def sequence_lengths(dataset: Any, key: str | None = None) -> np.ndarray:
    """The number of tokens of each sample (N,), for `labdl.data.samplers.BucketSampler`: all samples are read once.

    ``key`` names the sequence in a dictionary, by default its first TokenIds or Tokens. Example:
    ``train.loader(batch_sampler=data.samplers.BucketSampler(data.text.sequence_lengths(train), 32), pad=0)``.
    """
    return np.array([_length_of(dataset[at], key) for at in range(len(dataset))], "int64")


def _length_of(sample: Any, key: str | None) -> int:
    from labdl.data.transforms.transform import iterate_parts

    if key is not None and isinstance(sample, dict) and key in sample:
        return len(sample[key])
    part = next((part for part in iterate_parts(sample) if isinstance(part, TokenIds)), None)
    if part is None and isinstance(sample, dict):
        part = next((part for part in sample.values() if isinstance(part, list)), None)
    if part is None or key is not None:
        raise DataError(f"a sample without tokens{f' in {key!r:.60}' if key else ''}: {sample!r:.100}")
    return len(part)


class TokenBlocks(Dataset):
    """Blocks of a long sequence of tokens as pairs of input and target, the target being one token further.

    ``ids`` (tokens,) is any array of integers, or the path of an .npy file, which stays on disk; block ``i`` starts at
    ``i * stride`` (``stride`` is ``length`` by default), and what does not fill a block at the end is left out. Example:
    ``data.text.TokenBlocks(data.text.join_tokens(texts, tokenizer), length=128)``.
    """

    def __init__(self, ids: Any, length: int, *, stride: int | None = None):
        if length < 1 or (stride is not None and stride < 1):
            raise ConfigError(f"TokenBlocks wants length and stride of at least 1, received {length} and {stride}")
        self.file = Path(ids) if isinstance(ids, str | Path) else None
        self.ids = self._open() if self.file else ids if isinstance(ids, np.ndarray) else np.asarray(ids)
        if self.ids.ndim != 1 or self.ids.dtype.kind not in "iu":
            raise DataError(
                f"TokenBlocks wants integers (tokens,), received {self.ids.dtype} of the shape {self.ids.shape}"
            )
        self.length, self.stride = length, stride or length
        self.name = self.file.stem if self.file else "tokens"

    def _open(self) -> np.ndarray:
        assert self.file is not None
        open_file(self.file).close()
        try:
            return np.load(self.file, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise FileFormatError(f"{self.file.name} is no .npy file of numbers: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "ids": None} if self.file else self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.file:
            self.ids = self._open()

    def __len__(self) -> int:
        return max(0, (len(self.ids) - self.length - 1) // self.stride + 1)

    def read(self, index: int, epoch: int = 0) -> tuple[np.ndarray, np.ndarray]:
        at = index * self.stride
        block = np.asarray(self.ids[at : at + self.length + 1], "int64")
        return block[:-1], block[1:]


class TranslationPairs(Dataset):
    """Pairs of texts as tokens: a dictionary of "source", "decoder_input" (begin and text) and "target" (text and end).

    ``begin`` and ``end`` are tokens of the target's tokenizer. Each sequence is cut at ``max_length`` tokens, the end
    kept. Example: ``data.text.TranslationPairs(english, german, tokenizer, max_length=64)``; `from_dataset` for files.
    """

    inputs, targets = ("source", "decoder_input"), ("target",)

    def __init__(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        tokenizer: Any,
        target_tokenizer: Any = None,
        *,
        max_length: int | None = None,
        begin: str = "<s>",
        end: str = "</s>",
    ):
        if len(sources) != len(targets):
            raise DataError(
                f"TranslationPairs wants as many targets as sources, received {len(sources)} and {len(targets)}"
            )
        if max_length is not None and max_length < 2:
            raise ConfigError(f"TranslationPairs wants a max_length of at least 2, received {max_length}")
        self.sources, self.target_texts, self.max_length = sources, targets, max_length
        self.tokenizer, self.target_tokenizer = tokenizer, target_tokenizer or tokenizer
        self._begin, self._end = self.target_tokenizer.id_of(begin), self.target_tokenizer.id_of(end)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        tokenizer: Any,
        target_tokenizer: Any = None,
        *,
        source: str = "source",
        target: str = "target",
        **settings: Any,
    ) -> TranslationPairs:
        """The pairs of a data set of two texts, such as `data.ParallelTextDataset`, or a TextDataset of two columns.

        Example: ``TranslationPairs.from_dataset(data.TextDataset("pairs.csv", text=("en", "de")), tokenizer, source="en",
        target="de")``.
        """
        pairs = cls(_Entry(dataset, source), _Entry(dataset, target), tokenizer, target_tokenizer, **settings)  # type: ignore[arg-type]
        pairs.name = getattr(dataset, "name", "")
        return pairs

    def __len__(self) -> int:
        return len(self.sources)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        most = self.max_length
        source = self.tokenizer.encode(self.sources[index], add_special_tokens=False, max_length=most)
        target = self.target_tokenizer.encode(
            self.target_texts[index], add_special_tokens=False, max_length=None if most is None else most - 1
        )
        return {
            "source": source,
            "decoder_input": TokenIds([self._begin, *target]),
            "target": TokenIds([*target, self._end]),
        }


class _Entry:
    """One entry of the samples of a data set, as a sequence."""

    def __init__(self, dataset: Any, name: str):
        self.dataset, self.name = dataset, name

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> str:
        return str(find_entry(self.dataset[index], self.name))
