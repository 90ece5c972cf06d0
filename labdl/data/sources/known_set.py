"""Entries of the table of known data sets: files with their addresses, and the reader of their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labdl.data.dataset import Dataset

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".zip")


@dataclass(frozen=True)
class RemoteFile:
    """A file to download: its name on disk, addresses that are tried in order, and what is known of its content.

    ``hash`` is "md5:..." or "sha256:..." as published, of the latter also its first digits, or None; ``size`` (bytes) is
    compared where there is no hash.
    Archives are unpacked into a folder of their name without the suffix.
    """

    name: str
    urls: tuple[str, ...]
    hash: str | None = None
    size: int | None = None

    @property
    def folder(self) -> str | None:
        """Name of the folder that an archive is unpacked into; None for other files."""
        suffix = next((s for s in sorted(ARCHIVES, key=len, reverse=True) if self.name.endswith(s)), None)
        return None if suffix is None else self.name.removesuffix(suffix)


@dataclass(frozen=True)
class KnownSet:
    """A data set that is known by name.

    ``files`` are those that a split needs; ``read`` makes the data set from the split and the paths of these files, for an
    archive that of its folder. ``pair`` names the splits for training and testing that `load` returns without a split.
    ``sample`` describes the entries of a sample, ``samples`` counts those of each split; ``settings`` are further arguments of
    `load` that the data set takes.
    """

    name: str
    title: str
    files: Mapping[str, tuple[RemoteFile, ...]]
    read: Callable[..., Dataset]
    sample: str
    homepage: str
    license: str
    citation: str
    pair: tuple[str, ...] = ("train", "test")
    classes: int | None = None
    samples: Mapping[str, int] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
