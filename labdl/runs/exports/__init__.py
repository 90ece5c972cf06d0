"""Export of runs: tables, TensorBoard and figures. Optional libraries are imported on use."""

from labdl.runs.exports.arrow import to_arrow
from labdl.runs.exports.csv_file import to_csv
from labdl.runs.exports.plotly_figure import figure
from labdl.runs.exports.tensorboard import to_tensorboard

__all__ = ["figure", "to_arrow", "to_csv", "to_tensorboard"]
