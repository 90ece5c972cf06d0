"""LabDL inside Jupyter: the editor and the dashboard as widgets, and the server extension."""

from labdl.lab.diff_widget import Diff
from labdl.lab.widgets import Dashboard, Editor
from labdl.train import race

__all__ = ["Dashboard", "Diff", "Editor", "race"]
