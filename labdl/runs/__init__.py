"""Recorded runs: reading, listing, comparing and exporting. No framework is needed.

``labdl.runs.list()`` finds the runs below a folder, ``labdl.runs.open(folder)`` reads one, in progress or ended, and
``labdl.runs.figure(records)`` draws several in one figure.
"""

from typing import TYPE_CHECKING

from labdl.runs.listing.listing import Catalog, Listing
from labdl.runs.listing.listing import list_runs as list
from labdl.runs.listing.summary_row import Brief
from labdl.runs.metadata import About, about, write_about
from labdl.runs.reading.record import Record
from labdl.runs.reading.record import open_run as open

if TYPE_CHECKING:
    from labdl.runs.exports import figure

__all__ = ["About", "Brief", "Catalog", "Listing", "Record", "about", "figure", "list", "open", "write_about"]


def __getattr__(name: str):
    if name == "figure":  # imports the exports
        from labdl.runs.exports import figure

        return figure
    raise AttributeError(f"module 'labdl.runs' has no attribute {name!r}")


def __dir__():  # no annotation: `list` is the function above
    return sorted(__all__)
