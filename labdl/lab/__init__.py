"""LabDL inside Jupyter: the editor and the dashboard as widgets, and the server extension."""

from labdl.lab.result_view import show
from labdl.lab.widgets.dashboard import Dashboard
from labdl.lab.widgets.data import Data
from labdl.lab.widgets.diff import Diff
from labdl.lab.widgets.editor import Editor
from labdl.lab.widgets.runs import Runs
from labdl.train import race, sweep

__all__ = ["Dashboard", "Data", "Diff", "Editor", "Runs", "race", "show", "sweep"]


def __dir__() -> list[str]:
    return sorted(__all__)
