"""Half precision where it does not do: coordinates, areas and long sums are computed in float32."""

from labdl import dispatch
from labdl.ops.array.shape import astype
from labdl.spec import promote


def _wide(x):
    """The tensor, as float32 where it is half precision."""
    return astype(x, "float32") if dispatch.spec_of(x).dtype in ("float16", "bfloat16") else x


def _narrow(result, *operands):
    """A result in the dtype in which the tensors that it was computed from meet."""
    dtype = promote(*(dispatch.spec_of(x).dtype for x in operands))
    return result if dispatch.spec_of(result).dtype == dtype else astype(result, dtype)
