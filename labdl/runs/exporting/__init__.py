"""Runs for other programs: tables, TensorBoard, and figures. What a format needs is imported when it is asked for."""

from labdl.runs.exporting.arrow import to_arrow
from labdl.runs.exporting.csvfile import to_csv
from labdl.runs.exporting.plotting import figure
from labdl.runs.exporting.tensorboard import to_tensorboard

__all__ = ["figure", "to_arrow", "to_csv", "to_tensorboard"]
