"""One sample through a model: taken from a data set or drawn, run in a kernel, and told to the editor."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.data import SOURCES, ArrayDataset
from labdl.errors import ConfigError, FileFormatError, StateDictError
from labdl.graph import Graph, GraphModule
from labdl.lab.editor.inspection import activations
from labdl.saving import swap_parameters
from labdl.spec import Spec

MIME = "application/vnd.labdl.activations+json"  # of the answer that a kernel gives
_OPEN = 32  # the size of an axis that a graph leaves open


def sample(specs: Sequence[Spec], dataset: str | None = None, seed: int | None = None) -> tuple[list[np.ndarray], dict]:
    """One sample for inputs of these shapes, and where it comes from.

    A data set gives it where the input has the shape of its samples (without a name, any that fits), else it is drawn at
    random: zeros and ones where the input wants integers. Raises ConfigError for an unknown data set.
    """
    if dataset is not None and dataset not in SOURCES:
        raise ConfigError(f"dataset wants one of {', '.join(SOURCES)}, received {dataset!r}")
    rng = np.random.default_rng(seed)
    for name in [dataset] if dataset else SOURCES:
        if len(specs) == 1 and _fits(specs[0], SOURCES[name].input_shape):
            samples = _test_set(name).arrays[0]
            at = int(rng.integers(len(samples)))
            return [samples[at : at + 1].astype(_dtype(specs[0]))], {"dataset": name, "index": at}
    return [_drawn(spec, rng) for spec in specs], {"dataset": None, "index": None}


def _fits(spec: Spec, shape: tuple[int | None, ...]) -> bool:
    if not spec.dtype.startswith(("float", "bfloat")) or spec.ndim != len(shape) or spec.shape[0] not in (None, 1):
        return False
    return all(own in (None, other) for own, other in zip(spec.shape[1:], shape[1:], strict=True))


@functools.cache
def _test_set(name: str) -> ArrayDataset:
    return SOURCES[name].load()[1]


def _dtype(spec: Spec) -> np.dtype:
    return dispatch.get("numpy").dtype(spec.dtype)  # which knows bfloat16 too


def _drawn(spec: Spec, rng: np.random.Generator) -> np.ndarray:
    shape = [size if size is not None else _OPEN if at else 1 for at, size in enumerate(spec.shape)]
    dtype = _dtype(spec)
    if dtype.kind in "biu":
        return rng.integers(0, 2, shape).astype(dtype)  # numbers that every vocabulary has
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def answer(model: GraphModule, dataset: str | None = None, **origin: Any) -> dict[str, Any]:
    """Result of running one sample: activations and the origin of the sample and the weights."""
    inputs, source = sample(model._inputs, dataset)
    start = time.perf_counter()
    nodes = activations(model, inputs)
    return {"nodes": nodes, "backend": model.backend, "seconds": time.perf_counter() - start, **source, **origin}


def run_sample(graph: dict[str, Any], *, backend: str, dataset: str | None = None, parameters: str = "") -> None:
    """Run one sample through graph data in a kernel, and show the answer to the page that asked.

    The weights are those of a parameter file where there is one and it fits, else new ones.
    """
    from IPython.display import display

    model = Graph.from_dict(graph).to_module().build(backend=backend)
    origin: dict[str, Any] = {"weights": "new", "file": None, "reason": None}
    if parameters and Path(parameters).is_file():
        origin["file"] = parameters
        try:
            swap_parameters(model, parameters)
            origin["weights"] = "file"
        except (StateDictError, FileFormatError) as error:
            origin["reason"] = str(error)
    display({MIME: answer(model, dataset, **origin)}, raw=True)
