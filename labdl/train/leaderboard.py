"""Table that compares runs: the backends of a race, the trials of a sweep."""

from __future__ import annotations

import html
from typing import Any


class Leaderboard(list):
    """A table as a list of dictionaries, one per row; it can be printed or displayed in a notebook."""

    def _cells(self) -> list[list[str]]:
        names = list(
            dict.fromkeys(name for row in self for name in row if name != "error" or any(r.get("error") for r in self))
        )
        return [names, *([_format(row.get(name)) for name in names] for row in self)]

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        head, *rows = (
            ["".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row)]
            for tag, row in zip(["th", *["td"] * len(self)], self._cells(), strict=True)
        )
        return f"<table><tr>{head[0]}</tr>{''.join(f'<tr>{row[0]}</tr>' for row in rows)}</table>"


def _format(value: Any) -> str:
    return "" if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)
