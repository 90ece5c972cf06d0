"""Routes of the Train panel: choices of the form, contents of data files, and the training code."""

import base64
import functools
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.data import SOURCES
from labdl.graph.graph import Graph
from labdl.lab.dataset_view.opened_datasets import dataset_of
from labdl.lab.editor import service
from labdl.lab.messages.training import DataFileInfo, TrainingChoices, TrainingCode, TrainingRequest
from labdl.lab.server.base_handler import LabDLHandler, RequestError, shorten
from labdl.lab.training import compatibility, data_files, options, script


class DatasetsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(TrainingChoices, await self.compute(options.choices))


_TABLE = ("target", "missing", "encode")  # settings of a table that say what is read


class _DataHandler(LabDLHandler):
    async def describe_data(self, document: str, name: str, settings: Mapping[str, Any]) -> dict | None:
        """Describe a data set of LabDL by name, or a file by its path from the document's folder; settings of a table."""
        if name in SOURCES:
            return compatibility.describe_source(name)
        path = await self.visible(posixpath.normpath(posixpath.join(posixpath.dirname(document), name)))
        if path.startswith("../") or not await ensure_async(self.contents_manager.file_exists(path)):
            raise RequestError(
                404, f"There is no data set {shorten(name)}: choose a file of the folder that Jupyter serves."
            )
        root = getattr(self.contents_manager, "root_dir", "")
        if not root:
            return None  # the files are not on a local disk
        file = (Path(root) / path).resolve()
        if not file.is_relative_to(Path(root).resolve()):
            raise RequestError(404, f"{shorten(name)} is outside of the folder that Jupyter serves.")
        try:
            data = await self.compute(dataset_of, file)
            await self.visible(data.relative_to(Path(root).resolve()).as_posix())  # that a pipeline names
            table = {name: settings[name] for name in _TABLE if isinstance(settings.get(name), str)}
            return await self.compute(functools.partial(data_files.describe_file, **table), file)
        except OSError as error:
            raise RequestError(400, f"{shorten(name)} could not be read: {error.strerror or error}.") from error


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
        code = await self.compute(script.train_code, path, settings)  # also checks the settings
        graph = await self.read_saved(path) if asked.graph is None else await self.compute(Graph.from_dict, asked.graph)
        data = await self.describe_data(path, settings["dataset"], settings)
        fit = {"inputs": [], "outputs": [], "problems": []}
        if data is not None:
            fit = await self.compute(compatibility.mismatches, graph, data, settings)
            if data.get("problem"):
                fit["problems"].append(data["problem"])
        has_parameters = await self.parameter_file(path) is not None
        if settings.get("parameters") == "saved" and not has_parameters:
            fit["problems"].append("This model has no saved parameters yet: start with new ones.")
        self.answer(TrainingCode, {**code, **fit, "has_parameters": has_parameters})

    async def read_saved(self, path: str) -> Graph:
        """The saved graph of a document."""
        get = self.contents_manager.get
        model = await ensure_async(get(path, content=True, type="file", format="base64"))
        data = base64.b64decode(model["content"])
        return Graph.from_dict(await self.compute(service.decode, data, model["name"]))
