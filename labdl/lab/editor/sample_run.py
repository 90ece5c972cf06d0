"""Run one sample, from a data set or random, through a model in a kernel, and send the result to the editor."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import labdl
from labdl import dispatch
from labdl.data import SOURCES, ArrayDataset
from labdl.errors import ConfigError, FileFormatError, StateDictError
from labdl.graph import Graph, GraphModule
from labdl.lab.editor.inspection import activations
from labdl.nn.signature import given_inputs
from labdl.saving import swap_parameters
from labdl.spec import Spec

MIME = "application/vnd.labdl.activations+json"  # of the answer of the kernel
_OPEN = 32  # size of an unknown axis
_MOST_CLASSES = 5  # in the prediction


def sample(specs: Sequence[Spec], dataset: str | None = None, seed: int | None = None) -> tuple[list[np.ndarray], dict]:
    """One sample for inputs of these shapes, and its origin.

    It comes from a data set whose samples have the shape of the input (without a name, any that fits), else it is random:
    zeros and ones for integer inputs. Raises ConfigError for an unknown data set.
    """
    if dataset is not None and dataset not in SOURCES:
        raise ConfigError(f"dataset wants one of {', '.join(SOURCES)}, received {dataset!r}")
    rng = np.random.default_rng(seed)
    for name in [dataset] if dataset else SOURCES:
        if len(specs) == 1 and _fits(specs[0], SOURCES[name].input_shape):
            samples = _test_set(name).arrays[0]
            at = int(rng.integers(len(samples)))
            return [samples[at : at + 1].astype(_dtype(specs[0]))], {"dataset": name, "index": at}
    return [_random_array(spec, rng) for spec in specs], {"dataset": None, "index": None}


def _fits(spec: Spec, shape: tuple[int | None, ...]) -> bool:
    if not spec.dtype.startswith(("float", "bfloat")) or spec.ndim != len(shape) or spec.shape[0] not in (None, 1):
        return False
    return all(own in (None, other) for own, other in zip(spec.shape[1:], shape[1:], strict=True))


@functools.cache
def _test_set(name: str) -> ArrayDataset:
    return SOURCES[name].load()[1]


def _dtype(spec: Spec) -> np.dtype:
    return dispatch.get("numpy").dtype(spec.dtype)  # supports bfloat16 too


def _random_array(spec: Spec, rng: np.random.Generator) -> np.ndarray:
    shape = [size if size is not None else _OPEN if at else 1 for at, size in enumerate(spec.shape)]
    dtype = _dtype(spec)
    if dtype.kind in "biu":
        return rng.integers(0, 2, shape).astype(dtype)  # indices that are valid in every vocabulary
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def answer(model: GraphModule, dataset: str | None = None, **origin: Any) -> dict[str, Any]:
    """Result of running one sample: activations and the origin of the sample and the weights."""
    inputs, source = sample([spec for _, spec in given_inputs(model)], dataset)
    start = time.perf_counter()
    nodes = activations(model, inputs)
    seconds = time.perf_counter() - start
    result = prediction(model, inputs, source["dataset"], source["index"])
    return {"nodes": nodes, "backend": model.backend, "seconds": seconds, "prediction": result, **source, **origin}


def prediction(
    model: GraphModule, inputs: Sequence[np.ndarray], dataset: str | None, index: int | None
) -> dict[str, Any] | None:
    """The most probable classes of a sample of a data set with classes, and the true one; None for other models."""
    if dataset is None or index is None:
        return None
    test, count = _test_set(dataset), SOURCES[dataset].classes or 0  # no classes: targets of a regression
    output = labdl.predict(model, inputs[0])
    if not isinstance(output, np.ndarray) or not count or output.shape != (1, count):
        return None
    scores = output[0].astype("float64")
    if scores.min() < 0 or abs(scores.sum() - 1) > 1e-3:  # logits, else probabilities already
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    if not np.isfinite(scores).all():
        return None
    names = getattr(test, "classes", None) or [str(at) for at in range(count)]
    best = np.argsort(-scores, kind="stable")[:_MOST_CLASSES]
    target = int(np.asarray(test.arrays[1])[index])
    return {
        "classes": [{"name": names[at], "probability": float(scores[at])} for at in best],
        "target": names[target] if 0 <= target < count else None,
    }


def run_sample(graph: dict[str, Any], *, backend: str, dataset: str | None = None, parameters: str = "") -> None:
    """Run one sample through graph data in a kernel, and display the answer for the page that asked.

    The weights are those of a parameter file if it exists and fits, else new ones.
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
