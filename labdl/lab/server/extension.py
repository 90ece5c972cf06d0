"""The Jupyter server extension: REST routes under `<base>/labdl`."""

import base64
import json
from contextlib import suppress
from functools import partial
from urllib.parse import quote

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from labdl.lab.editor import arrangement, inspection, parameter_renaming, python_code, service
from labdl.lab.messages.check import CheckResult
from labdl.lab.messages.editor import (
    CodeAnswer,
    ConvertAnswer,
    ConvertRequest,
    DrawingAnswer,
    ExportRequest,
    GraphRequest,
    ReadAnswer,
    ReadRequest,
    SampleCode,
    SampleRequest,
    SaveRequest,
)
from labdl.lab.messages.graph import LayersAnswer
from labdl.lab.messages.inspection import WeightsAnswer
from labdl.lab.messages.layout import LayoutAnswer, LayoutRequest
from labdl.lab.server import model_export, onnx_conversion
from labdl.lab.server.base_handler import LabDLHandler, RequestError, shorten
from labdl.lab.server.dataset_handlers import DATASET_ROUTES
from labdl.lab.server.model_files import keep_together
from labdl.lab.server.model_handlers import DiffHandler, ZooHandler, ZooModelHandler
from labdl.lab.server.run_handlers import RUN_ROUTES
from labdl.lab.server.training_handlers import DataHandler, DatasetsHandler, TrainHandler
from labdl.translation import translate_form

SUFFIX = ".labdl"
NAMES_LIMIT = 100
NOTE_LIMIT = 500  # characters of a header


class LayersHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        layers = await self.compute(service.layers)
        self.answer(LayersAnswer, translate_form(layers, self.language))


class NewGraphHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.send_json(await self.compute(service.new_graph))


class CheckHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")  # a POST only because of the size of its body
    async def post(self):
        self.answer(CheckResult, await self.compute(service.check, self.request_body(GraphRequest).graph))


class CodeHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        self.answer(CodeAnswer, await self.compute(service.code, self.request_body(GraphRequest).graph))


class LayoutHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        self.answer(LayoutAnswer, await self.compute(arrangement.layout, self.request_body(LayoutRequest)))


class ReadHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(ReadRequest)
        self.answer(ReadAnswer, await self.compute(python_code.read, asked.source, asked.graph))


class DrawingHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        self.answer(DrawingAnswer, await self.compute(service.drawing, self.request_body(GraphRequest).graph))


class GraphHandler(LabDLHandler):
    """Model files, read and written with the contents manager: its root, hidden files, hooks and checkpoints apply."""

    @web.authenticated
    @authorized
    async def get(self):
        path = await self.visible(self.get_query_argument("path"))
        content = self.get_query_argument("content", "1") != "0"
        model = await self.read(path, content=content, require_hash=self.get_query_argument("hash", "0") == "1")
        if content:
            data = base64.b64decode(model["content"])
            graph = await self.compute(service.decode, data, model["name"])
            model |= {"content": graph, "format": "json"}
            if graph.get("read_only"):
                model["writable"] = False
        self.send_json(model)

    @web.authenticated
    @authorized
    async def put(self):
        path = await self.visible(self.get_query_argument("path"))
        graph = self.request_body(SaveRequest).content
        data = await self.compute(service.encode, graph)
        contents = self.contents_manager
        folder, _, name = path.rpartition("/")
        if not await ensure_async(contents.dir_exists(folder)):
            raise RequestError(404, f"The folder {shorten(folder)} does not exist.")
        existed = await ensure_async(contents.exists(path))
        if existed and self.get_query_argument("new", "0") == "1":
            raise RequestError(409, f"{shorten(path)} already exists.")
        if existed:
            before = base64.b64decode((await self.read(path, content=True, require_hash=False))["content"])
            newer = await self.compute(service.newer, before, name)
            if newer:
                raise RequestError(409, newer)
        model = {"type": "file", "format": "base64", "content": base64.b64encode(data).decode("ascii")}
        saved = await ensure_async(contents.save(model, path))
        if existed:
            with suppress(RequestError):  # parameters outside of the root are not touched
                await self.compute(parameter_renaming.follow, await self.parameter_file(path), before, data)
        self.send_json(saved | {"content": None, "format": None}, status=200 if existed else 201)

    async def read(self, path: str, *, content: bool, require_hash: bool) -> dict:
        get = partial(self.contents_manager.get, path, content=content, type="file", format="base64")
        try:
            return await ensure_async(get(require_hash=require_hash))
        except TypeError:
            # contents managers before jupyter_server 2.11 have no hashes; modification times are compared instead
            return await ensure_async(get())


class ConvertHandler(GraphHandler):
    """Convert an ONNX file to the two files of a model beside it; other files are replaced only on request."""

    @web.authenticated
    @authorized
    async def post(self):
        asked = self.request_body(ConvertRequest)
        path = await self.visible(asked.path)
        contents = self.contents_manager
        if not path.endswith(".onnx") or not await ensure_async(contents.file_exists(path)):
            raise RequestError(404, f"There is no ONNX file {shorten(path)}.")
        paths = [path.removesuffix(".onnx") + suffix for suffix in (SUFFIX, ".npz")]
        taken = [other for other in paths if await ensure_async(contents.exists(other))]
        if taken and not asked.overwrite:
            self.answer(ConvertAnswer, {"path": None, "taken": taken})
            return
        there = await self.read(path, content=True, require_hash=False)
        made = await self.compute(onnx_conversion.convert, base64.b64decode(there["content"]), there["name"])
        for other, data in reversed(
            list(zip(paths, made, strict=True))
        ):  # the structure last, when the parameters exist
            model = {"type": "file", "format": "base64", "content": base64.b64encode(data).decode("ascii")}
            await ensure_async(contents.save(model, other))
        self.answer(ConvertAnswer, {"path": paths[0], "taken": []}, status=201)


class WeightsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        names = self.get_query_arguments("name")
        if not 0 < len(names) <= NAMES_LIMIT:
            raise RequestError(400, f"'name' wants 1 to {NAMES_LIMIT} layers, received {len(names)}.")
        file = await self.parameter_file(self.get_query_argument("path"))
        try:
            self.answer(WeightsAnswer, await self.compute(inspection.weights, file, names))
        except OSError as error:
            raise RequestError(400, f"The parameters could not be read: {error.strerror or error}.") from error


class SampleHandler(LabDLHandler):
    @web.authenticated
    @authorized(resource="kernels")  # the answer is code for a kernel
    async def post(self):
        asked = self.request_body(SampleRequest)
        path = await self.visible(asked.path)
        found = await self.compute(service.sample_code, path, asked.graph, asked.backend, asked.dataset)
        self.answer(SampleCode, found)


class ExportHandler(LabDLHandler):
    """The file of an exported model; the header X-LabDL-New-Weights says why its weights are not those of the document."""

    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(ExportRequest)
        path = await self.visible(asked.path)
        structure = await self.compute(service.encode, asked.graph)
        parameters = await self.parameter_file(path)
        stem = path.rpartition("/")[2].removesuffix(SUFFIX)
        data, name, note = await self.compute(model_export.export, structure, parameters, stem, asked.format)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-LabDL-File", quote(name))
        self.set_header("X-LabDL-New-Weights", quote(note[:NOTE_LIMIT]))
        self.finish(data)


ROUTES = {
    "layers": LayersHandler,
    "datasets": DatasetsHandler,
    "new": NewGraphHandler,
    "check": CheckHandler,
    "code": CodeHandler,
    "layout": LayoutHandler,
    "read": ReadHandler,
    "drawing": DrawingHandler,
    "export": ExportHandler,
    "graph": GraphHandler,
    "convert": ConvertHandler,
    "zoo": ZooHandler,
    "zoo/model": ZooModelHandler,
    "diff": DiffHandler,
    "train": TrainHandler,
    "data": DataHandler,
    "weights": WeightsHandler,
    "sample": SampleHandler,
    **DATASET_ROUTES,
    **RUN_ROUTES,
}


def keep_model_files_binary(model: dict, path: str, **_) -> None:
    """Write graph data as a model file also when it comes through the route of Contents.

    JupyterLab's "Save As", and saving a file that was deleted, bypass the document's content provider, and would write a
    text file that nothing can open.
    """
    content = model.get("content")
    # a shared document has the format of bytes, although the page sends the graph
    is_bytes = model.get("format") == "base64" and not str(content).startswith("{")
    if model.get("type") != "file" or not path.endswith(SUFFIX) or is_bytes or not content:
        return  # not a model file, already converted, or new and empty
    try:
        graph = json.loads(content) if isinstance(content, str) else content
        data = service.encode(graph)
    except (ValueError, TypeError) as error:
        raise RequestError(400, f"{path!r} was not saved, its content is not a model graph: {error}") from error
    model |= {"format": "base64", "content": base64.b64encode(data).decode("ascii")}


def _jupyter_server_extension_points():
    return [{"module": "labdl.lab.server.extension"}]


def _load_jupyter_server_extension(server):
    base = url_path_join(server.web_app.settings["base_url"], "labdl")
    server.web_app.add_handlers(".*$", [(url_path_join(base, route), handler) for route, handler in ROUTES.items()])
    server.contents_manager.register_pre_save_hook(keep_model_files_binary)
    keep_together(server.contents_manager)
