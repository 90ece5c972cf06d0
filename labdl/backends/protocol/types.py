"""Names for the values that cross the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A tensor of the framework, eager or symbolic; what it offers differs between frameworks."""

Variable: TypeAlias = Any
"""A parameter or a buffer in the framework's own form, updated in place."""

NativeDtype: TypeAlias = Any
"""A data type of the framework."""

NativeModule: TypeAlias = Any
"""A module, layer or cell of the framework."""

Gradients: TypeAlias = Sequence[Any]
"""For each variable its gradient, None where it has none."""

Update: TypeAlias = Callable[[Gradients], "tuple[Any, ...] | None"]
"""Moves variables by one step, and may return tensors that the step returns too."""
