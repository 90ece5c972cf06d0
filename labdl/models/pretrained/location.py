"""The folder of a pretrained model: on this machine, or downloaded from the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path

from labdl.errors import MissingFileError
from labdl.models.hub import WEIGHT_FILES, is_hub_name, provide_files
from labdl.models.pretrained.tokenizers import FILES

_BESIDE_WEIGHTS = ("config.json", "generation_config.json", "preprocessor_config.json", *FILES)


def find_folder(source: str | Path, revision: str | None = None) -> Path:
    """The folder of a path, or that of a name on the Hub, whose files are downloaded where they are not on this machine.

    Raises MissingFileError for what is neither, and as `labdl.models.hub.provide_files`.
    """
    path = Path(source)
    if path.is_dir():
        return path
    name = str(source)
    if isinstance(source, Path) or not is_hub_name(name):
        raise MissingFileError(
            f"{source} is no folder, and no name of a model on the Hub such as 'google-bert/bert-base-uncased'"
        )
    return provide_files(name, WEIGHT_FILES, _BESIDE_WEIGHTS, revision=revision).parent
