"""Models of text."""

from labdl.models.text import bert, transformer

__all__ = ["bert", "transformer"]
