"""Published models, one file a family, written with layers and operators: they run on every backend."""

from labdl.models import text, vision

__all__ = ["text", "vision"]
