"""Operators with implementations in this folder; others are functions of PaddlePaddle with the same name."""

from labdl.backends.paddle.activations import *
from labdl.backends.paddle.arithmetic import *
from labdl.backends.paddle.arrays import *
from labdl.backends.paddle.convolution import *
from labdl.backends.paddle.fourier import *
from labdl.backends.paddle.indexing import *
from labdl.backends.paddle.linear_algebra import *
from labdl.backends.paddle.losses import *
from labdl.backends.paddle.neural import *
from labdl.backends.paddle.pooling import *
from labdl.backends.paddle.process_group import *
from labdl.backends.paddle.random import *
from labdl.backends.paddle.recurrent import *
from labdl.backends.paddle.reductions import *
from labdl.backends.paddle.sorting import *
from labdl.backends.paddle.variables import *
