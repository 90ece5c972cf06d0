"""LabDL: build and train neural networks in JupyterLab, on any of four frameworks."""

from typing import TYPE_CHECKING

from labdl import backends, data, display, errors, infer, nn, ops, train
from labdl.dispatch import device, use
from labdl.graph import Graph, trace
from labdl.infer import predict
from labdl.ops import tensor, to_numpy
from labdl.ops.random import seed
from labdl.saving import (
    load,
    load_parameters,
    load_structure,
    save,
    save_parameters,
    save_structure,
    swap_parameters,
)
from labdl.spec import Spec
from labdl.train import Trainer

if TYPE_CHECKING:
    from labdl import lab, models, runs, standard
    from labdl.array_api import array_namespace
    from labdl.saving.export import export
    from labdl.saving.native import convert_checkpoint, load_checkpoint, save_checkpoint

__version__ = "0.1.0"

__all__ = [
    "Graph", "Spec", "Trainer", "array_namespace", "backends", "convert_checkpoint", "data", "device", "display", "errors",
    "export", "infer", "lab", "load", "load_checkpoint", "load_parameters", "load_structure", "models", "nn", "ops", "predict",
    "runs", "save", "save_checkpoint", "save_parameters", "save_structure", "seed", "standard", "swap_parameters", "tensor",
    "to_numpy", "trace", "train", "use",
]  # fmt: skip


# what a script seldom needs and what brings much along: the widgets, all models, the standard's namespace, file formats
_LATER = {
    "lab": "labdl.lab",
    "models": "labdl.models",
    "runs": "labdl.runs",
    "standard": "labdl.standard",
    "array_namespace": "labdl.array_api:array_namespace",
    "export": "labdl.saving.export:export",
    **{f"{verb}_checkpoint": f"labdl.saving.native:{verb}_checkpoint" for verb in ("load", "save", "convert")},
}


def __getattr__(name: str):
    if name in _LATER:
        import importlib

        module, _, inside = _LATER[name].partition(":")
        found = importlib.import_module(module)
        return getattr(found, inside) if inside else found
    raise AttributeError(f"module 'labdl' has no attribute {name!r}")
