"""A data set as a notebook widget: samples, statistics, and previews of transforms."""

from __future__ import annotations

import html
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import traitlets

from labdl.data import Pipeline
from labdl.errors import ConfigError
from labdl.lab.dataset_view import transform_list
from labdl.lab.dataset_view.kernel_objects import KernelObjects
from labdl.lab.dataset_view.service import DatasetView
from labdl.lab.dataset_view.snapshot import draw_svg, table
from labdl.lab.messages.base import read, write
from labdl.lab.messages.data import (
    DatasetRequest,
    DatasetSummary,
    MediaAnswer,
    MediaRequest,
    PreviewAnswer,
    PreviewRequest,
    SamplesAnswer,
    SamplesRequest,
    SavedPipeline,
    SavePipelineRequest,
    StatisticsAnswer,
    TransformsAnswer,
)
from labdl.lab.messages.editor import WidgetRequest
from labdl.lab.training import pipeline_data
from labdl.lab.training.defaults import EPOCHS
from labdl.lab.widgets.base import NotebookWidget
from labdl.lab.widgets.data_sources import as_parts
from labdl.lab.widgets.requests import reply_to

_THREADS = 2


class Data(NotebookWidget):
    """A data set in a notebook cell, with its samples, statistics, and previews of transforms: ``lab.Data(dataset)``.

    ``dataset`` is a data set of labdl.data, an object with ``__len__`` and ``__getitem__`` such as a list or a data set of
    PyTorch, an array or a tuple or dictionary of arrays of one length, or an iterable such as a generator, of which the
    first 200 samples are shown. A dictionary of data sets, such as that of `labdl.data.open_splits`, is shown one part at a
    time; the parts are ``view.splits``, and ``view.dataset`` is the one that trains. ``pipeline`` are the transforms that
    the page has saved: ``dataset.map(view.pipeline)``.

    Example: ``lab.Data({"train": train_set, "validation": validation_set})``.
    """

    height = traitlets.Int(560, min=240, help="Height in pixels.").tag(sync=True)

    def __init__(self, dataset: Any, *, pipeline: Pipeline | None = None, height: int = 560):
        parts = as_parts(dataset)
        self.dataset = next(iter(parts.values()))
        self.splits = {name: part for name, part in parts.items() if name}
        self.pipeline = pipeline or Pipeline([])
        objects = KernelObjects()
        self._views = {
            name: DatasetView(
                part, background=part.parallel, objects=objects, split=name, splits=self.splits, code=_code(name)
            )
            for name, part in parts.items()
        }
        super().__init__("data", height=height)
        # a data set that threads must not read answers in the thread of the cells
        parallel = all(part.parallel for part in parts.values())
        self._pool = ThreadPoolExecutor(_THREADS, "labdl-data") if parallel else None
        self._over = threading.Event()
        weakref.finalize(self, _end, self._pool, list(self._views.values()))
        self.on_msg(self._on_message)

    def close(self) -> None:
        """Remove the widget from the page; the data set remains."""
        if not hasattr(self, "_over"):
            return  # called by the garbage collector after `__init__` raised
        self._over.set()
        _end(self._pool, self._views.values())
        super().close()

    def __repr__(self) -> str:
        return f"Data({self.splits or self.dataset!r})"

    def _forms(self) -> dict[str, Any]:
        view = self._view()
        text, svg = table(view), draw_svg(view)
        self._snapshot = {"text": text} | ({} if svg is None else {"picture": svg})
        return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>{svg or ''}"}

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not isinstance(content, dict) or content.get("type") != "request":
            return
        if self._pool is None:
            self._reply(content)
        elif not self._over.is_set():
            self._pool.submit(self._reply, content)

    def _reply(self, content: dict[str, Any]) -> None:
        reply = reply_to(content, self._result, language=self._language)
        if not self._over.is_set():
            self.send(reply)

    def _result(self, asked: WidgetRequest) -> dict[str, Any]:
        """The answer to a request. Raises ConfigError for an unknown request and wrong settings."""
        fields = asked.fields()
        view = self._view(read(DatasetRequest, fields).split)
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "transforms": lambda: write(TransformsAnswer, transform_list.transforms()),
            "summary": lambda: write(DatasetSummary, view.summary()),
            "samples": lambda: write(SamplesAnswer, view.samples(read(SamplesRequest, fields))),
            "statistics": lambda: write(StatisticsAnswer, view.statistics()),
            "preview": lambda: write(PreviewAnswer, view.preview(read(PreviewRequest, fields))),
            "media": lambda: write(MediaAnswer, view.media(read(MediaRequest, fields))),
            "save": lambda: write(SavedPipeline, self._save(read(SavePipelineRequest, fields))),
        }
        if asked.name not in answers:
            raise ConfigError(f"the view can request {', '.join(answers)}, received {asked.name!r:.80}")
        return answers[asked.name]()

    def _view(self, split: str = "") -> DatasetView:
        """The view of a part, by default of the one that trains. Raises ConfigError."""
        if split and split not in self.splits:
            parts = f"has the parts {', '.join(self.splits)}" if self.splits else "has no parts"
            raise ConfigError(f"the data set {parts}, received {split!r:.40}")
        view = self._views[split] if split else next(iter(self._views.values()))
        view.pipeline = self.pipeline  # which cells may set
        return view

    def _save(self, asked: SavePipelineRequest) -> dict[str, Any]:
        view = self._view()
        pipeline = view.pipeline_of(asked.pipeline)
        view.fit(pipeline)
        self.pipeline = pipeline
        shape = pipeline_data.input_shape(self.pipeline, self.dataset)
        return {
            "path": "",
            "code": self._training_code(),
            "input_shape": shape,
            "target": pipeline_data.target_words(self.dataset),
        }

    def _training_code(self) -> str:
        """Python code that trains with the pipeline; its names are those of a cell, with the widget as `view`."""
        split = self.pipeline.split
        stratify = ", stratify=True" if split.stratify and self.dataset.classes is not None else ""
        train = _place(next(iter(self.splits))) if self.splits else "view.dataset"
        validation = "validation_set" if self.splits else "test_set"
        if "training" in self.splits and "validation" in self.splits:
            source = f"{train}, {_place('validation')}"
        else:
            source = f"{train}.split({split.fraction}, seed={split.seed}{stratify})"
        evaluated = "test" in self.splits and "training" in self.splits
        return (
            f"train_set, {validation} = {source}\n"
            f"trainer.fit(train_set.map(view.pipeline), validation={validation}.map(view.pipeline.evaluation()), "
            f"epochs={EPOCHS})\n"
        ) + (f"trainer.evaluate({_place('test')}.map(view.pipeline.evaluation()))\n" if evaluated else "")


def _code(split: str) -> str:
    """Python code for a part in a cell, with the widget as `view`."""
    return f"dataset = {_place(split)}\n" if split else ""


def _place(split: str) -> str:
    return f"view.splits[{split!r}]"


def _end(pool: ThreadPoolExecutor | None, views: Iterable[DatasetView]) -> None:
    for view in views:
        view.close()
    if pool is not None:
        pool.shutdown(wait=False, cancel_futures=True)
