"""Imports of libraries that only exports need."""

from __future__ import annotations

import importlib
from typing import Any


def require(what: str, module: str) -> Any:
    """Import a module of an optional library. Raises ImportError that says how to install it."""
    library = module.partition(".")[0]
    try:
        importlib.import_module(library)
        return importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            raise ImportError(f'{what} needs {library}: pip install "labdl[export]"') from error
        raise ImportError(f"{what} needs {module}, which cannot be imported here: {error}") from error
