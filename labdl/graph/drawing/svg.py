"""The elements of an SVG document."""

from __future__ import annotations

from xml.etree import ElementTree

from labdl.graph.drawing.edge_paths import number

FAR = 1e6  # positions beyond are ignored


def put(parent: ElementTree.Element, tag: str, **attributes: float | str) -> ElementTree.Element:
    """Add an element to another; _ in names of attributes becomes -."""
    item = ElementTree.SubElement(parent, tag)
    set_on(item, **attributes)
    return item


def set_on(item: ElementTree.Element, **attributes: float | str) -> None:
    for name, value in attributes.items():
        word = value if isinstance(value, str) else number(value)
        item.set(name.replace("_", "-"), word)
