"""The operators that MindSpore spells differently, from the files of this folder; the rest are found in it by name."""

from labdl.backends.mindspore.arrays import *
from labdl.backends.mindspore.einsum import *
from labdl.backends.mindspore.neural import *
from labdl.backends.mindspore.random import *
