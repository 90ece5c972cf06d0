"""Names and weights of models of other frameworks; `public_weights` has the parts of a table of names for public weights."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.interop import public_weights

__all__ = ["public_weights"]


def __getattr__(name: str):
    if name in __all__:
        return import_module(f"labdl.interop.{name}")
    raise AttributeError(f"module 'labdl.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
