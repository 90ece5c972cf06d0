"""Modules: layers, containers, and the base class of models. Each layer file is a category of the palette."""

from importlib import import_module
from pathlib import Path

from labdl.nn import initialisers
from labdl.nn.containers import ModuleList, Sequential
from labdl.nn.module import Module, Parameter
from labdl.nn.schema import LAYERS, layer, layer_schema

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem != "__init__":
        import_module(f"labdl.nn.{_file.stem}")

globals().update(LAYERS)

__all__ = [*LAYERS, "LAYERS", "Module", "ModuleList", "Parameter", "Sequential", "initialisers", "layer", "layer_schema"]
