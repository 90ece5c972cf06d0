"""The Jupyter server's side of the editor: REST routes under `<base>/labdl`, and nothing that computes."""

import asyncio
import base64
import json
from functools import partial
from http import HTTPStatus
from pathlib import Path

from jupyter_client.jsonutil import json_default
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from labdl.errors import FileFormatError
from labdl.lab import runfolder, service
from labdl.train import control

SUFFIX = ".labdl"
BODY_LIMIT = 32 * 1024 * 1024


class Refused(web.HTTPError):
    """A request that we cannot serve, with the sentence that a person reads."""

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.message = message


class LabDLHandler(APIHandler):
    """What all our routes share: the permission they need, JSON in and out, and errors as sentences."""

    auth_resource = "contents"  # @authorized answers 500 without it

    def write_error(self, status_code: int, **kwargs) -> None:
        error = (kwargs.get("exc_info") or (None, None))[1]
        if isinstance(error, Refused):
            self.finish(json.dumps({"message": error.message}))
        else:
            super().write_error(status_code, **kwargs)

    def answer(self, content: dict, *, status: int = HTTPStatus.OK) -> None:
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(content, default=json_default, allow_nan=False))

    def body(self) -> dict:
        if len(self.request.body) > BODY_LIMIT:
            raise Refused(413, f"The request is larger than {BODY_LIMIT // 2**20} MiB, which no model graph needs.")
        try:
            content = json.loads(self.request.body)
        except ValueError:
            raise Refused(400, "The request's body is not JSON.") from None
        if not isinstance(content, dict):
            raise Refused(400, f"The request's body must be a JSON object, received {type(content).__name__}.")
        return content

    def field(self, content: dict, name: str, kind: type = str):
        if not isinstance(content.get(name), kind):
            raise Refused(400, f"The request needs {name!r} ({kind.__name__}), received {content.get(name)!r:.80}.")
        return content[name]

    async def compute(self, function, *args):
        """Run `function` beside the server's loop; what it says about bad data becomes our answer."""
        try:
            return await asyncio.to_thread(function, *args)
        except (FileFormatError, ValueError) as error:
            raise Refused(400, str(error)) from error

    async def visible(self, path: str) -> str:
        """`path` without slashes at its ends, if Contents would show it to this person."""
        path = path.strip("/")
        contents = self.contents_manager
        if not path or (not contents.allow_hidden and await ensure_async(contents.is_hidden(path))):
            raise Refused(404, f"{path!r} does not exist.")
        return path

    async def run_folder(self, path: str, *, expected: bool = False) -> Path | None:
        """The folder of a run on disk; None if the run is `expected` and has not begun."""
        path = await self.visible(path)
        root_dir = getattr(self.contents_manager, "root_dir", "")
        if not root_dir:
            raise Refused(400, "Training runs can be watched only where Jupyter serves a folder of its own disk.")
        root = Path(root_dir).resolve()
        folder = (root / path).resolve()
        if folder.is_relative_to(root):
            if (folder / runfolder.EVENTS).is_file():
                return folder
            if expected:
                return None
        raise Refused(404, f"There is no training run in {path!r}.")


class LayersHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(service.layers))


class DatasetsHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        self.answer(await self.compute(service.datasets))


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
            model |= {"content": await self.compute(service.decode, data, model["name"]), "format": "json"}
        self.answer(model)

    @web.authenticated
    @authorized
    async def put(self):
        path = await self.visible(self.get_query_argument("path"))
        data = await self.compute(service.encode, self.field(self.body(), "content", dict))
        contents = self.contents_manager
        existed = await ensure_async(contents.file_exists(path))
        model = {"type": "file", "format": "base64", "content": base64.b64encode(data).decode("ascii")}
        saved = await ensure_async(contents.save(model, path))
        self.answer(saved | {"content": None, "format": None}, status=200 if existed else 201)

    async def read(self, path: str, *, content: bool, require_hash: bool) -> dict:
        get = partial(self.contents_manager.get, path, content=content, type="file", format="base64")
        try:
            return await ensure_async(get(require_hash=require_hash))
        except TypeError:
            # a contents manager older than jupyter_server 2.11 knows no hashes; the times of change serve then
            return await ensure_async(get())


class TrainHandler(LabDLHandler):
    @web.authenticated
    @authorized(resource="kernels")  # the answer is code for a kernel
    async def post(self):
        settings = self.body()
        path = await self.visible(self.field(settings, "path"))
        if not await ensure_async(self.contents_manager.file_exists(path)):
            raise Refused(404, f"{path!r} does not exist: save the model first.")
        settings.pop("path")
        self.answer(await self.compute(service.train_code, path, settings))


class RunHandler(LabDLHandler):
    _track_activity = False  # a page left open must not keep an idle server alive

    @web.authenticated
    @authorized
    async def get(self):
        # a page waits for a run while its framework loads: that is no error to be reported every second
        expected = self.get_query_argument("expected", "0") == "1"
        folder = await self.run_folder(self.get_query_argument("path"), expected=expected)
        offset = self.get_query_argument("offset", "0")
        if not offset.isdecimal():
            raise Refused(400, f"'offset' counts bytes, received {offset!r}.")
        if folder is None:
            self.answer({"offset": 0, "events": [], "alive": None})
        else:
            self.answer(await asyncio.to_thread(runfolder.read, folder, int(offset)))


class RunControlHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def post(self):
        content = self.body()
        folder = await self.run_folder(self.field(content, "path"))
        try:
            await self.compute(control.append, folder, content.get("command"), content.get("value"))
        except OSError as error:
            raise Refused(
                500, f"The command could not be left in the run's folder: {error.strerror or error}."
            ) from error
        self.answer({}, status=202)


ROUTES = {
    "layers": LayersHandler,
    "datasets": DatasetsHandler,
    "new": NewGraphHandler,
    "check": CheckHandler,
    "code": CodeHandler,
    "drawing": DrawingHandler,
    "graph": GraphHandler,
    "train": TrainHandler,
    "run": RunHandler,
    "run/control": RunControlHandler,
}


def keep_model_files_binary(model: dict, path: str, **_) -> None:
    """Write graph data as a model file even when it comes through Contents' own route.

    JupyterLab's "Save As" and its saving of a file deleted meanwhile pass by the document's content provider, and
    would leave a text file that nothing can open under the model's name.
    """
    if model.get("type") != "file" or not path.endswith(SUFFIX) or model.get("format") not in ("json", "text"):
        return
    content = model.get("content")
    if not content:
        return  # a new, empty file
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
