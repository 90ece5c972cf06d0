"""Types of the values in the protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A tensor of the framework, eager or symbolic; its members differ between frameworks."""

Variable: TypeAlias = Any
"""A parameter or a buffer in the framework's own form, updated in place."""

NativeDtype: TypeAlias = Any
"""A data type of the framework."""

NativeModule: TypeAlias = Any
"""A module, layer or cell of the framework."""

Gradients: TypeAlias = Sequence[Any]
"""For each variable its gradient, None where it has none."""

Update: TypeAlias = Callable[[Gradients], "tuple[Any, ...] | None"]
"""Updates variables by one step; may return tensors, which the step returns too."""
