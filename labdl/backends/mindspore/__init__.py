"""MindSpore as a LabDL backend."""

from labdl.backends.mindspore import runtime  # isort: skip  # first: it prepares the environment MindSpore reads

import mindspore

from labdl.backends.mindspore import operators
from labdl.backends.mindspore.runtime import *

name = "mindspore"
namespaces = (mindspore.ops,)
tensor_types = runtime.tensor_types
