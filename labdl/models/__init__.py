"""Published models, one file a family, written with layers and operators: they run on every backend."""

from labdl.models import text, vision
from labdl.models.zoo import create, list_models

__all__ = ["create", "list_models", "text", "vision"]
