"""Operators over the processes of a distributed training."""

import numpy as np

from labdl.ops import rules
from labdl.ops.array.indexing import getitem
from labdl.ops.array.shape import concat, ones_like, reshape
from labdl.ops.math.arithmetic import add, divide, maximum, multiply, rsqrt, square, subtract
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.gradient import stop_gradient
from labdl.ops.neural.normalization import batch_norm
from labdl.ops.neural.variables import assign
from labdl.ops.neural.windows import sizes_of
from labdl.ops.operator import case, floats, operator


@operator(rules.elementwise, case(floats(2, 3)), case(floats()), without_onnx="processes of a training")
def all_reduce(x, /):
    """Sum of a tensor over the processes of a distributed training; without one, the tensor itself.

    A training is distributed where the framework's own group of processes is running (torch.distributed, a strategy of
    tf.distribute, paddle.distributed, mindspore.communication). The gradient is summed over the processes as well.
    """
    return np.asarray(x)


@operator(
    rules.batch_norm,
    case(floats(4, 3, 5, 2), floats(3), floats(3), floats(3), floats(3, low=0.5), training=False),
    case(floats(4, 3, 5), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True),
    case(floats(4, 5, 2, 3), floats(3), floats(3), floats(3), floats(3, low=0.5), training=True, axis=-1),
    composite=True,
    precision="float32",
    without_onnx="statistics that change in training",
)
def sync_batch_norm(x, scale, offset, mean, variance, *, training=False, momentum=0.1, epsilon=1e-5, axis=1):
    """Batch normalization with the statistics of the batches of all processes of a distributed training.

    Without one it is `batch_norm`. Batches may differ in size. Semantics: torch.nn.SyncBatchNorm.
    """
    if not training:
        return batch_norm(x, scale, offset, mean, variance, momentum=momentum, epsilon=epsilon, axis=axis)
    rank = len(sizes_of(x))
    axes = tuple(a for a in range(rank) if a != axis % rank)
    wide = tuple(-1 if a == axis % rank else 1 for a in range(rank))
    count = getitem(total(ones_like(x), axis=axes), slice(0, 1))
    sums = all_reduce(concat([total(x, axis=axes), count], axis=0))
    count = stop_gradient(getitem(sums, slice(-1, None)))
    m = divide(getitem(sums, slice(0, -1)), count)
    centered = subtract(x, reshape(m, wide))
    v = divide(all_reduce(total(square(centered), axis=axes)), count)
    unbiased = multiply(v, divide(count, maximum(subtract(count, 1.0), 1.0)))
    for running, found in ((mean, m), (variance, unbiased)):
        assign(running, add(running, multiply(subtract(stop_gradient(found), running), momentum)))
    y = multiply(centered, reshape(multiply(rsqrt(add(v, epsilon)), scale), wide))
    return add(y, reshape(offset, wide))
