"""MindSpore implementations of recurrent networks."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportGeneralTypeIssues=false

from functools import lru_cache

from mindspore import ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.dtypes import float32

_transpose, _expand = P.Transpose(), P.ExpandDims()


@lru_cache(None)
def _kernel(features, size):
    return P.LSTM(features, size, 1, True, False, 0.0)


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    """MindSpore supports float32 only, and its lengths and directions are slower than the composite."""
    given = [t for t in (x, kernel, recurrent_kernel, bias, hidden, cell) if t is not None]
    if lengths is not None or reverse or not x.size or any(t.dtype is not float32 for t in given):
        return NotImplemented
    _check(x, kernel, recurrent_kernel, bias, hidden, cell)
    batch, _, features = x.shape
    size = recurrent_kernel.shape[0]
    parts = [w.reshape(-1, 1, 1) for w in (kernel.T, recurrent_kernel.T, bias)]
    zeros = ops.zeros((1, batch, size), float32) if hidden is None or cell is None else None
    hidden, cell = (zeros if state is None else _expand(state, 0) for state in (hidden, cell))
    y, hidden, cell, _, _ = _kernel(features, size)(_transpose(x, (1, 0, 2)), hidden, cell, ops.cat(parts))
    return _transpose(y, (1, 0, 2)), hidden.squeeze(0), cell.squeeze(0)


def _check(x, kernel, recurrent_kernel, bias, *states) -> None:
    """MindSpore would raise later, from another call, or read invalid memory."""
    size = recurrent_kernel.shape[0] if recurrent_kernel.ndim else 0
    wanted = (
        (kernel, (x.shape[-1], 4 * size)),
        (recurrent_kernel, (size, 4 * size)),
        (bias, (4 * size,)),
        *((state, (x.shape[0], size)) for state in states if state is not None),
    )
    if x.ndim != 3 or any(t.shape != shape for t, shape in wanted):
        raise ValueError(f"lstm of {x.shape} wants weights and states of shapes {', '.join(str(s) for _, s in wanted)}")
