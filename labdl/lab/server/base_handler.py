"""Base class of the request handlers: permissions, JSON bodies and answers, paths inside the root folder, error messages."""

import asyncio
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_client.jsonutil import json_default
from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler
from pydantic import BaseModel
from tornado import web

from labdl.bounded.plain_json import depth_over
from labdl.errors import ConfigError, FileFormatError
from labdl.lab.messages.base import Message, read, write
from labdl.runs.metadata import is_sweep
from labdl.runs.reading.event_file import EVENTS
from labdl.saving import paths
from labdl.translation import translate, translate_answer

BODY_LIMIT = 32 * 1024 * 1024
MESSAGE_LIMIT = 1000  # messages may quote arbitrary input
DEPTH_LIMIT = 64  # settings of layers are at most lists of lists
TOO_DEEP = "The request's body is nested more deeply than any model graph."


class RequestError(web.HTTPError):
    """An HTTP error with a message for the user."""

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.message = message if len(message) <= MESSAGE_LIMIT else f"{message[:MESSAGE_LIMIT]}…"


class LabDLHandler(APIHandler):
    """Base class of all routes: permission, JSON bodies and answers, error messages."""

    auth_resource = "contents"  # required by @authorized

    @property
    def language(self) -> str:
        """The language of the page, which the browser names with each request; "en" where it does not."""
        return self.request.headers.get("Accept-Language", "en").split(",")[0].strip()

    def write_error(self, status_code: int, **kwargs) -> None:
        error = (kwargs.get("exc_info") or (None, None))[1]
        if isinstance(error, RequestError):
            self.finish(json.dumps({"message": translate(error.message, self.language)}))
        else:
            super().write_error(status_code, **kwargs)

    def answer(self, message: type[BaseModel], content: Any, *, status: int = HTTPStatus.OK) -> None:
        """Answer with the fields of a message."""
        self.send_json(write(message, content), status=status)

    def send_json(self, content: dict[str, Any], *, status: int = HTTPStatus.OK) -> None:
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        shown = translate_answer(content, self.language)
        self.finish(json.dumps(shown, default=json_default, allow_nan=False))

    def request_body(self, message: type[Message]) -> Message:
        """The body of the request as a message. Raises RequestError that names a wrong field."""
        try:
            return read(message, self.body())
        except ConfigError as error:
            raise RequestError(400, str(error)) from None

    def body(self) -> dict:
        if len(self.request.body) > BODY_LIMIT:
            raise RequestError(
                413, f"The request is larger than {BODY_LIMIT // 2**20} MiB, which no model graph needs."
            )
        try:
            content = json.loads(self.request.body)
        except ValueError:
            raise RequestError(400, "The request's body is not JSON.") from None
        except RecursionError:
            raise RequestError(400, TOO_DEEP) from None
        if depth_over(content, DEPTH_LIMIT):
            raise RequestError(400, TOO_DEEP)
        if not isinstance(content, dict):
            raise RequestError(400, f"The request's body must be a JSON object, received {type(content).__name__}.")
        return content

    async def compute(self, function, *args):
        """Run `function` in a thread; errors about bad data become answers with status 400."""
        try:
            return await asyncio.to_thread(function, *args)
        except (FileFormatError, ValueError) as error:
            raise RequestError(400, str(error)) from error
        except OverflowError as error:
            raise RequestError(400, f"A number of the request is too large: {error}.") from error

    async def visible(self, path: str) -> str:
        """`path` without slashes at its ends, if the contents manager shows it to this user."""
        path = path.strip("/")
        contents = self.contents_manager
        try:
            if (
                path
                and "\0" not in path
                and (contents.allow_hidden or not await ensure_async(contents.is_hidden(path)))
            ):
                return path
        except OSError:
            pass  # an impossible path: too long, or with a file as a folder
        raise RequestError(404, f"{shorten(path)} does not exist.")

    async def run_folder(self, path: str, *, expected: bool = False, sweeps: bool = False) -> Path | None:
        """The folder of a run on disk, or of a sweep if ``sweeps``.

        None if the run is ``expected`` and has not started.
        """
        path = await self.visible(path)
        folder = self.inside(path)
        if (folder / EVENTS).is_file() or (sweeps and is_sweep(folder)):
            return folder
        if expected:
            return None
        raise RequestError(404, f"There is no training run in {shorten(path)}.")

    def inside(self, path: str) -> Path:
        """A folder on disk, which must be inside Jupyter's root folder."""
        root_dir = getattr(self.contents_manager, "root_dir", "")
        if not root_dir:
            raise RequestError(400, "Training runs can be watched only if Jupyter serves a local folder.")
        root = Path(root_dir).resolve()
        folder = (root / path).resolve()
        if not folder.is_relative_to(root):
            raise RequestError(404, f"There is no training run in {shorten(path)}.")
        return folder

    async def parameter_file(self, document: str) -> Path | None:
        """The file with the parameters of a model, on disk; None if there is none."""
        path = await self.visible(document)
        if not await ensure_async(self.contents_manager.file_exists(path)):
            raise RequestError(404, f"{shorten(path)} does not exist.")
        root_dir = getattr(self.contents_manager, "root_dir", "")
        if not root_dir:
            return None  # the files are not on a local disk
        root = Path(root_dir).resolve()
        try:
            file = paths(root / path)[1].resolve()
        except (OSError, RuntimeError):  # a cycle of links
            return None
        if not file.is_relative_to(root):
            raise RequestError(404, f"The parameters of {shorten(path)} are outside of the folder that Jupyter serves.")
        await self.visible(file.relative_to(root).as_posix())
        return file if file.is_file() else None


def shorten(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
