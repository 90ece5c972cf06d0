"""Shape rules of operators: each takes the arguments of a call, tensors as Specs, and returns the Spec of the result."""

from labdl.ops.rules.activation import *
from labdl.ops.rules.array import *
from labdl.ops.rules.boxes import *
from labdl.ops.rules.convolution import *
from labdl.ops.rules.ctc_decoding import *
from labdl.ops.rules.deformable import *
from labdl.ops.rules.elementwise import *
from labdl.ops.rules.fourier import *
from labdl.ops.rules.image import *
from labdl.ops.rules.indexing import *
from labdl.ops.rules.linalg import *
from labdl.ops.rules.loss import *
from labdl.ops.rules.matrix_functions import *
from labdl.ops.rules.mel import *
from labdl.ops.rules.neural import *
from labdl.ops.rules.normalization import *
from labdl.ops.rules.pooling import *
from labdl.ops.rules.positions import *
from labdl.ops.rules.random import *
from labdl.ops.rules.recurrence import *
from labdl.ops.rules.reduction import *
from labdl.ops.rules.sorting import *
