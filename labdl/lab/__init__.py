"""LabDL inside Jupyter: the editor and the dashboard as widgets, and the server extension."""

from labdl.lab.widgets import Dashboard, Editor
from labdl.train import race

__all__ = ["Dashboard", "Editor", "race"]
