"""Members that the Array API standard asks of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class ArrayNamespaces(Protocol):
    """Support of the Python Array API standard on the framework's own types."""

    def array_members(self, shape_like: Callable[[type], type]) -> dict[type, dict[str, Any]]:
        """For types of the framework the attributes that the standard asks for and they lack or mean differently.

        They are set when somebody asks for the array namespace. ``shape_like(list)`` makes a class of tuples that also
        do what lists do.
        """
        ...
