"""The operators that PaddlePaddle spells differently, from the files of this folder; the rest are found in it by name."""

from labdl.backends.paddle.arrays import *
from labdl.backends.paddle.neural import *
from labdl.backends.paddle.random import *
