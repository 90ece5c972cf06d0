"""Inference: pre-processing, the model in evaluation mode, and post-processing, for one sample, many, or a stream (R6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Graph
from labdl.infer.engine import Engine, as_model, input_count, split
from labdl.infer.postprocess.processor import PostProcessor
from labdl.infer.sources import columns_of, is_dataset, lists_of, stacked
from labdl.infer.steps import Steps
from labdl.nn.module import Module
from labdl.ops.infix import neutral

_WIDTHS = ("float16", "float32", "float64")


@dataclass(frozen=True, eq=False)
class Prepared:
    """What pre-processing gives where post-processing must know something of the sample.

    ``inputs`` is what the model takes: an array, or a tuple of them. ``settings`` are the post-processor's for this sample
    alone, such as ``{"original_size": (480, 640)}``; those that it does not have are left out.
    """

    inputs: Any
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs of a batch as the model takes them, and the post-processor's settings of single samples, if there are any."""

    inputs: tuple[np.ndarray, ...]
    settings: Sequence[Mapping[str, Any]] = ()


class Inference:
    """Answers of a model for samples as they come: what prepares them, the model, and what reads its outputs.

    ``model`` is a Module, a Graph, or the path of a saved model. ``preprocess`` is a function sample -> array (a tuple of
    arrays for a model of several inputs, or a `Prepared`), or a sequence of functions that follow each other.
    ``postprocess`` is a name such as "classification", an object such as ``Detection(threshold=0.3)``, a function
    output -> result, or a sequence of them; without it a result is the output itself. ``backend`` is where a saved or an
    unbuilt model is put, and to which a built one is moved; ``compiled`` is None for the backend's own default.

    Settings given to a call go to the post-processor: ``inference.infer_one(image, threshold=0.3)``. The model is in
    evaluation mode while it computes and as it was before afterwards; several threads may call at once. A subclass may
    change `preprocess`, `forward` and `postprocess` (T/AII 008-2023, 6.2.3.3).

    Raises ConfigError for a setting that does not exist or does not fit, FileNotFoundError and FileFormatError for files.
    """

    def __init__(self, model: Module | Graph | str | Path, *,
                 preprocess: Callable[[Any], Any] | Sequence[Callable[[Any], Any]] | None = None,
                 postprocess: str | Mapping[str, Any] | PostProcessor | Callable[[Any], Any] | Sequence[Any] | None = None,
                 backend: str | None = None, batch_size: int = 32, compiled: bool | str | None = None):  # fmt: skip
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size!r}")
        self.model = as_model(model, backend)
        self.batch_size = batch_size
        self.preprocessing = _functions(preprocess)
        self.postprocessing = Steps(postprocess)
        own = type(self).forward is Inference.forward
        self._engine = Engine(
            self.model, backend=backend, compiled=compiled, function=None if own else neutral(self.forward)
        )

    # -- what a subclass may change

    def preprocess(self, sample: Any) -> Any:
        """What the model takes for a sample: an array, a tuple of arrays, or a `Prepared` around it."""
        for function in self.preprocessing:
            if isinstance(sample, Prepared):
                inner = function(sample.inputs)
                more = inner if isinstance(inner, Prepared) else Prepared(inner)
                sample = Prepared(more.inputs, {**sample.settings, **more.settings})
            else:
                sample = function(sample)
        return sample

    def forward(self, *inputs):
        """Outputs of the model for a batch, as tensors of its backend."""
        return self.model(*inputs)

    def postprocess(self, output: Any, settings: Mapping[str, Any]) -> Any:
        """The result for the outputs of one sample: an array, or a tuple of arrays."""
        return self.postprocessing(output, settings)

    # -- inference

    def infer_one(self, sample: Any, **settings) -> Any:
        """The result for one sample (T/AII 008-2023, table B.13); ``settings`` are the post-processor's for this call."""
        self.postprocessing.check(settings)
        return self._results(self._stacked([sample]), settings)[0]

    def infer(self, samples: Iterable[Any], **settings) -> list[Any]:
        """The results for samples, in their order (table B.14), computed in batches; see `stream` for what samples may be."""
        return list(self.stream(samples, **settings))

    def stream(self, samples: Iterable[Any], **settings) -> Iterator[Any]:
        """The results one by one as their batches are done; the next batch is read when its first result is asked for.

        ``samples`` is any iterable of samples: a list, a generator without end, an array (N, ...); a data set, or a loader
        of batches as `labdl.data.Loader` is one. Data sets and loaders may hold targets behind the model's inputs, which
        are left out. Unknown settings raise ConfigError at once, not with the first result.
        """
        self.postprocessing.check(settings)
        return self._stream(samples, settings)

    def _stream(self, samples: Iterable[Any], settings: Mapping[str, Any]) -> Iterator[Any]:
        if isinstance(samples, np.ndarray):
            for at in range(0, len(samples), self.batch_size):
                yield from self._results(self.prepared((samples[at : at + self.batch_size],)), settings)
        elif is_dataset(samples):
            for columns in columns_of(samples, self.batch_size):
                yield from self._results(self.prepared(columns[: self.input_count]), settings)
        else:
            for batch in lists_of(samples, self.batch_size):
                yield from self._results(self._stacked(batch), settings)

    def _results(self, batch: Batch, settings: Mapping[str, Any]) -> list[Any]:
        return self.read(self._engine.arrays(batch.inputs), batch, settings)

    # -- its steps for one batch, as the evaluator takes them

    @property
    def input_count(self) -> int:
        """How many arrays of a data set are inputs; those behind them are targets."""
        return input_count(self.model)

    @property
    def native(self):
        """The backend that computes."""
        return self._engine.native

    def prepared(self, columns: Sequence[Any]) -> Batch:
        """What the model takes, from an array or a list for each input of all samples of a batch."""
        if not self.preprocessing and type(self).preprocess is Inference.preprocess:
            return Batch(self._fitting(tuple(map(stacked, columns))))
        return self._stacked(list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True)))

    def compute(self, batch: Batch) -> AbstractContextManager[Any]:
        """The outputs of the model for a batch, as tensors of its backend for as long as a ``with`` lasts."""
        return self._engine.tensors(batch.inputs)

    def read(self, outputs: Any, batch: Batch, settings: Mapping[str, Any]) -> list[Any]:
        """The result of each sample, from outputs as NumPy arrays."""
        samples = split(outputs, len(batch.inputs[0]))
        if not self.postprocessing.steps and type(self).postprocess is Inference.postprocess:
            return samples
        return [self.postprocess(output, {**batch.settings[at], **settings} if batch.settings else settings)
                for at, output in enumerate(samples)]  # fmt: skip

    def _stacked(self, samples: Sequence[Any]) -> Batch:
        rows, own, known = [], [], self.postprocessing.names
        for sample in samples:
            made = self.preprocess(sample)
            more = made.settings if isinstance(made, Prepared) else {}
            made = made.inputs if isinstance(made, Prepared) else made
            own.append({name: value for name, value in more.items() if name in known})
            rows.append(made if isinstance(made, tuple) else (made,))
        if len({len(row) for row in rows}) > 1:
            raise ModelError("the samples of a batch have different numbers of inputs: give as many for each")
        inputs = tuple(map(stacked, zip(*rows, strict=True)))
        return Batch(self._fitting(inputs), own if any(own) else [])

    def _fitting(self, inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Inputs whose floats have the width that the model was built for: NumPy makes float64 of almost anything."""
        if not self.model.built or len(inputs) != len(self.model.input_specs):
            return inputs
        wanted = [spec.dtype if spec is not None and spec.dtype in _WIDTHS else None for spec in self.model.input_specs]
        return tuple(array.astype(dtype, copy=False) if dtype and array.dtype.kind == "f" else array
                     for array, dtype in zip(inputs, wanted, strict=True))  # fmt: skip


def _functions(value: Callable | Sequence[Callable] | None) -> list[Callable]:
    functions: list[Any] = [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
    for function in functions:
        if not callable(function):
            raise ConfigError(f"preprocess wants a function of a sample, or a sequence of them, received {function!r}")
    return functions
