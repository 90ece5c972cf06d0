"""Names of the classes of public data sets, one list a file; the lists are those of torchvision/models/_meta.py."""

from __future__ import annotations

import functools
from importlib import resources

from labdl.errors import ConfigError, suggest_name


@functools.cache
def class_names(name: str) -> tuple[str, ...]:
    """The names of the classes in the order of a classifier's outputs.

    "imagenet1k" (1,000), "voc" (21 with the background first), "coco91" (91 with gaps, "N/A", as detectors count them),
    "kinetics400" (400). Raises ConfigError for another list.
    """
    names = lists()
    if name not in names:
        raise ConfigError(f"there is no list of classes {name!r:.60}{suggest_name(name, names)}: {', '.join(names)}")
    return tuple(resources.files(__name__).joinpath(f"{name}.txt").read_text("utf-8").splitlines())


def lists() -> list[str]:
    """The names of the lists."""
    files = (file.name for file in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".txt") for name in files if name.endswith(".txt"))
