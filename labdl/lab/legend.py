"""The legend of a result of inference: rows of a text, a value and a color."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 20  # rows
Color = tuple[int, int, int]


@dataclass(frozen=True)
class Row:
    """A row of the legend: a text, a value if there is one, and the color in which the thing is drawn."""

    text: str
    value: str = ""
    color: Color | None = None


def render_legend(rows: Sequence[Row]) -> str:
    """The rows as a table in HTML."""
    return f'<table aria-label="Result"><tbody>{"".join(map(_render_row, rows))}</tbody></table>'


def describe_legend(rows: Sequence[Row]) -> list[str]:
    """A line of text for each row."""
    return [f"{row.text} {row.value}".strip() for row in rows]


def _render_row(row: Row) -> str:
    mark = "" if row.color is None else f'<span aria-hidden="true" style="color: rgb{row.color}">■</span> '
    text, value = html.escape(row.text), html.escape(row.value)
    return f'<tr><td style="text-align: left">{mark}{text}</td><td>{value}</td></tr>'
