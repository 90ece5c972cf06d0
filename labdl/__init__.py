"""LabDL: build and train neural networks in JupyterLab, on any of four frameworks."""

from labdl import backends, errors, ops
from labdl.dispatch import use
from labdl.ops import tensor, to_numpy
from labdl.ops.creation import seed
from labdl.spec import Spec

__version__ = "0.1.0"
from labdl import nn  # noqa: E402
from labdl.graph import trace  # noqa: E402
