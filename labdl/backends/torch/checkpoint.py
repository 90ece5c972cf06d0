"""Files of torch.save before PyTorch 1.6; later ones are archives, which LabDL reads without PyTorch."""

from pathlib import Path

import torch

from labdl.backends.torch.tensors import to_numpy
from labdl.errors import FileFormatError


def read(path: Path) -> dict:
    """The values of a file, tensors as arrays. Raises FileFormatError for anything that is not data."""
    try:
        values = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a broken file may raise any error
        raise FileFormatError(f"PyTorch cannot read it as a file of weights: {str(error)[:200]}") from error
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(values, dict) and isinstance(values.get(key), dict):
            values = values[key]
    if not isinstance(values, dict):
        raise FileFormatError(f"it holds {type(values).__name__}, not a dictionary of parameters")
    return {str(k): to_numpy(v.detach()) if isinstance(v, torch.Tensor) else v for k, v in values.items()}
