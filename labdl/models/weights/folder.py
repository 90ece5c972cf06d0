"""Files of weights in the cache of this machine: known ones by their address, downloaded if they are not there."""

from __future__ import annotations

import os
import re
from pathlib import Path

from labdl.models.hub import is_hub_address, provide_weights
from labdl.models.weights.weight_set import WeightSet

# the first digits of the SHA-256, which torch.hub checks too
_HASH = re.compile(r"-([0-9a-f]{8,64})\.[A-Za-z]+$")


def weights_folder() -> Path:
    """The folder of downloaded weights: the environment variable LABDL_WEIGHTS, or a cache folder of the user."""
    folder = os.environ.get("LABDL_WEIGHTS")
    if folder:
        return Path(folder).expanduser()
    import platformdirs  # imported lazily: only used here

    return Path(platformdirs.user_cache_dir("labdl")) / "weights"


def provide_set(entry: WeightSet, *, progress: bool = True) -> Path:
    """The path of the file of a weight set, downloaded unless it is there. Raises as `labdl.data.sources.download.fetch`."""
    if is_hub_address(entry.source):
        return provide_weights(entry.source, progress=progress)
    from filelock import FileLock

    from labdl.data.sources.download import fetch
    from labdl.data.sources.known_set import RemoteFile

    folder = weights_folder() / entry.reference
    folder.mkdir(parents=True, exist_ok=True)
    file = RemoteFile(entry.file, (entry.source,), hash_in(entry.file))
    with FileLock(folder / f".{entry.file}.lock"):  # another process may be downloading it
        return fetch(
            file,
            folder,
            title=f"{entry.model} with {entry.path}",
            progress=progress,
            otherwise=f'write weights="path/of/{entry.file}"',
        )


def hash_in(name: str) -> str | None:
    """The hash in the name of a file, such as resnet50-11ad3fa6.pth; None without one."""
    match = _HASH.search(name)
    return match and f"sha256:{match[1]}"
