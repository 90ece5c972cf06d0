"""XML files as rows: an element for each, its attributes and the texts of its children as columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labdl.bounded.files import open_file, size_of
from labdl.bounded.plain_json import DEPTH
from labdl.errors import DataError, FileFormatError

_LARGEST = 1 << 30  # bytes of a file
_MOST_ROWS = 10_000_000


def read_xml_rows(path: Path, record: str | None) -> list[dict[str, Any]]:
    """The rows of an XML file: elements of the name ``record``, by default the children of the outermost element.

    The columns of ``<doc lang="en"><title>A</title><p>b</p><p>c</p></doc>`` are "lang", "title", and "p" with the texts of
    both in lines of their own; an element without children has its text as "text". Namespaces are left out.
    Declarations of entities are refused. Raises FileFormatError with the line, DataError if there are no rows.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, iterparse

    with open_file(path) as file:
        if size_of(file) > _LARGEST:
            raise FileFormatError(f"{path.name} has {size_of(file):,} bytes, XML of at most {_LARGEST:,} is read")
        try:
            rows = _read(iterparse(file, events=("start", "end")), record, path.name)
        except ParseError as error:
            raise FileFormatError(f"{path.name} is no XML: {error}") from None
        except DefusedXmlException as error:
            raise FileFormatError(
                f"{path.name} declares entities, with which a small file can fill the memory; it is not read: {error}"
            ) from None
        except (ValueError, LookupError) as error:  # an unknown encoding
            raise FileFormatError(f"{path.name} is no XML: {error}") from None
    if not rows:
        wanted = "children of its outermost element" if record is None else f"elements of the name {record!r:.60}"
        raise DataError(f"{path.name} has no {wanted}: name those that are samples by record=")
    return rows


def _read(events: Any, record: str | None, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    open_elements: list[Any] = []
    for event, element in events:
        if event == "start":
            open_elements.append(element)
            if len(open_elements) > DEPTH:
                raise FileFormatError(f"{name} has elements nested more than {DEPTH} deep")
            continue
        open_elements.pop()
        inside_record = record is not None and any(_tag(e) == record for e in open_elements)
        if (len(open_elements) == 1 if record is None else _tag(element) == record) and not inside_record:
            rows.append(_row(element))
            if len(rows) > _MOST_ROWS:
                raise FileFormatError(f"{name} has more than {_MOST_ROWS:,} rows")
        if not open_elements or inside_record or (record is None and len(open_elements) > 1):
            continue
        open_elements[-1].remove(element)  # its memory is needed no more
    return rows


def _row(element: Any) -> dict[str, Any]:
    attributes = {_plain(name): value for name, value in element.attrib.items()}
    if not len(element):
        return {**attributes, "text": (element.text or "").strip()}
    texts: dict[str, list[str]] = {name: [value] for name, value in attributes.items()}
    for child in element:
        texts.setdefault(_tag(child), []).append("".join(child.itertext()).strip())
    return {name: "\n".join(parts) for name, parts in texts.items()}


def _tag(element: Any) -> str:
    return _plain(element.tag) if isinstance(element.tag, str) else ""


def _plain(name: str) -> str:
    return name.rpartition("}")[2]
