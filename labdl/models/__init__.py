"""Published models, one file per family, written with layers and operators for every backend."""

import pkgutil
from importlib import import_module

from labdl.models import text, vision
from labdl.models.public import load_public, public_state_dict
from labdl.models.zoo import create, list_models

for _found in pkgutil.walk_packages(__path__, "labdl.models."):  # each file registers its models
    import_module(_found.name)

__all__ = ["create", "list_models", "load_public", "public_state_dict", "text", "vision"]


def __dir__() -> list[str]:
    return sorted(__all__)
