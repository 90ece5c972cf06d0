"""A model file that several people edit at once, as jupyter-collaboration wants it; it alone imports this module.

It finds the class through the entry point "labdl" of the group jupyter_ydoc while that package is being imported. So
nothing of LabDL may import this module: whoever wants the class asks `jupyter_ydoc.ydocs["labdl"]`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

from jupyter_ydoc.ybasedoc import YBaseDoc
from pycrdt import Awareness, Doc, Map

from labdl.errors import FileFormatError
from labdl.lab.collaboration import conflict_resolution, ydoc_maps
from labdl.lab.editor import service
from labdl.saving import structure


class SharedGraph(YBaseDoc):
    """The bytes of a structure file, as base64, and the maps on which the editors work.

    A file that cannot be edited, because it is broken or of a later version, keeps its bytes whatever happens to the
    maps. They lie in the map "file" with the reason, which the editors show.
    """

    def __init__(self, ydoc: Doc | None = None, awareness: Awareness | None = None):
        super().__init__(ydoc, awareness)
        self._maps = ydoc_maps.roots(self._ydoc)
        self._file = self._ydoc.get("file", type=Map)
        for shared in self._maps.values():
            self.undo_manager.expand_scope(shared)

    @property
    def version(self) -> str:
        """The version of the maps' layout; that of labextension/src/jupyter/documents/document.ts."""
        return "1.0.0"

    def get(self) -> str:
        """The bytes of the file; the same maps always give the same."""
        kept = self._file.get("content")
        if isinstance(kept, str):
            return kept
        data = structure.encode(conflict_resolution.mended(ydoc_maps.read(self._maps)))
        return base64.encodebytes(data).decode("ascii")  # with its line breaks, as Contents has it: both are compared

    def set(self, value: str) -> None:
        """Take over the bytes of the file; what they say already is not touched."""
        content, data, reason = base64.b64decode(value), None, ""
        try:
            data = service.decode(content, "This file")
            reason = data.pop("read_only", "")
            ydoc_maps.shareable(data)
        except FileFormatError as error:
            data, reason = None, str(error)
        is_first = "version" not in self._maps["meta"] and "content" not in self._file
        with self._ydoc.transaction():
            if not is_first:
                # the pages have read another file, and would take this for a conflict when somebody saves
                self.hash = hashlib.sha256(content).hexdigest()
            if data is not None:
                ydoc_maps.write(self._maps, data)
            if not reason:
                self._file.pop("content", None)
                self._file.pop("reason", None)
            elif (self._file.get("content"), self._file.get("reason")) != (value, reason):
                self._file["content"] = value
                self._file["reason"] = reason

    def observe(self, callback: Callable[[str, Any], None]) -> None:
        """Call back when the graph changes: then the file is written.

        The document's state (its path, whether it is saved) is not the graph, and writes no file.
        """
        self.unobserve()
        for name, shared in self._maps.items():
            self._subscriptions[shared] = shared.observe_deep(partial(callback, name))
