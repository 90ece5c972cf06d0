"""Operators with implementations in this folder; others are functions of MindSpore with the same name."""

from labdl.backends.mindspore.activations import *
from labdl.backends.mindspore.arithmetic import *
from labdl.backends.mindspore.arrays import *
from labdl.backends.mindspore.clipping import *
from labdl.backends.mindspore.convolution import *
from labdl.backends.mindspore.fourier import *
from labdl.backends.mindspore.indexing import *
from labdl.backends.mindspore.linear_algebra import *
from labdl.backends.mindspore.losses import *
from labdl.backends.mindspore.math_functions import *
from labdl.backends.mindspore.neural import *
from labdl.backends.mindspore.normalization import *
from labdl.backends.mindspore.pooling import *
from labdl.backends.mindspore.process_group import *
from labdl.backends.mindspore.random import *
from labdl.backends.mindspore.recurrent import *
from labdl.backends.mindspore.reductions import *
from labdl.backends.mindspore.sorting import *
from labdl.backends.mindspore.variables import *
