"""Platform-neutral operators: one name, one meaning, on every backend. Each decides by the type of its tensors."""

from labdl.ops import infix
from labdl.ops.activation import *
from labdl.ops.array import *
from labdl.ops.attention import *
from labdl.ops.boxes import *
from labdl.ops.classification_loss import *
from labdl.ops.comparison import *
from labdl.ops.complex_numbers import *
from labdl.ops.convolution import *
from labdl.ops.creation import *
from labdl.ops.detection_loss import *
from labdl.ops.fourier import *
from labdl.ops.gradient import *
from labdl.ops.image import *
from labdl.ops.indexing import *
from labdl.ops.linalg import *
from labdl.ops.loss import *
from labdl.ops.math import *
from labdl.ops.neural import *
from labdl.ops.normalisation import *
from labdl.ops.norms import *
from labdl.ops.operator import OPERATORS, Operator, operator
from labdl.ops.pooling import *
from labdl.ops.products import *
from labdl.ops.random import *
from labdl.ops.recurrence import *
from labdl.ops.reduction import *
from labdl.ops.segments import *
from labdl.ops.sequence_loss import *
from labdl.ops.similarity import *
from labdl.ops.similarity_loss import *
from labdl.ops.sorting import *
from labdl.ops.special import *
from labdl.ops.strings import StringTensor
from labdl.ops.trigonometry import *

infix.define(globals())

from labdl.ops import custom  # noqa: E402  # registers into this module, so it comes last

_EDGES = ("arange", "empty", "eye", "fftfreq", "full", "hamming_window", "hann_window", "linspace", "logspace", "ones",
          "permutation", "rand", "randint", "randn", "random_binomial", "random_integers", "random_normal",
          "random_truncated_normal", "random_uniform", "rfftfreq", "tensor", "to_numpy", "zeros")  # fmt: skip

__all__ = [*OPERATORS, *_EDGES, "OPERATORS", "Operator", "StringTensor", "custom", "operator"]
