"""Names of the parts of a data set: "train", "val2017" and the like, of folders and of lists."""

from __future__ import annotations

from collections.abc import Iterable

from labdl.errors import DataError

# the words that Hugging Face's datasets library looks for in the names of files
_NAMES = {
    "training": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_SPLITS = {name: split for split, names in _NAMES.items() for name in names}


def find_split(name: str) -> str | None:
    """The standard name of a part, "training", "validation" or "test"; None for another word. A year may follow."""
    return _SPLITS.get(name.lower().rstrip("0123456789").rstrip("_-"))


def find_splits(names: Iterable[str], where: str) -> dict[str, str]:
    """The name of each part, in the order of training, validation and test; empty if there are not two of them.

    Other names are left out where there is a training part, and without one all have to be parts. Raises DataError for
    two names of one part.
    """
    listed = sorted(names)
    known = [(find_split(name), name) for name in listed]
    found = {split: [name for own, name in known if own == split] for split in _NAMES}
    found = {split: names for split, names in found.items() if names}
    if len(found) < 2 or ("training" not in found and None in dict(known)):
        return {}
    for split, several in found.items():
        if len(several) > 1:
            raise DataError(f"{where} has several names for {split}: {', '.join(several)}; keep or rename one of them")
    return {split: names[0] for split, names in found.items()}
