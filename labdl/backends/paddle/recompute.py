"""Gradient checkpointing of PaddlePaddle."""

from collections.abc import Callable, Sequence

import paddle


def recompute(function: Callable, buffers: Sequence[paddle.Tensor]) -> Callable:
    """The function, whose intermediate results are computed again for its gradient instead of kept.

    The second time draws the same random numbers, and leaves the ``buffers``, such as running statistics, as they are.
    """
    from paddle.distributed.fleet.utils import recompute as checkpoint  # imported lazily: it takes a second

    def run(*args, **kwargs):
        if not paddle.is_grad_enabled() or not paddle.in_dynamic_mode():
            return function(*args, **kwargs)
        calls = 0

        def call(needs_gradient, *args, **kwargs):
            nonlocal calls
            calls += 1
            kept = [b.detach().clone() for b in buffers] if calls > 1 else []
            try:
                return function(*args, **kwargs)
            finally:
                with paddle.no_grad():
                    for buffer, value in zip(buffers, kept, strict=False):
                        paddle.assign(value, buffer)

        # without an input that needs a gradient, as in the first layers, Paddle keeps everything
        needs_gradient = paddle.zeros([1])
        needs_gradient.stop_gradient = False
        return checkpoint(call, needs_gradient, *args, use_reentrant=False, **kwargs)

    return run
