"""The operators that MindSpore spells differently, from the files of this folder; the rest are found in it by name."""

from labdl.backends.mindspore.activations import *

from labdl.backends.mindspore.neural import *  # isort: skip  # `matmul` here is for neural layers only
from labdl.backends.mindspore.algebra import *
from labdl.backends.mindspore.arithmetic import *
from labdl.backends.mindspore.arrays import *
from labdl.backends.mindspore.einsum import *
from labdl.backends.mindspore.elementary import *
from labdl.backends.mindspore.indexing import *
from labdl.backends.mindspore.random import *
from labdl.backends.mindspore.reductions import *
from labdl.backends.mindspore.sorting import *
