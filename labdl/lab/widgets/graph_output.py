"""Notebook output of a model or graph: the editor if there is a page with a kernel, otherwise a static image.

JupyterLab shows the image until the editor has its kernel, by the MIME type `GRAPH`.
"""

from __future__ import annotations

import html
import re
from typing import Any

from labdl.graph import Graph
from labdl.graph.drawing.text_metrics import clean

GRAPH = "application/vnd.labdl.graph.v1+json"
PICTURE = "image/svg+xml"
_MAX_BYTES = 200_000  # largest SVG to store in a notebook
_NODE_BYTES = 500  # lower bound of the SVG of a node
_FLEXIBLE = ' style="max-width:100%;height:auto"'
_TITLE = 24  # height of the name above a graph, in pixels


def picture(graph: Graph) -> str | None:
    """The SVG of a graph, or None if it is too large for a notebook."""
    if len(graph.nodes) * _NODE_BYTES >= _MAX_BYTES:
        return None
    svg = graph.to_svg(theme="auto")
    return svg if len(svg.encode()) <= _MAX_BYTES else None


def snapshot(graph: Graph) -> dict[str, str]:
    """The picture of a graph, or one line of text if it is too large."""
    svg = picture(graph)
    return {"text": f"{graph.name}: {len(graph.nodes)} nodes"} if svg is None else {"picture": svg}


def forms(snapshot: dict[str, str]) -> dict[str, Any]:
    """The MIME data of a snapshot."""
    data: dict[str, Any] = {GRAPH: {"version": 1}}
    return data | {PICTURE: snapshot["picture"]} if "picture" in snapshot else data


def stack(*graphs: Graph) -> str | None:
    """The graphs one below the other with their names, as one SVG; None if it is too large for a notebook."""
    parts, width, height = [], 0.0, 0.0
    for graph in graphs:
        svg = picture(graph)
        size = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg or "")
        if svg is None or size is None:
            return None
        name = html.escape(clean(graph.name))
        parts.append(
            f'<text x="8" y="{height + 16:g}" font-family="sans-serif" font-weight="600" fill="#808080">{name}</text>'
        )
        inner = svg.replace(_FLEXIBLE, "", 1)  # in a picture it would take the height of the whole
        parts.append(inner.replace("<svg ", f'<svg y="{height + _TITLE:g}" ', 1))
        width, height = max(width, float(size[1])), height + _TITLE + float(size[2])
    joined = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'role="img"{_FLEXIBLE}>'
        f"{''.join(parts)}</svg>"
    )
    return joined if len(joined.encode()) <= _MAX_BYTES else None
