"""Gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from labdl.backends.protocol.types import Tensor


class Autograd(Protocol):
    """Gradients of functions of tensors."""

    def gradients(self, function: Callable[..., Tensor], values: Sequence[Tensor]) -> tuple[Tensor, Sequence[Tensor]]:
        """The scalar ``function(*values)``, and its gradient with respect to each value, zeros if it does not depend on it."""
        ...

    def with_gradient(
        self,
        forward: Callable[..., Tensor],
        pull: Callable[[Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor | None]],
    ) -> Callable[..., Tensor]:
        """``forward`` of tensors with ``pull(gradients, tensors)`` for its gradient, None for inputs without gradient."""
        ...


class CheckpointingBackend(Protocol):
    """Optional: a framework that computes intermediate results again for a gradient instead of keeping them."""

    def recompute(self, function: Callable, buffers: Sequence[Tensor]) -> Callable:
        """The function with this property; the second time draws the same random numbers and leaves the buffers as they are."""
        ...
