"""Routes of training runs: lists, events, commands, names, tags and notes."""

import os
from contextlib import suppress
from pathlib import Path, PurePosixPath

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl import runs
from labdl.lab import runs_list
from labdl.lab.messages.runs import (
    AboutAnswer,
    AboutRequest,
    CodeFiles,
    ControlAnswer,
    ControlRequest,
    FindAnswer,
    FollowedRun,
    FollowRequest,
    PictureAnswer,
    RunsAnswer,
)
from labdl.lab.server import event_polling
from labdl.lab.server.base_handler import LabDLHandler, RequestError, shorten
from labdl.runs import control
from labdl.runs.reading.event_file import EVENTS


class RunHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def delete(self):
        """Delete a run with the contents manager, which may move it to the trash."""
        path = self.get_query_argument("path").strip("/")
        folder = await self.run_folder(path)
        if await self.compute(runs_list.is_alive, folder):
            raise RequestError(409, f"{shorten(path)} is running: stop it before you delete it.")
        try:
            await ensure_async(self.contents_manager.delete(path))
        except (web.HTTPError, OSError) as error:
            reason = getattr(error, "log_message", None) or str(error)
            if "not empty" in reason:
                reason = (
                    "this Jupyter has no trash, and deletes folders only with FileContentsManager.always_delete_dir"
                )
            raise RequestError(409, f"{shorten(path)} could not be deleted: {reason}.") from error
        self.send_json({})


class RunsFollowHandler(LabDLHandler):
    """New events of the runs that a page follows; the answer waits for some."""

    _track_activity = False  # a page left open must not keep an idle server alive

    @web.authenticated
    @authorized("read")
    async def post(self):
        asked = self.request_body(FollowRequest)
        runs = [await self.polled_run(run) for run in asked.runs]
        answer = await event_polling.poll(runs, asked.wait)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "no-store")
        self.finish(answer)

    async def polled_run(self, asked: FollowedRun) -> event_polling.PolledRun:
        """The folder of a run that a page follows, which need not exist yet."""
        try:
            folder = self.inside(await self.visible(asked.path))
        except web.HTTPError:  # the other runs are followed nevertheless
            folder = None
        return event_polling.PolledRun(asked.path, folder, asked.offset, asked.alive, tuple(asked.kinds or ()))


class RunControlHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def post(self):
        asked = self.request_body(ControlRequest)
        folder = await self.run_folder(asked.path, sweeps=True)
        if asked.command == "save_to":  # a page renames files with the contents manager, which sends it
            raise RequestError(400, "save_to is sent by renaming the model.")
        try:
            identity = await self.compute(control.append, folder, asked.command, asked.value, asked.id)
        except OSError as error:
            raise RequestError(
                500, f"The command could not be written to the run's folder: {error.strerror or error}."
            ) from error
        self.answer(ControlAnswer, {"id": identity}, status=202)


class RunsHandler(LabDLHandler):
    """The runs below a folder, or the changes since an earlier answer."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self):
        path = self.get_query_argument("path", "").strip("/")
        folder = await self.folder_of(path)
        seen = self.get_query_argument("seen", "")
        try:
            answer = await self.compute(runs_list.changes, folder, seen)
        except OSError as error:
            raise RequestError(
                404, f"The folder {shorten(path)} could not be read: {error.strerror or error}."
            ) from error
        self.answer(RunsAnswer, {"folder": path} | answer)

    async def folder_of(self, path: str) -> Path:
        """A folder that the contents manager shows; the empty path is the root."""
        if path:
            path = await self.visible(path)
        if not await ensure_async(self.contents_manager.dir_exists(path)):
            raise RequestError(404, f"The folder {shorten(path)} does not exist.")
        return self.inside(path)


class RunFindHandler(LabDLHandler):
    """The path, from the root folder of the server, of the run or folder of runs in the output of a cell."""

    @web.authenticated
    @authorized
    async def get(self):
        beside, folder = self.get_query_argument("beside", ""), self.get_query_argument("folder", "")
        notebook = self.get_query_argument("notebook", "").strip("/").rpartition("/")[0]
        for path in ((PurePosixPath(notebook) / beside).as_posix() if beside else "", self.from_root(folder)):
            with suppress(web.HTTPError):
                if path and (found := await self.there(os.path.normpath(path))):
                    self.answer(FindAnswer, {"path": found})
                    return
        self.answer(FindAnswer, {"path": None})

    def from_root(self, folder: str) -> str:
        root_dir = getattr(self.contents_manager, "root_dir", "")
        with suppress(ValueError, OSError):
            if root_dir and folder and "\0" not in folder:
                return Path(folder).resolve().relative_to(Path(root_dir).resolve()).as_posix()
        return ""

    async def there(self, path: str) -> str | None:
        if path.startswith(".."):
            return None
        path = await self.visible(path)
        folder = self.inside(path)
        several = self.get_query_argument("several", "0") == "1"
        return path if (folder.is_dir() if several else (folder / EVENTS).is_file()) else None


class RunPictureHandler(LabDLHandler):
    """The static snapshot of a run."""

    @web.authenticated
    @authorized
    async def get(self):
        folder = await self.run_folder(self.get_query_argument("path"))
        record = await self.compute(runs.open, folder)
        self.answer(PictureAnswer, {"svg": await self.compute(record.to_svg), "final": not record.alive})


class RunAboutHandler(LabDLHandler):
    """Write name, tags and note, unless they differ from `before`, because another page has changed them."""

    @web.authenticated
    @authorized
    async def put(self):
        asked = self.request_body(AboutRequest)
        folder = await self.run_folder(asked.path)
        if not asked.fields():
            raise RequestError(400, "The request needs one of 'name', 'tags' and 'note'.")
        try:
            done, now = await self.compute(runs_list.write, folder, asked.fields(), asked.before)
        except OSError as error:
            raise RequestError(
                500, f"The name, tags and note of the run could not be written: {error.strerror or error}."
            ) from error
        self.answer(AboutAnswer, {"done": done, "about": now})


class RunCodeHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        folder = await self.run_folder(self.get_query_argument("path"))
        self.answer(CodeFiles, {"files": await self.compute(runs_list.code, folder)})


RUN_ROUTES = {
    "run": RunHandler,
    "run/control": RunControlHandler,
    "runs": RunsHandler,
    "runs/follow": RunsFollowHandler,
    "runs/find": RunFindHandler,
    "runs/picture": RunPictureHandler,
    "runs/about": RunAboutHandler,
    "runs/code": RunCodeHandler,
}
