"""The Jupyter server's side of the editor: REST routes under `<base>/labdl`, and nothing that computes."""

import base64
import json
from contextlib import suppress
from functools import partial

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from labdl.lab import coding, converting, looking, renaming, service
from labdl.lab.handlers import LabDLHandler, Refused, shortened
from labdl.lab.model_handlers import DiffHandler, ZooHandler, ZooModelHandler
from labdl.lab.run_handlers import RUN_ROUTES
from labdl.lab.training_handlers import DataHandler, DatasetsHandler, TrainHandler

SUFFIX = ".labdl"
NAMES_LIMIT = 100


class LayersHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(service.layers))


class NewGraphHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(service.new_graph))


class CheckHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")  # a POST for the size of its body: nothing is changed
    async def post(self):
        self.answer(await self.compute(service.check, self.field(self.body(), "graph", dict)))


class CodeHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        self.answer(await self.compute(service.code, self.field(self.body(), "graph", dict)))


class ReadHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        content = self.body()
        graph = self.field(content, "graph", dict) if content.get("graph") is not None else None
        self.answer(await self.compute(coding.read, self.field(content, "source"), graph))


class DrawingHandler(LabDLHandler):
    @web.authenticated
    @authorized("read")
    async def post(self):
        self.answer(await self.compute(service.drawing, self.field(self.body(), "graph", dict)))


class GraphHandler(LabDLHandler):
    """Model files, through the contents manager: its root, hidden files, hooks and checkpoints hold for us too."""

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
        self.answer(model)

    @web.authenticated
    @authorized
    async def put(self):
        path = await self.visible(self.get_query_argument("path"))
        graph = self.field(self.body(), "content", dict)
        data = await self.compute(service.encode, graph)
        contents = self.contents_manager
        folder, _, name = path.rpartition("/")
        if not await ensure_async(contents.dir_exists(folder)):
            raise Refused(404, f"The folder {shortened(folder)} does not exist.")
        existed = await ensure_async(contents.exists(path))
        if existed and self.get_query_argument("new", "0") == "1":
            raise Refused(409, f"{shortened(path)} is there already.")
        if existed:
            before = base64.b64decode((await self.read(path, content=True, require_hash=False))["content"])
            newer = await self.compute(service.newer, before, name)
            if newer:
                raise Refused(409, newer)
        model = {"type": "file", "format": "base64", "content": base64.b64encode(data).decode("ascii")}
        saved = await ensure_async(contents.save(model, path))
        if existed:
            with suppress(Refused):  # parameters that lie elsewhere are left alone
                await self.compute(renaming.follow, await self.parameter_file(path), before, data)
        self.answer(saved | {"content": None, "format": None}, status=200 if existed else 201)

    async def read(self, path: str, *, content: bool, require_hash: bool) -> dict:
        get = partial(self.contents_manager.get, path, content=content, type="file", format="base64")
        try:
            return await ensure_async(get(require_hash=require_hash))
        except TypeError:
            # a contents manager older than jupyter_server 2.11 knows no hashes; the times of change serve then
            return await ensure_async(get())


class ConvertHandler(GraphHandler):
    """An ONNX file as a model's two files beside it, which replace others only where the person has agreed."""

    @web.authenticated
    @authorized
    async def post(self):
        content = self.body()
        path = await self.visible(self.field(content, "path"))
        contents = self.contents_manager
        if not path.endswith(".onnx") or not await ensure_async(contents.file_exists(path)):
            raise Refused(404, f"There is no ONNX file {shortened(path)}.")
        paths = [path.removesuffix(".onnx") + suffix for suffix in (SUFFIX, ".npz")]
        taken = [other for other in paths if await ensure_async(contents.exists(other))]
        if taken and content.get("overwrite") is not True:
            self.answer({"path": None, "taken": taken})
            return
        there = await self.read(path, content=True, require_hash=False)
        made = await self.compute(converting.convert, base64.b64decode(there["content"]), there["name"])
        for other, data in reversed(list(zip(paths, made, strict=True))):  # the structure last: then both are there
            model = {"type": "file", "format": "base64", "content": base64.b64encode(data).decode("ascii")}
            await ensure_async(contents.save(model, other))
        self.answer({"path": paths[0], "taken": []}, status=201)


class WeightsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        names = self.get_query_arguments("name")
        if not 0 < len(names) <= NAMES_LIMIT:
            raise Refused(400, f"'name' wants 1 to {NAMES_LIMIT} layers, received {len(names)}.")
        file = await self.parameter_file(self.get_query_argument("path"))
        try:
            self.answer(await self.compute(looking.weights, file, names))
        except OSError as error:
            raise Refused(400, f"The parameters could not be read: {error.strerror or error}.") from error


class SampleHandler(LabDLHandler):
    @web.authenticated
    @authorized(resource="kernels")  # the answer is code for a kernel
    async def post(self):
        content = self.body()
        path, graph = await self.visible(self.field(content, "path")), self.field(content, "graph", dict)
        asked = [self.field(content, key) if content.get(key) is not None else None for key in ("backend", "dataset")]
        self.answer(await self.compute(service.sample_code, path, graph, *asked))


ROUTES = {
    "layers": LayersHandler,
    "datasets": DatasetsHandler,
    "new": NewGraphHandler,
    "check": CheckHandler,
    "code": CodeHandler,
    "read": ReadHandler,
    "drawing": DrawingHandler,
    "graph": GraphHandler,
    "convert": ConvertHandler,
    "zoo": ZooHandler,
    "zoo/model": ZooModelHandler,
    "diff": DiffHandler,
    "train": TrainHandler,
    "data": DataHandler,
    "weights": WeightsHandler,
    "sample": SampleHandler,
    **RUN_ROUTES,
}


def keep_model_files_binary(model: dict, path: str, **_) -> None:
    """Write graph data as a model file even when it comes through Contents' own route.

    JupyterLab's "Save As" and its saving of a file deleted meanwhile pass by the document's content provider, and
    would leave a text file that nothing can open under the model's name.
    """
    content = model.get("content")
    # a document that several people edit has bytes for its format, though what the page sends is the graph
    is_bytes = model.get("format") == "base64" and not str(content).startswith("{")
    if model.get("type") != "file" or not path.endswith(SUFFIX) or is_bytes or not content:
        return  # not a model file, or already as it should be, or a new, empty one
    try:
        graph = json.loads(content) if isinstance(content, str) else content
        data = service.encode(graph)
    except (ValueError, TypeError) as error:
        raise Refused(400, f"{path!r} was not saved, what came is not a model graph: {error}") from error
    model |= {"format": "base64", "content": base64.b64encode(data).decode("ascii")}


def _jupyter_server_extension_points():
    return [{"module": "labdl.lab.server"}]


def _load_jupyter_server_extension(server):
    base = url_path_join(server.web_app.settings["base_url"], "labdl")
    server.web_app.add_handlers(".*$", [(url_path_join(base, route), handler) for route, handler in ROUTES.items()])
    server.contents_manager.register_pre_save_hook(keep_model_files_binary)
