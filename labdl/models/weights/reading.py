"""The arrays in files of weights; the one place of the models that knows the readers of `labdl.saving`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from labdl.interop.key_map import Keys
    from labdl.interop.public_weights import PublicNames
    from labdl.nn.module import Module


def read_weights(
    model: Module, path: str | Path, names: PublicNames, *, prefix: str = "", keys: Keys | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a file for a built model, by public names, or by the standard names of a parameter file of LabDL.

    Of a file of a whole training, the dictionary that fits is taken. Nothing in the file is executed. Raises
    FileFormatError, MissingFileError, and StateDictError where several dictionaries fit.
    """
    from labdl.saving.native.named_arrays import read_arrays

    own = {name: parameter.standard_shape for name, parameter in model.named_parameters()}
    return read_arrays(path, {**own, **names.public_shapes(own)}, prefix=prefix, keys=keys)
