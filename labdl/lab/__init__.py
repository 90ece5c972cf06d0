"""LabDL inside Jupyter: the editor and the dashboard as widgets, and the server extension."""

from labdl.lab.diff_widget import Diff
from labdl.lab.runs_widget import Runs
from labdl.lab.widgets import Dashboard, Editor
from labdl.train import race, sweep

__all__ = ["Dashboard", "Diff", "Editor", "Runs", "race", "sweep"]
