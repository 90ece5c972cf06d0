"""Images of graphs that look like the editor's canvas, drawn without a browser."""

from labdl.graph.drawing.render import to_svg

__all__ = ["to_svg"]
