"""Routes of the Data panel: a data set of files, its samples, statistics, previews of transforms, and its pipeline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.data.pipeline import Pipeline
from labdl.errors import LabDLError
from labdl.lab.dataset_view import opened_datasets, transform_list
from labdl.lab.dataset_view.service import DatasetView
from labdl.lab.dataset_view.texts import NO_FOLDER
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
from labdl.lab.server.base_handler import LabDLHandler, RequestError, shorten
from labdl.lab.training import pipeline_data
from labdl.lab.training.defaults import EPOCHS

_OPENED = "labdl_opened_datasets"
_EXECUTOR = ThreadPoolExecutor(3, "labdl-datasets")  # its own, so that slow data sets do not hold up the other routes


class TransformsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(TransformsAnswer, await self.compute(transform_list.transforms))


class DatasetHandler(LabDLHandler):
    """Base class of the handlers that open data sets of the folder that Jupyter serves."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function in a thread; errors of files and settings become answers in a sentence."""
        try:
            return await asyncio.get_running_loop().run_in_executor(_EXECUTOR, function, *args)
        except FileNotFoundError as error:
            raise RequestError(404, self.without_root(str(error))) from error
        except (LabDLError, ValueError) as error:
            raise RequestError(400, self.without_root(str(error))) from error
        except OSError as error:
            raise RequestError(400, f"The data set could not be read: {error.strerror or error}.") from error

    def without_root(self, message: str) -> str:
        """A message with paths from the folder that Jupyter serves."""
        return message.replace(f"{self.root()}/", "")

    def root(self) -> Path:
        """The folder that Jupyter serves."""
        root = getattr(self.contents_manager, "root_dir", "")
        if not root:
            raise RequestError(400, NO_FOLDER)
        return Path(root).resolve()

    def served_path(self, file: str) -> str:
        """The path of a file from the folder that Jupyter serves; empty for one that the file browser does not show."""
        path = Path(file)
        if not file or not path.is_relative_to(self.root()):
            return ""
        below = path.relative_to(self.root())
        hidden = any(part.startswith(".") for part in below.parts) and not self.contents_manager.allow_hidden
        return "" if hidden else below.as_posix()

    async def file(self, path: str) -> Path:
        """The folder or file of a data set, which this user may see, and so may that of a pipeline."""
        path = await self.visible(path)
        root = self.root()
        file = root / path
        if not file.resolve().is_relative_to(root):
            raise RequestError(404, f"{shorten(path)} is outside of the folder that Jupyter serves.")
        if not file.exists():
            raise RequestError(404, f"{shorten(path)} does not exist.")
        data = await self.run(opened_datasets.dataset_of, file)
        if data is not file:
            await self.visible(data.relative_to(root).as_posix())
            if not data.resolve().is_relative_to(root):
                raise RequestError(404, f"{shorten(data.name)} is outside of the folder that Jupyter serves.")
        return file

    async def view(self, path: str, split: str = "") -> DatasetView:
        """The open data set of a path, or its part."""
        file = await self.file(path)
        opened = self.settings.setdefault(_OPENED, opened_datasets.OpenedDatasets())
        return await self.run(opened.view, file, file.relative_to(self.root()).as_posix(), split)


class SummaryHandler(DatasetHandler):
    @web.authenticated
    @authorized("read")  # a POST only because of its body
    async def post(self):
        asked = self.request_body(DatasetRequest)
        view = await self.view(asked.path, asked.split)
        view.pipeline = await self.run(opened_datasets.load_pipeline, await self.file(asked.path))
        self.answer(DatasetSummary, await self.run(view.summary))


class SamplesHandler(DatasetHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(SamplesRequest)
        view = await self.view(asked.path, asked.split)
        self.answer(SamplesAnswer, await self.run(view.samples, asked))


class StatisticsHandler(DatasetHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(DatasetRequest)
        view = await self.view(asked.path, asked.split)
        answer = await self.run(view.statistics)
        broken = [{**sample, "path": self.served_path(sample["path"])} for sample in answer["broken"]]
        self.answer(StatisticsAnswer, {**answer, "broken": broken})


class PreviewHandler(DatasetHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(PreviewRequest)
        view = await self.view(asked.path, asked.split)
        self.answer(PreviewAnswer, await self.run(view.preview, asked))


class MediaHandler(DatasetHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(MediaRequest)
        view = await self.view(asked.path, asked.split)
        self.answer(MediaAnswer, await self.run(view.media, asked))


class SaveHandler(DatasetHandler):
    """Save the steps as a pipeline's file beside the data set, with the contents manager: its hooks and permissions apply."""

    @web.authenticated
    @authorized
    async def post(self):
        asked = self.request_body(SavePipelineRequest)
        view, file = await self.view(asked.path), await self.file(asked.path)
        path = await self.visible(opened_datasets.pipeline_path(file.relative_to(self.root()).as_posix()))
        pipeline, info = await self.run(_prepare, view, file, asked.pipeline)
        content = json.dumps(pipeline.to_dict(), indent=2, ensure_ascii=False) + "\n"
        model = {"type": "file", "format": "text", "content": content}
        await ensure_async(self.contents_manager.save(model, path))
        self.answer(SavedPipeline, {"path": path, "code": _code(path.rpartition("/")[2], view), **info})


def _prepare(view: DatasetView, file: Path, values: Any) -> tuple[Pipeline, dict[str, Any]]:
    """The pipeline to save, and the shape of its inputs. Raises ConfigError, and FileFormatError for a newer file."""
    former = view.pipeline = opened_datasets.load_pipeline(file)
    pipeline = view.pipeline_of(values)
    view.fit(pipeline)
    pipeline.dataset, pipeline.folder = former.dataset if former.dataset is not None else file.name, file.parent
    pipeline.to_dict()
    shape = pipeline_data.input_shape(pipeline, view.dataset)
    return pipeline, {"input_shape": shape, "target": pipeline_data.target_words(view.dataset)}


def _code(name: str, view: DatasetView) -> str:
    test = ["trainer.evaluate(pipeline.evaluation_dataset())\n"] if "test" in view.splits else []
    return "".join(
        [
            "import labdl\n\n",
            f"pipeline = labdl.data.Pipeline.load({name!r})\n",
            "train_set, validation_set = pipeline.datasets()\n",
            'trainer = labdl.Trainer(model, loss="cross_entropy", metrics=["accuracy"])\n',
            f"trainer.fit(train_set, validation=validation_set, epochs={EPOCHS})\n",
            *test,
        ]
    )


DATASET_ROUTES = {
    "dataset/transforms": TransformsHandler,
    "dataset/summary": SummaryHandler,
    "dataset/samples": SamplesHandler,
    "dataset/statistics": StatisticsHandler,
    "dataset/preview": PreviewHandler,
    "dataset/media": MediaHandler,
    "dataset/save": SaveHandler,
}
