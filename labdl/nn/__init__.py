"""Modules: layers, containers, and the base class of models. Each layer file is a category of the palette."""

from importlib import import_module
from pathlib import Path

from labdl.nn import initialisers
from labdl.nn.containers import ModuleList, Sequential
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import LAYERS, layer, layer_schema

# The palette shows categories in the order of import: the everyday ones first, any other file after them.
_FIRST = ["input", "linear", "convolution", "pooling", "activation", "normalisation", "regularisation", "shape", "merge"]
_files = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem != "__init__")
for _file in sorted(_files, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
    import_module(f"labdl.nn.{_file}")

globals().update(LAYERS)

__all__ = [*LAYERS, "LAYERS", "Module", "ModuleList", "Parameter", "Sequential", "initialisers", "layer", "layer_schema"]
