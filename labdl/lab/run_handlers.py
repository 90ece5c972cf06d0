"""Routes of training runs: their list, the events of one, what it is told, and what people write about it."""

import os
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from labdl import runs
from labdl.lab import following, runlist
from labdl.lab.handlers import LabDLHandler, Refused, shortened
from labdl.runs import control
from labdl.runs.eventfile import EVENTS

WORDS = {"name": str, "tags": list, "note": str}


class RunHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def delete(self):
        """Through the contents manager, so that what it does with deleted files holds for runs: it may have a trash."""
        path = self.get_query_argument("path").strip("/")
        folder = await self.run_folder(path)
        if await self.compute(runlist.is_alive, folder):
            raise Refused(409, f"{shortened(path)} is under way: stop it before you delete it.")
        try:
            await ensure_async(self.contents_manager.delete(path))
        except (web.HTTPError, OSError) as error:
            reason = getattr(error, "log_message", None) or str(error)
            if "not empty" in reason:
                reason = (
                    "this Jupyter has no trash, and deletes folders only with FileContentsManager.always_delete_dir"
                )
            raise Refused(409, f"{shortened(path)} could not be deleted: {reason}.") from error
        self.answer({})


class RunsFollowHandler(LabDLHandler):
    """What is new in the runs that a page follows; it waits until there is something."""

    _track_activity = False  # a page left open must not keep an idle server alive

    @web.authenticated
    @authorized("read")
    async def post(self):
        content = self.body()
        asked, wait = self.field(content, "runs", list), content.get("wait", 0)
        if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= following.LONGEST:
            raise Refused(400, f"'wait' is 0 to {following.LONGEST:g} seconds, received {wait!r:.80}.")
        if not 0 < len(asked) <= following.MOST:
            raise Refused(400, f"'runs' wants 1 to {following.MOST} runs, received {len(asked)}.")
        runs = [await self.followed(one) for one in asked]
        answer = await following.follow(runs, wait)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "no-store")
        self.finish(answer)

    async def followed(self, one: Any) -> following.Followed:
        """One of the runs that were asked for, which need not have begun."""
        if not isinstance(one, dict):
            raise Refused(400, f"A run is an object with its 'path', received {one!r:.80}.")
        path, offset, alive, kinds = (one.get(key) for key in ("path", "offset", "alive", "kinds"))
        if type(offset) is not int or not 0 <= offset < 2**63 or not isinstance(alive, bool | None):
            raise Refused(
                400, f"A run has an 'offset' in bytes and 'alive', true, false or null, received {one!r:.80}."
            )
        if not isinstance(kinds, list | None) or not all(isinstance(kind, str) for kind in kinds or ()):
            raise Refused(400, f"'kinds' are names of events, received {kinds!r:.80}.")
        path = self.field(one, "path")
        try:
            folder = self.inside(await self.visible(path))
        except web.HTTPError:  # the others are followed all the same
            folder = None
        return following.Followed(path, folder, offset, alive, tuple(kinds or ()))


class RunControlHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def post(self):
        content = self.body()
        folder = await self.run_folder(self.field(content, "path"), sweeps=True)
        try:
            asked = [content.get(key) for key in ("command", "value", "id")]
            identity = await self.compute(control.append, folder, *asked)
        except OSError as error:
            raise Refused(
                500, f"The command could not be left in the run's folder: {error.strerror or error}."
            ) from error
        self.answer({"id": identity}, status=202)


class RunsHandler(LabDLHandler):
    """The runs below a folder; a page that was answered before is told what has changed since."""

    _track_activity = False

    @web.authenticated
    @authorized
    async def get(self):
        path = self.get_query_argument("path", "").strip("/")
        folder = await self.folder_of(path)
        seen = self.get_query_argument("seen", "")
        try:
            answer = await self.compute(runlist.changes, folder, seen)
        except OSError as error:
            raise Refused(404, f"The folder {shortened(path)} could not be read: {error.strerror or error}.") from error
        self.answer({"folder": path} | answer)

    async def folder_of(self, path: str) -> Path:
        """A folder that Contents would show; the empty path is the root."""
        if path:
            path = await self.visible(path)
        if not await ensure_async(self.contents_manager.dir_exists(path)):
            raise Refused(404, f"The folder {shortened(path)} does not exist.")
        return self.inside(path)


class RunFindHandler(LabDLHandler):
    """Where, seen from the root that Jupyter serves, the folder of runs lies that the output of a cell names."""

    @web.authenticated
    @authorized
    async def get(self):
        beside, folder = self.get_query_argument("beside", ""), self.get_query_argument("folder", "")
        notebook = self.get_query_argument("notebook", "").strip("/").rpartition("/")[0]
        for path in ((PurePosixPath(notebook) / beside).as_posix() if beside else "", self.from_root(folder)):
            with suppress(web.HTTPError):
                if path and (found := await self.there(os.path.normpath(path))):
                    self.answer({"path": found})
                    return
        self.answer({"path": None})

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
    """A run as notebooks keep it."""

    @web.authenticated
    @authorized
    async def get(self):
        folder = await self.run_folder(self.get_query_argument("path"))
        record = await self.compute(runs.open, folder)
        self.answer({"svg": await self.compute(record.to_svg), "final": not record.alive})


class RunAboutHandler(LabDLHandler):
    """Name, tags and note. What is sent as `before` must still be so: another page may have written meanwhile."""

    @web.authenticated
    @authorized
    async def put(self):
        content = self.body()
        folder = await self.run_folder(self.field(content, "path"))
        words = {key: self.field(content, key, kind) for key, kind in WORDS.items() if key in content}
        if not words:
            raise Refused(400, "The request needs one of 'name', 'tags' and 'note'.")
        before = self.field(content, "before", dict) if "before" in content else None
        try:
            done, now = await self.compute(runlist.write, folder, words, before)
        except OSError as error:
            raise Refused(
                500, f"What was written about the run could not be kept: {error.strerror or error}."
            ) from error
        self.answer({"done": done, "about": now})


class RunCodeHandler(LabDLHandler):
    @web.authenticated
    @authorized
    async def get(self):
        folder = await self.run_folder(self.get_query_argument("path"))
        self.answer({"files": await self.compute(runlist.code, folder)})


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
