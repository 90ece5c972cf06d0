"""Modules: layers, containers, and the base class of models. Each layer file or folder is a category of the palette."""

# The palette shows categories in the order of import: the everyday ones first, any other file after them.
# ruff: noqa: I001
from importlib import import_module
from pathlib import Path

from labdl import habits
from labdl.nn import initializers
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.nn.schema import LAYERS, layer, layer_schema
from labdl.nn.input import *
from labdl.nn.linear import *
from labdl.nn.lora_linear import *
from labdl.nn.convolution import *
from labdl.nn.conv_transpose import *
from labdl.nn.separable import *
from labdl.nn.pooling import *
from labdl.nn.unpooling import *
from labdl.nn.activation import *
from labdl.nn.axis_activation import *
from labdl.nn.normalization import *
from labdl.nn.frozen_normalization import *
from labdl.nn.regularization import *
from labdl.nn.shape import *
from labdl.nn.spatial import *
from labdl.nn.merge import *
from labdl.nn.similarity import *
from labdl.nn.embedding import *
from labdl.nn.recurrent import *
from labdl.nn.attention import *
from labdl.nn.additive_attention import *
from labdl.nn.transformer import *
from labdl.nn.positions import *
from labdl.nn.native import from_native
from labdl.nn.containers import ModuleDict, ModuleList, Sequential
from labdl.nn.parameter_containers import ParameterDict, ParameterList
from labdl.nn.parametrize import spectral_norm, weight_norm
from labdl.nn.lora import add_lora, merge_lora
from labdl.nn import foreign

for _file in sorted(Path(__file__).parent.rglob("*.py")):
    if _file.stem != "__init__":
        import_module(".".join(["labdl.nn", *_file.relative_to(Path(__file__).parent).with_suffix("").parts]))

globals().update(LAYERS)
globals().pop("Activation", None)  # a type of settings that comes with the layers; the name is that of a layer of Keras

__all__ = [
    *LAYERS,
    "LAYERS",
    "Buffer",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "add_lora",
    "from_native",
    "initializers",
    "layer",
    "layer_schema",
    "merge_lora",
    "spectral_norm",
    "weight_norm",
]


def __getattr__(name: str):
    """A layer under its name in another framework, such as ``nn.MSELoss``; these names are not in ``dir(nn)``."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    advice = habits.hint(__name__, name)
    if advice:
        raise AttributeError(f"labdl.nn has no {name!r}{advice}")
    return foreign.find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
