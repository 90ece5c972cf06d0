"""The view of one data set: answers to the requests of the Data panel and of `lab.Data`."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset, find_label
from labdl.data.flow.map import MappedDataset
from labdl.data.pipeline import Pipeline
from labdl.data.tables.mapped_table import MappedTable
from labdl.data.transforms.inner import Path
from labdl.errors import ConfigError, DataError, LabDLError
from labdl.lab.dataset_view import media, steps
from labdl.lab.dataset_view.kernel_objects import KernelObjects
from labdl.lab.dataset_view.part_views import describe, entries_of, kind_of, part_views
from labdl.lab.dataset_view.source import ClassIndex, label_text, read_small, sample_name, shorten_paths
from labdl.lab.dataset_view.statistics import Statistics
from labdl.lab.dataset_view.texts import LATE
from labdl.lab.messages.data import MediaRequest, PreviewRequest, SamplesRequest, Variant

_PAGE_SECONDS = 15.0  # after which the rest of a page is not read
_MOST_FITTED = 200_000  # samples that steps are fitted to when a page saves them
_FITTED_FOR_PREVIEW = 500


class DatasetView:
    """A data set as a page shows it. ``code`` is Python that opens it, ``pipeline`` the saved steps.

    What goes wrong with one sample is the problem of its view; a request fails only where it is itself wrong.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        code: str = "",
        pipeline: Pipeline | None = None,
        pipeline_file: str | None = None,
        background: bool = True,
        files: bool = True,
        objects: KernelObjects | None = None,
        split: str = "",
        splits: Mapping[str, Dataset] | None = None,
    ):
        """``files=False`` refuses steps that read files, for pages of a server.

        ``objects`` are the functions of a cell that can be steps. ``splits`` are all parts of a data set that has them, and
        ``split`` the name of this one.
        """
        self._files, self._objects, self.split, self.splits = files, objects, split, splits or {}
        self.dataset, self.code, self.pipeline_file = dataset, code, pipeline_file
        self.pipeline = pipeline or Pipeline([])
        self._previewed = Pipeline([])  # with steps that are fitted to some samples
        self.index = ClassIndex(dataset)
        self.statistics_so_far = Statistics(dataset, self.index, background=background)

    def summary(self, pipeline: Pipeline | None = None) -> dict[str, Any]:
        """Fields of the `DatasetSummary`; ``pipeline`` has the saved steps, by default those of the view."""
        return {
            "name": self.dataset.name or type(self.dataset).__name__,
            "kind": type(self.dataset).__name__,
            "samples": len(self.dataset),
            "classes": None if self.dataset.classes is None else [str(name) for name in self.dataset.classes],
            "entries": self._entries(),
            "split": self.split,
            "splits": [{"name": name, "samples": len(part)} for name, part in self.splits.items()],
            "pipeline": steps.to_json(self.pipeline if pipeline is None else pipeline, self._objects),
            "applied": self._map_steps(),
            "pipeline_file": self.pipeline_file,
            "code": self.code,
        }

    def _map_steps(self) -> list[dict[str, Any]]:
        """The steps of `Dataset.map` that the samples of a cell have passed."""
        applied: list[Any] = []
        dataset: Any = self.dataset if self._objects is not None else None
        while isinstance(dataset, MappedDataset | MappedTable):
            own = dataset.stages if isinstance(dataset, MappedTable) else dataset.pipeline.stages()
            applied, dataset = [*own, *applied], dataset.source
        return [steps.step_json(one, self._objects) for one in applied]

    def _entries(self) -> list[dict[str, Any]]:
        """The parts of the first sample that can be read."""
        for index in range(min(8, len(self.dataset))):
            try:
                return [
                    {"name": name, "kind": kind_of(name, value, self.dataset.targets), "description": describe(value)}
                    for name, value in entries_of(self.dataset.read(index))
                ]
            except Exception:  # of a reader of the user; the sample shows it
                continue
        return []

    def samples(self, asked: SamplesRequest) -> dict[str, Any]:
        """Fields of the `SamplesAnswer`."""
        chosen = self._members(asked.label)
        total = len(self.dataset) if chosen is None else len(chosen)
        places = range(asked.start, min(asked.start + asked.count, total))
        start, views = time.monotonic(), []
        for place in places:
            index = place if chosen is None else int(chosen[place])
            late = time.monotonic() - start > _PAGE_SECONDS
            views.append(self._problem(index, LATE) if late else self.sample(index, asked.size))
        return {"samples": views, "total": total}

    def _members(self, label: str | None) -> np.ndarray | None:
        if label is None:
            return None
        members = self.index.members(label)
        return self.statistics_so_far.members(label) if members is None else members

    def sample(self, index: int, size: int) -> dict[str, Any]:
        """Fields of the `SampleView` of a sample."""
        try:
            sample, full = read_small(self.dataset, index, size)
            return self._view(index, sample, size, full)
        except Exception as error:  # of a decoder or a reader of the user; shown in place of the sample
            return self._problem(index, str(error) or type(error).__name__)

    def _view(self, index: int, sample: Any, size: int, full: tuple[int, int] | None = None) -> dict[str, Any]:
        return {
            "index": index,
            "name": sample_name(self.dataset, index),
            "label": self._label(sample),
            "parts": part_views(sample, size, self.dataset.classes, self.dataset.targets, full),
        }

    def _label(self, sample: Any) -> str:
        try:
            return label_text(sample, find_label(sample, self.dataset.targets), self.dataset.classes)
        except (DataError, TypeError, ValueError):  # it has none, or one that is no number
            return ""

    def _problem(self, index: int, message: str) -> dict[str, Any]:
        problem = shorten_paths(message, self.dataset)[:500]
        return {"index": index, "name": sample_name(self.dataset, index), "label": "", "parts": [], "problem": problem}

    def statistics(self) -> dict[str, Any]:
        """Fields of the `StatisticsAnswer`."""
        return self.statistics_so_far.answer()

    def preview(self, asked: PreviewRequest) -> dict[str, Any]:
        """Fields of the `PreviewAnswer`. Raises ConfigError for what is no list of steps."""
        self._check_index(asked.index)
        pipeline, problems = self._first_steps(asked)
        if pipeline is None:
            return self._preview(asked, [], problems)
        results, failed = self._results(asked, pipeline)
        return self._preview(asked, results, failed | problems)

    def _preview(self, asked: PreviewRequest, results: list[Any], problems: Mapping[Path, str]) -> dict[str, Any]:
        listed = [
            {"step": path, "message": shorten_paths(message, self.dataset)[:500]} for path, message in problems.items()
        ]
        return {"original": self.sample(asked.index, asked.size), "results": results, "problems": listed}

    def _first_steps(self, asked: PreviewRequest | Variant) -> tuple[Pipeline | None, dict[Path, str]]:
        """The pipeline that is previewed, None where a setting of it is wrong, and what is wrong with any step."""
        if not self._files:
            steps.check_reads_no_files(asked.pipeline)
        transforms, problems = steps.read_steps(asked.pipeline, self._objects)
        shown = transforms[: asked.step]
        return None if None in shown else steps.with_phases(shown, asked.pipeline), problems

    def _preview_dataset(self, pipeline: Pipeline, asked: PreviewRequest | Variant) -> MappedDataset:
        """The data set of a preview, whose results are a sample in its first epochs. Raises what the steps raise."""
        steps.keep_fitted(pipeline, self.pipeline)
        self._fit_to_some(pipeline)
        return MappedDataset(self.dataset, steps.first_steps(pipeline, len(pipeline), asked.phase), seed=asked.seed)

    def _results(self, asked: PreviewRequest, pipeline: Pipeline) -> tuple[list[Any], dict[Path, str]]:
        """The transformed samples, and the steps that failed."""
        failed: dict[Path, str] = {}

        def fail(error: Exception) -> dict[str, Any]:
            cause = _cause(error)
            message = str(cause) or type(cause).__name__
            if path := steps.failing_step(pipeline, cause):
                failed.setdefault(path, message)
            return self._problem(asked.index, message)

        try:
            mapped = self._preview_dataset(pipeline, asked)
        except Exception as error:  # of a step that learns from data
            return [fail(error)] * asked.count, failed
        start, results = time.monotonic(), []
        for epoch in range(asked.count):
            if time.monotonic() - start > _PAGE_SECONDS:
                results.append(self._problem(asked.index, LATE))
                continue
            try:
                results.append(self._view(asked.index, mapped.read(asked.index, epoch), asked.size))
            except Exception as error:  # of a transform; shown in place of the result
                results.append(fail(error))
        return results, failed

    def pipeline_of(self, values: Any) -> Pipeline:
        """The pipeline of a page's steps. Raises ConfigError."""
        if not self._files:
            steps.check_reads_no_files(values)
        pipeline = steps.pipeline_of(values, self._objects)
        steps.keep_fitted(pipeline, self.pipeline)
        return pipeline

    def fit(self, pipeline: Pipeline) -> None:
        """Fit the steps that learn from data to the training part. Raises ConfigError for one that is too large."""
        if steps.is_fitted(pipeline):
            return
        train = self._training_part(pipeline)
        if len(train) > _MOST_FITTED:
            raise ConfigError(
                f"the training part has {len(train):,} samples, more than {_MOST_FITTED:,}: fit the pipeline in Python, "
                "with pipeline.fit(train), and save it"
            )
        try:
            pipeline.fit(train)
        except LabDLError:
            raise
        except Exception as error:  # of a reader, or of a library that learns
            raise DataError(f"the steps cannot be fitted: {str(error) or type(error).__name__}") from error

    def _training_part(self, pipeline: Pipeline) -> Dataset:
        if self.splits and "training" not in self.splits:
            raise ConfigError(
                f"steps that learn from data are fitted to the training part, and the parts are {', '.join(self.splits)}: "
                "name one of them train"
            )
        return pipeline.split_samples(self.splits or self.dataset)[0]

    def _fit_to_some(self, pipeline: Pipeline) -> None:
        """Fit a pipeline to some samples of the training part, enough for a preview."""
        if steps.is_fitted(pipeline):
            return
        steps.keep_fitted(pipeline, self._previewed)
        if not steps.is_fitted(pipeline):
            pipeline.fit(self._training_part(pipeline).take(_FITTED_FOR_PREVIEW))
            self._previewed = pipeline

    def media(self, asked: MediaRequest) -> dict[str, Any]:
        """Fields of the `MediaAnswer`: a sound, a clip or a picture of a sample, or of a result of a preview.

        Raises DataError for a sample that cannot be read or transformed, ConfigError for wrong steps and an unknown part.
        """
        self._check_index(asked.index)
        variant, pipeline = asked.variant, None
        if variant is not None:
            pipeline, problems = self._first_steps(variant)
            if pipeline is None:
                raise ConfigError(next(iter(problems.values())))
        try:
            if variant is None or pipeline is None:
                sample = self.dataset.read(asked.index)
            else:
                sample = self._preview_dataset(pipeline, variant).read(asked.index, variant.number)
        except Exception as error:  # of a reader of the user, or of a step
            cause = _cause(error)
            raise DataError(shorten_paths(str(cause) or type(cause).__name__, self.dataset)[:500]) from error
        entries = dict(entries_of(sample))
        if asked.entry not in entries:
            raise ConfigError(f"the sample has the parts {', '.join(entries)}, received {asked.entry!r:.80}")
        mime, content = media.encode(asked.entry, entries[asked.entry], self.dataset.targets)
        return {"mime": mime, "data": base64.b64encode(content).decode("ascii")}

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self.dataset):
            raise ConfigError(f"the data set has {len(self.dataset):,} samples, received the index {index:,}")

    def close(self) -> None:
        """Stop reading in the background."""
        self.statistics_so_far.close()


def _cause(error: Exception) -> BaseException:
    """The error of a transform, without the number of the sample."""
    return error.__cause__ if isinstance(error, DataError) and error.__cause__ is not None else error
