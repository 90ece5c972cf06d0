"""Transforms of samples: pictures with their boxes, masks and key points, clips, sounds, texts and tables.

Every class of the modules below that has the decorator `transform` is a name here; so a new one is one class.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from labdl.data.transforms.serialization import from_dict, to_dict
from labdl.data.transforms.transform import TRANSFORMS, Transform, transform

for _module in pkgutil.walk_packages(__path__, __name__ + "."):
    importlib.import_module(_module.name)

__all__ = ["TRANSFORMS", "Transform", "from_dict", "to_dict", "transform", *TRANSFORMS]
globals().update(TRANSFORMS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def __dir__() -> list[str]:
    return sorted(__all__)
