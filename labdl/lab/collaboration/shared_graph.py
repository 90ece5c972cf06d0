"""The shared document of a model file for jupyter-collaboration, which alone imports this module.

jupyter_ydoc loads the class through the entry point "labdl" while it is being imported itself. Therefore no module of LabDL
may import this one: use `jupyter_ydoc.ydocs["labdl"]`.
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
    """The bytes of a structure file, as base64, and the maps that the editors edit.

    A file that cannot be edited, because it is broken or of a later version, keeps its bytes whatever happens to the
    maps. They are in the map "file" with the reason, which the editors show.
    """

    def __init__(self, ydoc: Doc | None = None, awareness: Awareness | None = None):
        super().__init__(ydoc, awareness)
        self._maps = ydoc_maps.roots(self._ydoc)
        self._file = self._ydoc.get("file", type=Map)
        for shared in self._maps.values():
            self.undo_manager.expand_scope(shared)

    @property
    def version(self) -> str:
        """Version of the layout of the maps, as in labextension/src/jupyter/documents/document.ts."""
        return "1.0.0"

    def get(self) -> str:
        """The file in base64; equal maps give equal bytes."""
        kept = self._file.get("content")
        if isinstance(kept, str):
            return kept
        data = structure.encode(conflict_resolution.resolve_conflicts(ydoc_maps.read(self._maps)))
        return base64.encodebytes(data).decode("ascii")  # with line breaks, like Contents, which compares both

    def set(self, value: str) -> None:
        """Update the maps from the bytes of a file; unchanged values are not touched."""
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
                # the pages have another hash of the file, and would report a conflict on saving
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
        """Call back when the graph changes, to write the file.

        Changes of the document's state (path, dirty flag) do not write the file.
        """
        self.unobserve()
        for name, shared in self._maps.items():
            self._subscriptions[shared] = shared.observe_deep(partial(callback, name))
