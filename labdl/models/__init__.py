"""Published models, one file per family, written with layers and operators for every backend."""

import functools
import pkgutil
from importlib import import_module

from labdl.errors import suggest_name
from labdl.models import text, vision, weights, zoo
from labdl.models.pretrained import from_pretrained, save_pretrained
from labdl.models.public import load_public, public_state_dict
from labdl.models.zoo import create, list_models

# each file registers its models, and those of pretrained/ the families whose models are in the others
for _found in sorted(pkgutil.walk_packages(__path__, "labdl.models."), key=lambda file: ".pretrained" in file.name):
    import_module(_found.name)

__all__ = [
    "create",
    "from_pretrained",
    "list_models",
    "load_public",
    "public_state_dict",
    "save_pretrained",
    "text",
    "vision",
    "weights",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str):
    """A model of the zoo as a function, ``models.resnet18(classes=10)`` for ``create("resnet18", classes=10)``."""
    if name in zoo.ZOO:
        return functools.partial(create, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{suggest_name(name, zoo.ZOO)}")
