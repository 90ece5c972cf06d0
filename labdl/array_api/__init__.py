"""The Python Array API standard (2024.12) over a framework's own tensors: ``xp = labdl.array_namespace("torch")``."""

from labdl.array_api.namespace import ArrayNamespace, array_namespace

__all__ = ["ArrayNamespace", "array_namespace"]
