"""Members of tensors in the Array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class ArrayNamespaces(Protocol):
    """Support of the Python Array API standard on the framework's own types."""

    def array_members(self, shape_like: Callable[[type], type]) -> dict[type, dict[str, Any]]:
        """Attributes of the standard that types of the framework lack or define differently, by type.

        They are set on first use of the array namespace. ``shape_like(list)`` creates a class of tuples with the methods
        of lists.
        """
        ...


class DeviceObjects(Protocol):
    """Optional: a framework whose tensors have other devices than LabDL's names, which then stand for them."""

    def array_device(self, name: str) -> Any:
        """The device of a tensor that is on the device with this name of LabDL."""
        ...
