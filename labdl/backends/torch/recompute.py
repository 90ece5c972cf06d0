"""Gradient checkpointing of PyTorch."""

from collections.abc import Callable, Sequence

import torch
from torch.utils.checkpoint import checkpoint


def recompute(function: Callable, buffers: Sequence[torch.Tensor]) -> Callable:
    """The function, whose intermediate results are computed again for its gradient instead of kept.

    The second time draws the same random numbers, and leaves the ``buffers``, such as running statistics, as they are.
    """

    def run(*args, **kwargs):
        if not torch.is_grad_enabled():
            return function(*args, **kwargs)
        calls = 0

        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            kept = [b.detach().clone() for b in buffers] if calls > 1 else []
            try:
                return function(*args, **kwargs)
            finally:  # the second time ends by an exception as soon as nothing more is needed
                with torch.no_grad():
                    for buffer, value in zip(buffers, kept, strict=False):
                        buffer.copy_(value)

        return checkpoint(call, *args, use_reentrant=False, **kwargs)

    return run
