"""The operators that TensorFlow spells differently, from the files of this folder; the rest are found in it by name."""

from labdl.backends.tensorflow.activations import *
from labdl.backends.tensorflow.arithmetic import *
from labdl.backends.tensorflow.arrays import *
from labdl.backends.tensorflow.boxes import *
from labdl.backends.tensorflow.comparison import *
from labdl.backends.tensorflow.convolution import *
from labdl.backends.tensorflow.cumulative import *
from labdl.backends.tensorflow.fourier import *
from labdl.backends.tensorflow.indexing import *
from labdl.backends.tensorflow.linear_algebra import *
from labdl.backends.tensorflow.losses import *
from labdl.backends.tensorflow.neural import *
from labdl.backends.tensorflow.normalization import *
from labdl.backends.tensorflow.pooling import *
from labdl.backends.tensorflow.process_group import *
from labdl.backends.tensorflow.random import *
from labdl.backends.tensorflow.recurrent import *
from labdl.backends.tensorflow.reductions import *
from labdl.backends.tensorflow.segments import *
from labdl.backends.tensorflow.sequence_losses import *
from labdl.backends.tensorflow.sorting import *
from labdl.backends.tensorflow.variables import *
