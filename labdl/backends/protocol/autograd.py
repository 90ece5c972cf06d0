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
