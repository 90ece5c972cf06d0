"""Inference: NumPy in, NumPy out, in evaluation mode."""

from __future__ import annotations

import numpy as np

from labdl import dispatch
from labdl.data import ArrayDataset, Loader
from labdl.nn.module import Module
from labdl.spec import Spec

__all__ = ["predict"]


def predict(model: Module, x: np.ndarray, batch_size: int = 256) -> np.ndarray:
    """Outputs of the model for an array of samples, in evaluation mode; the model's own mode is left as it was.

    Shapes: x (N, ...) gives (N, ...). A model that is not built yet is built on the default backend.
    """
    x = np.asarray(x)
    if not model.built:
        model.build(Spec((None, *x.shape[1:]), str(x.dtype)))
    backend = dispatch.get(model.backend)
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        evaluate = backend.evaluate_function(model, compiled=False)
        parts = [backend.to_numpy(evaluate(backend.tensor(batch))) for (batch,) in Loader(ArrayDataset(x), batch_size)]
    finally:
        for module, mode in modes:
            module.__dict__["training"] = mode
    return np.concatenate(parts)
