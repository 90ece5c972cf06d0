"""Published models, one file per family, written with layers and operators for every backend."""

from labdl.models import text, vision
from labdl.models.zoo import create, list_models

__all__ = ["create", "list_models", "text", "vision"]
