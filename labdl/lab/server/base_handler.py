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

from labdl.errors import ConfigError, FileFormatError
from labdl.lab.messages.base import Message, read, write
from labdl.runs.metadata import is_sweep
from labdl.runs.reading.event_file import EVENTS
from labdl.saving import paths

BODY_LIMIT = 32 * 1024 * 1024
MESSAGE_LIMIT = 1000  # what came may be repeated in it, and may be anything
DEPTH_LIMIT = 64  # the settings of a layer are lists of lists at most
TOO_DEEP = "The request's body is nested more deeply than any model graph."


class Refused(web.HTTPError):
    """An HTTP error with a sentence for people."""

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.message = message if len(message) <= MESSAGE_LIMIT else f"{message[:MESSAGE_LIMIT]}…"


class LabDLHandler(APIHandler):
    """Base class of all routes: their permission, JSON bodies and answers, and errors as sentences."""

    auth_resource = "contents"  # @authorized answers 500 without it

    def write_error(self, status_code: int, **kwargs) -> None:
        error = (kwargs.get("exc_info") or (None, None))[1]
        if isinstance(error, Refused):
            self.finish(json.dumps({"message": error.message}))
        else:
            super().write_error(status_code, **kwargs)

    def answer(self, message: type[BaseModel], content: Any, *, status: int = HTTPStatus.OK) -> None:
        """Answer with the fields of a message."""
        self.send_json(write(message, content), status=status)

    def send_json(self, content: dict[str, Any], *, status: int = HTTPStatus.OK) -> None:
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(content, default=json_default, allow_nan=False))

    def request_body(self, message: type[Message]) -> Message:
        """The body of the request as a message. Raises Refused in a sentence that names a wrong field."""
        try:
            return read(message, self.body())
        except ConfigError as error:
            raise Refused(400, str(error)) from None

    def body(self) -> dict:
        if len(self.request.body) > BODY_LIMIT:
            raise Refused(413, f"The request is larger than {BODY_LIMIT // 2**20} MiB, which no model graph needs.")
        try:
            content = json.loads(self.request.body)
        except ValueError:
            raise Refused(400, "The request's body is not JSON.") from None
        except RecursionError:
            raise Refused(400, TOO_DEEP) from None
        if depth_over(content, DEPTH_LIMIT):
            raise Refused(400, TOO_DEEP)
        if not isinstance(content, dict):
            raise Refused(400, f"The request's body must be a JSON object, received {type(content).__name__}.")
        return content

    async def compute(self, function, *args):
        """Run `function` in a thread; errors about bad data become answers with status 400."""
        try:
            return await asyncio.to_thread(function, *args)
        except (FileFormatError, ValueError) as error:
            raise Refused(400, str(error)) from error
        except OverflowError as error:
            raise Refused(400, f"A number of the request is too large: {error}.") from error

    async def visible(self, path: str) -> str:
        """`path` without slashes at its ends, if Contents would show it to this person."""
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
            pass  # a name that no file can have: too long, or with a file in the place of a folder
        raise Refused(404, f"{shortened(path)} does not exist.")

    async def run_folder(self, path: str, *, expected: bool = False, sweeps: bool = False) -> Path | None:
        """The folder of a run on disk, or of a sweep where ``sweeps`` are meant too.

        None if the run is ``expected`` and has not begun.
        """
        path = await self.visible(path)
        folder = self.inside(path)
        if (folder / EVENTS).is_file() or (sweeps and is_sweep(folder)):
            return folder
        if expected:
            return None
        raise Refused(404, f"There is no training run in {shortened(path)}.")

    def inside(self, path: str) -> Path:
        """A folder on disk, which must lie inside the one that Jupyter serves."""
        root_dir = getattr(self.contents_manager, "root_dir", "")
        if not root_dir:
            raise Refused(400, "Training runs can be watched only where Jupyter serves a folder of its own disk.")
        root = Path(root_dir).resolve()
        folder = (root / path).resolve()
        if not folder.is_relative_to(root):
            raise Refused(404, f"There is no training run in {shortened(path)}.")
        return folder

    async def parameter_file(self, document: str) -> Path | None:
        """The file with the parameters of a model, on disk; None if there is none."""
        path = await self.visible(document)
        if not await ensure_async(self.contents_manager.file_exists(path)):
            raise Refused(404, f"{shortened(path)} does not exist.")
        root_dir = getattr(self.contents_manager, "root_dir", "")
        if not root_dir:
            return None  # the files lie elsewhere than on a disk of ours
        root = Path(root_dir).resolve()
        try:
            file = paths(root / path)[1].resolve()
        except (OSError, RuntimeError):  # links that lead to each other
            return None
        if not file.is_relative_to(root):
            raise Refused(404, f"The parameters of {shortened(path)} lie outside of the folder that Jupyter serves.")
        await self.visible(file.relative_to(root).as_posix())
        return file if file.is_file() else None


def depth_over(content, limit: int) -> bool:
    """Whether JSON data is nested deeper than `limit`: much that works on it calls itself for each level."""
    level = [content]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def shortened(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
