"""Base class of the widgets: a program of the built front end, and a snapshot for pages without the kernel."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from labdl.lab.widgets.front_end import read_static
from labdl.lab.widgets.interactive_page import has_page
from labdl.translation import asked_language

VIEW = "application/vnd.jupyter.widget-view+json"


class NotebookWidget(anywidget.AnyWidget):
    """A widget with a program of the front end; ``_snapshot`` is shown by a page without the kernel.

    A snapshot has a ``picture`` (SVG), a ``text``, or both. Where no page can show the widget, its state has the small
    program for the snapshot instead of the whole one, which would add a megabyte to the saved notebook.
    """

    _snapshot = traitlets.Dict().tag(sync=True)
    # of the last page that stated one, such as JupyterLab; else of the kernel, in which such a page shows its texts, too
    _language = traitlets.Unicode().tag(sync=True)

    def __init__(self, program: str, **traits: Any):
        # read here and not in the class, so that labdl.lab can be imported before the front end is built
        self._interactive = has_page()
        shown = program if self._interactive else "snapshot"
        self._esm, self._css = read_static(f"{shown}.js"), read_static(f"{shown}.css")
        super().__init__(_language=asked_language(), **traits)

    def _forms(self) -> dict[str, Any]:
        """The MIME data beside the view: what pages show without the kernel."""
        return {}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        data = {**data, **self._forms()}
        if not self._interactive:
            # nbconvert prefers the view, and a page without a kernel and a network shows nothing for it
            data.pop(VIEW, None)
        return data, metadata
