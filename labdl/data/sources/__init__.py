"""Known data sets by name: ``data.sources.load("mnist")``; ``data.sources.SETS`` lists them."""

from labdl.data.sources.known_set import KnownSet, RemoteFile
from labdl.data.sources.loading import SETS, data_folder, load

__all__ = ["SETS", "KnownSet", "RemoteFile", "data_folder", "load"]
