"""Platform-neutral operators: one name, one meaning, on every backend. Each decides by the type of its tensors."""

from labdl import habits
from labdl.ops import infix
from labdl.ops.array.creation import *
from labdl.ops.array.indexing import *
from labdl.ops.array.segments import *
from labdl.ops.array.shape import *
from labdl.ops.array.sorting import *
from labdl.ops.array.strings import StringTensor
from labdl.ops.control_flow import *
from labdl.ops.losses.classification import *
from labdl.ops.losses.detection import *
from labdl.ops.losses.regression import *
from labdl.ops.losses.sequence import *
from labdl.ops.losses.similarity import *
from labdl.ops.math.arithmetic import *
from labdl.ops.math.comparison import *
from labdl.ops.math.complex_numbers import *
from labdl.ops.math.fourier import *
from labdl.ops.math.linalg import *
from labdl.ops.math.matrix_functions import *
from labdl.ops.math.norms import *
from labdl.ops.math.order_statistics import *
from labdl.ops.math.products import *
from labdl.ops.math.reduction import *
from labdl.ops.math.special import *
from labdl.ops.math.trigonometry import *
from labdl.ops.neural.activation import *
from labdl.ops.neural.attention import *
from labdl.ops.neural.audio import *
from labdl.ops.neural.box_offsets import *
from labdl.ops.neural.boxes import *
from labdl.ops.neural.convolution import *
from labdl.ops.neural.ctc_decoding import *
from labdl.ops.neural.deformable import *
from labdl.ops.neural.gradient import *
from labdl.ops.neural.image import *
from labdl.ops.neural.linear import *
from labdl.ops.neural.local_windows import *
from labdl.ops.neural.mel import *
from labdl.ops.neural.normalization import *
from labdl.ops.neural.pooling import *
from labdl.ops.neural.positions import *
from labdl.ops.neural.process_group import *
from labdl.ops.neural.pyramid_roi_align import *
from labdl.ops.neural.recurrence import *
from labdl.ops.neural.similarity import *
from labdl.ops.neural.variables import *
from labdl.ops.operator import OPERATORS, Operator, operator
from labdl.ops.random.distributions import *
from labdl.ops.random.like import *
from labdl.ops.random.sampling import *
from labdl.ops.random.state import *

infix.define(globals())

from labdl.ops import custom  # noqa: E402  # registers into this module, so it comes last

_EDGES = (
    "arange",
    "cond",
    "ctc_beam_search_decode",
    "empty",
    "eye",
    "fftfreq",
    "full",
    "hamming_window",
    "hann_window",
    "linspace",
    "logspace",
    "mel_filterbank",
    "ones",
    "permutation",
    "rand",
    "randint",
    "randn",
    "random_beta",
    "random_binomial",
    "random_exponential",
    "random_gamma",
    "random_integers",
    "random_normal",
    "random_poisson",
    "random_truncated_normal",
    "random_uniform",
    "rfftfreq",
    "scan",
    "tensor",
    "to_numpy",
    "vmap",
    "while_loop",
    "zeros",
)

__all__ = [*OPERATORS, *_EDGES, "OPERATORS", "Operator", "StringTensor", "custom", "operator"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str):
    habits.refuse(__name__, name)
