"""LabDL: build and train neural networks in JupyterLab, on any of four frameworks.

``import labdl`` loads only this file: names are imported on first use.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers; a test compares it with _HOMES
    from labdl import (
        backends,
        data,
        display,
        errors,
        generation,
        graph,
        infer,
        interop,
        lab,
        models,
        nn,
        ops,
        runs,
        standard,
        tasks,
        testing,
        train,
    )
    from labdl.array_api import array_namespace
    from labdl.determinism import are_deterministic_algorithms_enabled, use_deterministic_algorithms
    from labdl.dispatch import device, use
    from labdl.generation import generate
    from labdl.graph import Graph, trace
    from labdl.infer import predict
    from labdl.ops import tensor, to_numpy
    from labdl.ops.random.state import seed
    from labdl.saving import (
        load,
        load_lora,
        load_parameters,
        load_structure,
        save,
        save_lora,
        save_parameters,
        save_structure,
        swap_parameters,
    )
    from labdl.saving.export import export
    from labdl.saving.native.checkpoints import convert_checkpoint, load_checkpoint, save_checkpoint
    from labdl.spec import Spec
    from labdl.tasks import fine_tune
    from labdl.train import Trainer

__version__ = "0.2.0"

__all__ = [
    "Graph",
    "Spec",
    "Trainer",
    "are_deterministic_algorithms_enabled",
    "array_namespace",
    "backends",
    "convert_checkpoint",
    "data",
    "device",
    "display",
    "errors",
    "export",
    "fine_tune",
    "generate",
    "generation",
    "graph",
    "infer",
    "interop",
    "lab",
    "load",
    "load_checkpoint",
    "load_lora",
    "load_parameters",
    "load_structure",
    "models",
    "nn",
    "ops",
    "predict",
    "runs",
    "save",
    "save_checkpoint",
    "save_lora",
    "save_parameters",
    "save_structure",
    "seed",
    "standard",
    "swap_parameters",
    "tasks",
    "tensor",
    "testing",
    "to_numpy",
    "trace",
    "train",
    "use",
    "use_deterministic_algorithms",
]

_HOMES = {
    "labdl.array_api": ("array_namespace",),
    "labdl.determinism": ("are_deterministic_algorithms_enabled", "use_deterministic_algorithms"),
    "labdl.dispatch": ("device", "use"),
    "labdl.generation": ("generate",),
    "labdl.graph": ("Graph", "trace"),
    "labdl.infer": ("predict",),
    "labdl.ops": ("tensor", "to_numpy"),
    "labdl.ops.random.state": ("seed",),
    "labdl.saving": (
        "load",
        "load_lora",
        "load_parameters",
        "load_structure",
        "save",
        "save_lora",
        "save_parameters",
        "save_structure",
        "swap_parameters",
    ),
    "labdl.saving.export": ("export",),
    "labdl.saving.native.checkpoints": ("convert_checkpoint", "load_checkpoint", "save_checkpoint"),
    "labdl.spec": ("Spec",),
    "labdl.tasks": ("fine_tune",),
    "labdl.train": ("Trainer",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str):
    if name in _HOME_OF:
        value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
        return value
    if not name.startswith("_") and find_spec(f"labdl.{name}"):
        return import_module(f"labdl.{name}")
    from labdl import habits

    habits.refuse("labdl", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
