"""Inference: NumPy in, NumPy out, in evaluation mode."""

from __future__ import annotations

import numpy as np

from labdl import dispatch
from labdl.data import ArrayDataset, Loader
from labdl.nn.module import Module
from labdl.spec import Spec

__all__ = ["predict"]


def predict(model: Module, x, batch_size: int = 256):
    """Outputs of the model for an array of samples, in evaluation mode; the model's own mode is left as it was.

    Shapes: x (N, ...) gives (N, ...). A tuple of arrays goes to a model of several inputs, and a model of several outputs
    gives a tuple. A model that is not built yet is built on the default backend.
    """
    inputs = ArrayDataset(*(x if isinstance(x, tuple) else (x,)))
    if not model.built:
        model.build(*(Spec((None, *a.shape[1:]), str(a.dtype)) for a in inputs.arrays))
    backend = dispatch.get(model.backend)
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        evaluate = backend.evaluate_function(model, compiled=False)
        parts = [evaluate(*map(backend.tensor, batch)) for batch in Loader(inputs, batch_size)]
    finally:
        for module, mode in modes:
            module.__dict__["training"] = mode
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate([backend.to_numpy(part) for part in column]) for column in zip(*parts, strict=True))
    return np.concatenate([backend.to_numpy(part) for part in parts])
