"""The framework's own profiler."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol


class TracingBackend(Protocol):
    """Optional: a framework whose profiler writes traces for a viewer."""

    def trace(self, folder: Path) -> AbstractContextManager[None]:
        """A context whose operations are written to an existing folder."""
        ...
