"""LabDL: build and train neural networks in JupyterLab, on any of four frameworks."""

from labdl import backends, data, display, errors, infer, nn, ops, train
from labdl.dispatch import device, use
from labdl.graph import Graph, trace
from labdl.infer import predict
from labdl.ops import tensor, to_numpy
from labdl.ops.random import seed
from labdl.saving import load, load_parameters, load_structure, save, save_parameters, save_structure
from labdl.spec import Spec
from labdl.train import Trainer

__version__ = "0.1.0"

__all__ = [
    "Graph", "Spec", "Trainer", "array_namespace", "backends", "data", "device", "display", "errors", "infer", "lab", "load",
    "load_parameters", "load_structure", "models", "nn", "ops", "predict", "save", "save_parameters", "save_structure", "seed",
    "tensor", "to_numpy", "trace", "train", "use",
]  # fmt: skip


def __getattr__(name: str):
    # the widgets bring ipywidgets along, which a script does not need; few need all models or the standard's namespace
    if name in ("lab", "models", "array_namespace"):
        import importlib

        module = importlib.import_module("labdl.array_api" if name == "array_namespace" else f"labdl.{name}")
        return module.array_namespace if name == "array_namespace" else module
    raise AttributeError(f"module 'labdl' has no attribute {name!r}")
