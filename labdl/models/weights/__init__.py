"""Public weights by name: ``labdl.models.weights.WEIGHT_SETS`` lists them, one table a reference.

A new set is a line in the table of its reference; a new reference is a file with a table and its name in `WEIGHT_SETS`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from labdl.bounded.files import open_file
from labdl.errors import ConfigError, suggest_name
from labdl.models.hub import is_hub_address, parse_address, provide_weights
from labdl.models.weights.folder import hash_in, provide_set, weights_folder
from labdl.models.weights.labels import class_names
from labdl.models.weights.timm import TIMM
from labdl.models.weights.torchvision import TORCHVISION
from labdl.models.weights.weight_set import ClipPreprocessing, PicturePreprocessing, WeightSet

__all__ = [
    "WEIGHT_SETS",
    "ClipPreprocessing",
    "PicturePreprocessing",
    "WeightSet",
    "class_names",
    "find_weights",
    "list_weights",
    "locate_weights",
    "weights_folder",
]

WEIGHT_SETS: tuple[WeightSet, ...] = (*TORCHVISION, *TIMM)

_FILES = (".pth", ".pt", ".bin", ".safetensors", ".npz", ".pdparams", ".ckpt", ".index.json")
_DEFAULT = "DEFAULT"  # as in torchvision


def list_weights(model: str | None = None) -> list[str]:
    """The names of the weight sets of a model, the default first; without a model those of all, after the model's name."""
    if model is None:
        return [f"{entry.model}: {entry.path}" for entry in WEIGHT_SETS]
    return [entry.path for entry in _sets_of(model)]


def find_weights(model: str, name: str) -> WeightSet | None:
    """The weight set of a model: "torchvision/IMAGENET1K_V2", "IMAGENET1K_V2", "torchvision" (its default) or "DEFAULT".

    None for a path or an address of the Hub, unless that is the address of a set. Raises ConfigError, which lists the sets,
    for a word that is neither.
    """
    sets = _sets_of(model)
    if is_hub_address(name):
        place = parse_address(name)
        places = ((entry, parse_address(entry.source)) for entry in sets if is_hub_address(entry.source))
        same = (entry for entry, its in places if its.repository == place.repository and place.file in ("", its.file))
        return next(same, None)
    reference, _, rest = name.partition("/")
    for entry in sets:
        is_default = rest in ("", _DEFAULT) and reference in (entry.reference, _DEFAULT)
        if name in (entry.path, entry.name) or is_default:
            return entry
    if name.endswith(_FILES) or _exists(name):
        return None
    names = list_weights(model)
    words = dict.fromkeys((*names, *(entry.reference for entry in sets), *(entry.name for entry in sets)))
    listed = ", ".join(names) or "(none by name)"
    raise ConfigError(
        f"{model} has the weights {listed}; received {name[:120]!r}{suggest_name(name, words)}. Other weights are a file "
        '("path/to/file.pth", .safetensors, .npz), "hf://owner/name" of the Hugging Face Hub, or a dictionary of arrays'
    )


def locate_weights(model: str, weights: str | Path, *, progress: bool = True) -> tuple[Path, WeightSet | None]:
    """The file of weights, downloaded if need be, and the set that it is; None for a file that is in no table.

    A path of a file with the name and the hash of a set is that set. Raises ConfigError for an unknown name,
    MissingFileError without the file, which says what to put where, FileFormatError for other content than was published.
    """
    entry = find_weights(model, weights) if isinstance(weights, str) else None
    if entry is not None:
        return provide_set(entry, progress=progress), entry
    if isinstance(weights, str) and is_hub_address(weights):
        return provide_weights(weights, progress=progress), None
    path = Path(weights).expanduser()
    return path, next((entry for entry in _sets_of(model) if _is_file_of(path, entry)), None)


def _sets_of(model: str) -> list[WeightSet]:
    return [entry for entry in WEIGHT_SETS if entry.model == model]


def _exists(name: str) -> bool:
    try:
        return Path(name).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # too long, with a null byte, of an unknown user
        return False


def _is_file_of(path: Path, entry: WeightSet) -> bool:
    digits = hash_in(entry.file)
    if path.name != entry.file or digits is None or not path.is_file():
        return False
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest().startswith(digits.removeprefix("sha256:"))
