"""Runs by their folders: what they were, how they went, and how they compare. No framework is needed for it.

``labdl.runs.list()`` finds the runs below a folder, ``labdl.runs.open(folder)`` reads one, under way or over, and
``labdl.runs.figure(records)`` draws several in one figure.
"""

from typing import TYPE_CHECKING

from labdl.runs.about import About, about, write_about
from labdl.runs.brief import Brief
from labdl.runs.listing import Catalogue, Listing
from labdl.runs.listing import list_runs as list
from labdl.runs.record import Record
from labdl.runs.record import open_run as open

if TYPE_CHECKING:
    from labdl.runs.exporting import figure

__all__ = ["About", "Brief", "Catalogue", "Listing", "Record", "about", "figure", "list", "open", "write_about"]


def __getattr__(name: str):
    if name == "figure":  # it brings the exports along
        from labdl.runs.exporting import figure

        return figure
    raise AttributeError(f"module 'labdl.runs' has no attribute {name!r}")
