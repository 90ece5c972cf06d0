"""The routes of the Train panel: what can be trained with, what a data file holds, and the code that trains."""

import base64
import posixpath
from pathlib import Path

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl.data import SOURCES
from labdl.graph.graph import Graph
from labdl.lab import choices, datafiles, service, suiting, training
from labdl.lab.handlers import LabDLHandler, Refused, shortened


class DatasetsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(choices.choices))


class _WithData(LabDLHandler):
    async def told(self, document: str, name: str, target: object) -> dict | None:
        """What is known of a data set: one of ours by name, or a file named from the document's folder."""
        if name in SOURCES:
            return suiting.source_told(name)
        path = await self.visible(posixpath.normpath(posixpath.join(posixpath.dirname(document), name)))
        if path.startswith("../") or not await ensure_async(self.contents_manager.file_exists(path)):
            raise Refused(
                404, f"There is no data set {shortened(name)}: choose a file of the folder that Jupyter serves."
            )
        root = getattr(self.contents_manager, "root_dir", "")
        if not root:
            return None  # the files lie elsewhere than on a disk of ours
        file = (Path(root) / path).resolve()
        if not file.is_relative_to(Path(root).resolve()):
            raise Refused(404, f"{shortened(name)} lies outside of the folder that Jupyter serves.")
        try:
            return await self.compute(datafiles.look, file, target if isinstance(target, str) else None)
        except OSError as error:
            raise Refused(400, f"{shortened(name)} could not be read: {error.strerror or error}.") from error


class DataHandler(_WithData):
    @web.authenticated
    @authorized
    async def get(self):
        document = await self.visible(self.get_query_argument("path"))
        name, target = self.get_query_argument("name"), self.get_query_argument("target", None)
        told = await self.told(document, name, target)
        if told is None:
            raise Refused(400, "Data files can be looked into only where Jupyter serves a folder of its own disk.")
        self.answer(told)


class TrainHandler(_WithData):
    @web.authenticated
    @authorized(resource="kernels")  # the answer is code for a kernel
    async def post(self):
        settings = self.body()
        path = await self.visible(self.field(settings, "path"))
        if not await ensure_async(self.contents_manager.file_exists(path)):
            raise Refused(404, f"{path!r} does not exist: save the model first.")
        settings.pop("path")
        answer = await self.compute(training.train_code, path, settings)  # which checks the settings
        given = settings.get("graph")
        graph = await self.compute(Graph.from_dict, given) if isinstance(given, dict) else await self.saved(path)
        told = await self.told(path, settings["dataset"], settings.get("target"))
        found = {"inputs": [], "outputs": [], "problems": []}
        if told is not None:
            found = await self.compute(suiting.mismatches, graph, told, settings)
        has_parameters = await self.parameter_file(path) is not None
        if settings.get("parameters") == "saved" and not has_parameters:
            found["problems"].append("There are no saved parameters of this model yet: start with new ones.")
        self.answer({**answer, **found, "has_parameters": has_parameters})

    async def saved(self, path: str) -> Graph:
        """The graph in a document that nobody has open."""
        get = self.contents_manager.get
        model = await ensure_async(get(path, content=True, type="file", format="base64"))
        data = base64.b64decode(model["content"])
        return Graph.from_dict(await self.compute(service.decode, data, model["name"]))
