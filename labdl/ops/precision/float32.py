"""Computation in float32 where half precision is not accurate enough: coordinates, areas and long sums."""

from labdl import dispatch
from labdl.ops.array.shape import astype
from labdl.spec import promote


def _wide(x):
    """Cast half precision to float32."""
    return astype(x, "float32") if dispatch.spec_of(x).dtype in ("float16", "bfloat16") else x


def _narrow(result, *operands):
    """Cast a result to the promoted dtype of its operands."""
    dtype = promote(*(dispatch.spec_of(x).dtype for x in operands))
    return result if dispatch.spec_of(result).dtype == dtype else astype(result, dtype)
