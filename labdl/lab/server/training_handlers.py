"""Routes of the Train panel: choices of the form, contents of data files, and the training code."""

import base64
import dataclasses
import functools
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.data import SOURCES
from labdl.data.opening import PIPELINE_SUFFIX
from labdl.graph.graph import Graph
from labdl.lab.dataset_view.opened_datasets import dataset_of
from labdl.lab.editor import service
from labdl.lab.messages.training import DataFileInfo, TrainingChoices, TrainingCode, TrainingRequest
from labdl.lab.server.base_handler import LabDLHandler, RequestError, shorten
from labdl.lab.server.dataset_handlers import DatasetHandler
from labdl.lab.training import compatibility, data_files, options, script, task_fit
from labdl.lab.training.data_files import needs_task
from labdl.saving.structure import StructureFile
from labdl.translation import translate_form


class DatasetsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        choices = await self.compute(options.choices)
        self.answer(TrainingChoices, translate_form(choices, self.language))


_TABLE = ("target", "missing", "encode")  # settings of a table that say what is read


class _DataHandler(DatasetHandler):
    async def describe_data(self, document: str, name: str, settings: Mapping[str, Any]) -> dict | None:
        """Describe a data set of LabDL by name, or a file by its path from the document's folder; settings of a table."""
        if name in SOURCES:
            return compatibility.describe_source(name)
        path = await self.data_path(document, name)
        root = getattr(self.contents_manager, "root_dir", "")
        if not root:
            return None  # the files are not on a local disk
        file = (Path(root) / path).resolve()
        try:
            data = await self.compute(dataset_of, file)
            await self.visible(data.relative_to(Path(root).resolve()).as_posix())  # that a pipeline names
            table = {name: settings[name] for name in _TABLE if isinstance(settings.get(name), str)}
            try:
                if not needs_task(name):
                    return await self.compute(functools.partial(data_files.describe_file, **table), file)
                problem = None
            except RequestError as error:
                if not name.endswith(PIPELINE_SUFFIX):
                    raise
                problem = error.message  # of its steps: a task may train on its samples
            view = await self.view(path)
            described = await self.compute(data_files.describe_samples, file.name, view.splits or view.dataset)
            return described | {"problem": problem}
        except OSError as error:
            raise RequestError(400, f"{shorten(name)} could not be read: {error.strerror or error}.") from error

    async def data_path(self, document: str, name: str) -> str:
        """The path of a data set from the folder that Jupyter serves."""
        path = await self.visible(posixpath.normpath(posixpath.join(posixpath.dirname(document), name)))
        exists = self.contents_manager.dir_exists if name.endswith("/") else self.contents_manager.file_exists
        if path.startswith("../") or not await ensure_async(exists(path)):
            raise RequestError(
                404, f"There is no data set {shorten(name)}: choose a file of the folder that Jupyter serves."
            )
        root = getattr(self.contents_manager, "root_dir", "")
        if root and not (Path(root) / path).resolve().is_relative_to(Path(root).resolve()):
            raise RequestError(404, f"{shorten(name)} is outside of the folder that Jupyter serves.")
        return path


class DataHandler(_DataHandler):
    @web.authenticated
    @authorized
    async def get(self):
        document = await self.visible(self.get_query_argument("path"))
        settings = {name: self.get_query_argument(name, None) for name in _TABLE}
        info = await self.describe_data(document, self.get_query_argument("name"), settings)
        if info is None:
            raise RequestError(400, "Data files can be read only if Jupyter serves a local folder.")
        self.answer(DataFileInfo, info)


class TrainHandler(_DataHandler):
    @web.authenticated
    @authorized(resource="kernels")  # the answer is code for a kernel
    async def post(self):
        asked = self.request_body(TrainingRequest)
        path, settings = await self.visible(asked.path), asked.settings()
        if not await ensure_async(self.contents_manager.file_exists(path)):
            raise RequestError(404, f"{path!r} does not exist: save the model first.")
        name = settings.get("dataset")
        if settings.get("task") is None and isinstance(name, str) and needs_task(name):
            code = {"code": "", "run": ""}
        else:
            code = await self.compute(script.train_code, path, settings)  # also checks the settings
        model = await self.read_saved(path)
        if asked.graph is not None:
            model = dataclasses.replace(model, graph=await self.compute(Graph.from_dict, asked.graph))
        fit, tasks = await self.fit(path, model, settings)
        has_parameters = await self.parameter_file(path) is not None
        if settings.get("parameters") == "saved" and not has_parameters:
            fit["problems"].append("This model has no saved parameters yet: start with new ones.")
        self.answer(TrainingCode, {**code, **fit, **tasks, "has_parameters": has_parameters})

    async def fit(self, path: str, model: StructureFile, settings: Mapping[str, Any]) -> tuple[dict, dict]:
        """Whether model, data and loss fit together, and the tasks that fit model and data."""
        name = settings["dataset"]
        tasks = {"tasks": [], "tasks_problem": task_fit.arrays_problem(name), "needs_task": needs_task(name)}
        opened = None
        if name not in SOURCES and not name.endswith(".npz"):
            try:
                view = await self.view(await self.data_path(path, name))
                opened = view.splits or view.dataset
                matches = await self.run(task_fit.fit_tasks, model, name.rstrip("/"), opened)
                tasks |= {"tasks": matches.names, "tasks_problem": matches.problem}
            except RequestError as error:
                tasks["tasks_problem"] = error.message
        if settings.get("task") is not None:
            if opened is None:
                return {"inputs": [], "outputs": [], "problems": [tasks["tasks_problem"]]}, tasks
            return await self.run(task_fit.task_mismatches, model, opened, name, settings), tasks
        data = await self.describe_data(path, name, settings)
        if data is None:
            return {"inputs": [], "outputs": [], "problems": []}, tasks
        fit = await self.compute(compatibility.mismatches, model.graph, data, settings)
        if data.get("problem"):
            fit["problems"].append(data["problem"])
            tasks["needs_task"] = bool(tasks["tasks"])
        elif tasks["needs_task"]:
            problem = "Choose a task: it prepares the samples of this data set."
            fit["problems"].append(tasks["tasks_problem"] or problem)
        return fit, tasks

    async def read_saved(self, path: str) -> StructureFile:
        """The saved document."""
        get = self.contents_manager.get
        model = await ensure_async(get(path, content=True, type="file", format="base64"))
        return await self.compute(service.read, base64.b64decode(model["content"]), model["name"])
