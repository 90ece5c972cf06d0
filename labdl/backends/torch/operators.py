"""The operators that PyTorch spells differently, from the files of this folder; the rest are found in it by name."""

from labdl.backends.torch.arithmetic import *
from labdl.backends.torch.arrays import *
from labdl.backends.torch.linear_algebra import *
from labdl.backends.torch.losses import *
from labdl.backends.torch.neural import *
from labdl.backends.torch.process_group import *
from labdl.backends.torch.random import *
from labdl.backends.torch.reductions import *
from labdl.backends.torch.sequences import *
from labdl.backends.torch.spatial import *
from labdl.backends.torch.variables import *
