"""MindSpore implementations of linear layers, dropout, embedding and masks."""

from functools import lru_cache

import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.arithmetic import where
from labdl.backends.mindspore.dtypes import FRACTIONS, HALF, as_tensor, float32, float64, through
from labdl.backends.mindspore.indexing import refuse_positions
from labdl.backends.mindspore.kernel_operands import in_common_dtype
from labdl.backends.mindspore.random import dropout_mask

_add, _mul, _matmul2 = P.Add(), P.Mul(), P.MatMul()


@in_common_dtype
def linear(x, kernel, bias=None):
    shape, wanted = x.shape, kernel.shape
    if not shape or len(wanted) != 2 or shape[-1] != wanted[0] or not (bias is None or bias.shape == wanted[1:]):
        raise ValueError(f"linear of {shape} wants a kernel ({shape[-1:]}, out) and a bias (out,), received {wanted}")
    if not x.size or not kernel.size:
        y = ops.zeros((*shape[:-1], wanted[1]), x.dtype)
    elif len(shape) == 2:
        y = _matmul2(x, kernel)
    else:
        y = _matmul2(x.reshape(-1, shape[-1]), kernel).reshape(*shape[:-1], wanted[1])
    return y if bias is None else _add(y, bias)


def _drop(x, rate):
    """The mask is sampled separately, so that compiled steps receive it as an input: their own samples cannot be reproduced."""
    mask = dropout_mask(x.shape, rate)
    if x.dtype is not float64:
        return _mul(x, mask if x.dtype is float32 else mask.astype(x.dtype))
    return where(mask > 0, x * as_tensor(1 / (1 - rate), float64), 0.0)


_dropout = through(_drop, FRACTIONS, HALF)


def dropout(x, rate, training=False):
    if not 0 <= rate <= 1:
        raise ValueError(f"a dropout rate is between 0 and 1, received {rate}")
    if not training or rate == 0 or not x.size:
        return x
    return ops.zeros_like(x) if rate == 1 else _dropout(x, float(rate))


_rows = through(lambda table, indices: ops.gather(table, indices, 0), FRACTIONS, HALF)


def embedding(indices, table):
    if table.ndim != 2:
        raise ValueError(f"embedding wants a table (size, features), received {table.shape}")
    if indices.size and not table.shape[0]:
        raise IndexError(f"embedding of {indices.shape} positions in a table of no rows")
    refuse_positions("embedding", indices, 0, table.shape[0])
    return _rows(table, indices if isinstance(indices, Tensor) else Tensor(np.array(indices)))


@lru_cache(64)
def _later(queries: int, keys: int) -> Tensor:
    return Tensor(np.triu(np.ones((queries, keys), "bool"), 1))


def causal_mask(scores):
    if scores.ndim < 2:
        raise ValueError(f"causal_mask wants scores (..., queries, keys), received {scores.shape}")
    return where(_later(*scores.shape[-2:]), -float("inf"), scores)
