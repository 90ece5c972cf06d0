"""A model's two files stay together: its parameters are renamed, copied and deleted with its structure.

Jupyter's contents manager knows single files. Its operations on a model file are completed with those on the parameter file
of the same name, and a training that writes this file is told its new name.
"""

from __future__ import annotations

import inspect
import os
import shutil
import zipfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from labdl.bounded.atomic_write import replace_files
from labdl.runs import control
from labdl.runs.folder import LiveStatus

SUFFIX, PARAMETERS = ".labdl", ".npz"
_RUNS = "runs"  # beside the model, as the Train panel has it


def keep_together(contents: Any) -> None:
    """Complete the operations of a contents manager. Files that are not on a local disk stay as they are."""
    if getattr(contents, "root_dir", ""):
        files = _ModelFiles(contents)
        for name in ("rename", "delete", "copy"):
            setattr(contents, name, _like(getattr(contents, name), getattr(files, name)))


def _like(original: Callable, complete: Callable[..., Coroutine]) -> Callable:
    """The operation as a function, or as a coroutine, as the contents manager has it."""
    if inspect.iscoroutinefunction(original):
        return complete

    def call(*args, **options):
        try:
            complete(*args, **options).send(None)  # never waits: nothing in it is asynchronous
        except StopIteration as end:
            return end.value
        raise RuntimeError(f"{original.__name__} of the contents manager waits, although it is no coroutine")

    return call


class _ModelFiles:
    def __init__(self, contents: Any):
        self._rename, self._delete, self._copy = contents.rename, contents.delete, contents.copy
        self._contents = contents
        self._moved: dict[Path, Path] = {}  # folders of runs with the file that they write since a renaming

    async def rename(self, old_path: str, new_path: str) -> None:
        old, new = self._parameters(old_path), self._parameters(new_path)
        if old is None or new is None or old == new:
            return await ensure_async(self._rename(old_path, new_path))
        moves = _is_parameter_file(self._place(old))
        if moves and os.path.lexists(self._place(new)):
            raise web.HTTPError(
                409, f"{new} exists already: rename or delete it first, because the parameters of {old_path} move there"
            )
        await ensure_async(self._rename(old_path, new_path))
        if moves:
            try:
                await ensure_async(self._rename(old, new))
            except Exception:
                await ensure_async(self._rename(new_path, old_path))
                raise
        self._notify_runs(self._place(old), self._place(new))
        return None

    async def delete(self, path: str) -> None:
        parameters = self._parameters(path)
        await ensure_async(self._delete(path))
        if parameters is not None and _is_parameter_file(self._place(parameters)):
            await ensure_async(self._delete(parameters))

    async def copy(self, from_path: str, to_path: str | None = None) -> dict[str, Any]:
        model = await ensure_async(self._copy(from_path, to_path))
        old, new = self._parameters(from_path), self._parameters(model.get("path", ""))
        if old is not None and new is not None and _is_parameter_file(self._place(old)):
            target = self._place(new)
            if not os.path.lexists(target):
                with open(self._place(old), "rb") as source, replace_files(target) as (file,):
                    shutil.copyfileobj(source, file)
        return model

    def _parameters(self, path: str) -> str | None:
        """The path of the parameter file of a model file; None for another file."""
        path = path.strip("/")
        if not path.endswith(SUFFIX) or ".." in path.split("/") or "\0" in path:
            return None
        return path.removesuffix(SUFFIX) + PARAMETERS

    def _place(self, path: str) -> Path:
        return Path(self._contents.root_dir, *path.split("/"))

    def _notify_runs(self, old: Path, new: Path) -> None:
        """Tell the trainings that write a parameter file its new name."""
        for folder in [*self._moved, *_folders(old.parent / _RUNS)]:
            try:
                written = self._moved.get(folder) or _written_file(folder)
                if written is not None and os.path.abspath(written) == os.path.abspath(old):
                    control.append(folder, "save_to", Path(os.path.relpath(new, folder)).as_posix())
                    self._moved[folder] = new
            except (OSError, ValueError):
                self._moved.pop(folder, None)  # the run was deleted, or its folder cannot be written


def _folders(parent: Path) -> list[Path]:
    try:
        return [entry for entry in parent.iterdir() if entry.is_dir() and not entry.is_symlink()]
    except OSError:
        return []


def _written_file(folder: Path) -> Path | None:
    """The file to which the running training of a folder writes its parameters."""
    status = LiveStatus(folder)
    if not status.alive() or status.start is None or not status.start.save_to:
        return None
    return folder / status.start.save_to


def _is_parameter_file(path: Path) -> bool:
    """Whether a file holds parameters of a model: a data set of the same name is nobody's but its owner's."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return False
    return bool(names) and all(name.endswith(":0.npy") for name in names)
