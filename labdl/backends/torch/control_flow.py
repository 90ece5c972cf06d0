"""Control flow under torch.compile, by PyTorch's higher-order operators."""

import torch
from torch._higher_order_ops.while_loop import while_loop as _while_loop
from torch.utils._pytree import tree_map

from labdl.backends.torch import devices

unrolled, reads_python = 16, True


def values_are_unknown() -> bool:
    return torch.compiler.is_compiling()


def number(value, dtype: str):
    return torch.tensor(value, dtype=getattr(torch, dtype), device=devices.selected)


def cond(pred, true_fn, false_fn):
    # Inductor's code for its gradient stops at, or misreads, gradients that are slices of others (2.13)
    if torch.is_grad_enabled():
        torch._dynamo.graph_break("ops.cond has no compiled gradient that can be trusted")
    # the operator refuses results that are its inputs
    return torch.cond(pred, lambda: tree_map(torch.clone, true_fn()), lambda: tree_map(torch.clone, false_fn()), ())


def while_loop(cond, body, variables, maximum_iterations=None):
    if torch.is_grad_enabled():  # a scan of 1,000 steps had wrong gradients (2.13)
        torch._dynamo.graph_break("ops.while_loop and a long ops.scan have no compiled gradient")
    return _while_loop(cond, lambda *values: tree_map(torch.clone, body(*values)), variables)


def vmap(f, in_axes, out_axes, args):
    return torch.func.vmap(f, tuple(in_axes), out_axes, randomness="different")(*args)


class Sequences:
    """Slices of tensors in a loop, without constants of NumPy."""

    def __init__(self, owner, length, tensors):
        self.length, self.last = length, number(length - 1, "int64")

    def unstack(self, x):
        return x

    def read(self, sequence, position):
        return sequence.index_select(0, position.reshape(1))[0]

    def start(self, first):
        return first.new_zeros((self.length, *first.shape))

    def write(self, sequence, position, value):
        return sequence.index_copy(0, position.reshape(1), value[None])

    def stack(self, sequence):
        return sequence
