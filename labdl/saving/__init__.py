"""Saving and loading: structure as HDF5, parameters as .npz; both open on any backend."""

from __future__ import annotations

from pathlib import Path

from labdl.graph import GraphModule, as_graph
from labdl.nn.module import Module
from labdl.saving.parameters import load_parameters, save_parameters
from labdl.saving.structure import decode, encode, load_structure, save_structure

__all__ = ["decode", "encode", "load", "load_parameters", "load_structure", "save", "save_parameters", "save_structure"]

_SUFFIXES = (".labdl", ".h5", ".hdf5", ".npz")


def _paths(path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    stem = path.with_suffix("") if path.suffix in _SUFFIXES else path
    structure = path if path.suffix in (".h5", ".hdf5") else stem.with_name(f"{stem.name}.labdl")
    return structure, stem.with_name(f"{stem.name}.npz")


def save(model: Module, path: str | Path) -> tuple[Path, Path]:
    """Save a built model: ``name.labdl`` (structure) and ``name.npz`` (parameters); returns both paths.

    Raises ModelError when the model is not built or does something that a graph cannot hold.
    """
    structure, parameters = _paths(path)
    values = model.state_dict()
    save_structure(as_graph(model), structure)
    save_parameters(values, parameters)
    return structure, parameters


def load(path: str | Path, backend: str | None = None, parameters: bool = True, seed: int | None = None) -> GraphModule:
    """A built model from ``name.labdl`` and ``name.npz``, on any backend.

    ``parameters=False`` draws new weights (from ``seed``) and needs no .npz. Raises FileNotFoundError, FileFormatError,
    or StateDictError when the parameters are of another structure.
    """
    structure, weights = _paths(path)
    values = None
    if parameters:
        if not weights.exists() and structure.exists():
            raise FileNotFoundError(f"{weights} is missing: train and save the model, or load it with parameters=False")
        values = load_parameters(weights)
    model = load_structure(structure).to_module().build(backend=backend, seed=seed)
    if values is not None:
        model.load_state_dict(values)
    return model
