"""Contract tests for user-defined layers."""

from __future__ import annotations

import io

import numpy as np

from labdl import backends, dispatch, ops
from labdl.errors import ModelError
from labdl.graph import trace
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, layer_schema
from labdl.saving.structure import decode, encode
from labdl.spec import Spec


class _SingleLayer(Module):
    """A model that consists of one layer."""

    def __init__(self, inner: Module):
        self.inner = inner

    def forward(self, *inputs):
        return self.inner(*inputs)


def check_layer(cls: type[Module], *names: str, tolerance: float = 2e-4) -> None:
    """Run the contract tests of the library's own layers on a layer registered with ``@nn.layer`` and an example.

    Checks schema and settings, inferred shapes, and round trips through files, then on each of the backends ``names``
    (default: all that are installed) values in training and evaluation against NumPy, and gradients against central
    differences. For deterministic layers. Raises AssertionError that names the failed requirement.
    """
    if LAYERS.get(getattr(cls, "layer_type", "")) is not cls:
        raise ModelError(f"{cls.__name__} is not registered: write @nn.layer({{...}}, samples...) above it")
    example = cls.layer_example  # type: ignore[attr-defined]
    if not example.inputs:
        raise ModelError(f"{cls.__name__} has no example: give its settings and samples of its inputs to @nn.layer")
    summary = layer_schema(cls)["summary"]
    _require(summary.endswith((".", ")")), cls, "has a docstring whose first line is a sentence")
    rng = np.random.default_rng(0)
    arrays = [sample.draw(rng) for sample in example.inputs]
    _check_files(cls, arrays)
    for name in names or [n for n in backends.installed() if n != "numpy"]:
        for training in (True, False):
            _check_values(cls, arrays, name, training, tolerance)
        _check_gradients(cls, arrays, name)


def _require(fact, cls: type[Module], what: str) -> None:
    if not fact:
        raise AssertionError(f"{cls.__name__}: it does not hold that it {what}")


def _build(cls: type[Module], arrays, backend: str, training: bool) -> Module:
    specs = [Spec((None, *a.shape[1:]), str(a.dtype)) for a in arrays]
    return cls(**cls.layer_example.params).build(*specs, backend=backend, seed=3).train(training)  # type: ignore[attr-defined]


def _flat(result) -> list:
    return list(result) if isinstance(result, list | tuple) else [result]


def _outputs(model: Module, arrays, backend: str) -> list[np.ndarray]:
    owner = dispatch.get(backend)
    return [np.array(owner.to_numpy(v)) for v in _flat(model(*[owner.tensor(np.copy(a)) for a in arrays]))]


def _check_files(cls: type[Module], arrays) -> None:
    model = _build(cls, arrays, "numpy", False)
    results = _outputs(model, arrays, "numpy")
    specs = _flat(model.output_specs)
    _require(
        [s.shape[1:] for s in specs] == [r.shape[1:] for r in results]
        and [s.dtype for s in specs] == [str(r.dtype) for r in results],
        cls,
        "infers the shapes and dtypes that it computes",
    )
    alone = _SingleLayer(model).build(*model.input_specs, backend="numpy")
    graph = trace(alone)
    _require(decode(io.BytesIO(encode(graph)).getvalue()) == graph, cls, "comes back from a structure file")
    for sample in (1, 2):
        batch = [np.concatenate([a] * sample) for a in arrays]
        again = graph.to_module().build(backend="numpy")
        again.load_state_dict(alone.state_dict())
        expected = _outputs(alone.eval(), batch, "numpy")[:1]
        actual = _outputs(again.eval(), batch, "numpy")[:1]
        same = all(np.allclose(a, e, equal_nan=True) for a, e in zip(actual, expected, strict=True))
        _require(same, cls, "computes the same as the model of its graph")


def _check_values(cls: type[Module], arrays, name: str, training: bool, tolerance: float) -> None:
    ours, reference = (_build(cls, arrays, b, training) for b in (name, "numpy"))
    mode = "training" if training else "evaluation"
    for actual, expected in zip(_outputs(ours, arrays, name), _outputs(reference, arrays, "numpy"), strict=True):
        same = actual.shape == expected.shape and actual.dtype == expected.dtype
        _require(
            same and np.allclose(actual, expected, rtol=tolerance, atol=tolerance / 10, equal_nan=True),
            cls,
            f"gives NumPy's values in {mode} on {name}",
        )
    for key, value in reference.state_dict().items():
        same = np.allclose(ours.state_dict()[key], value, rtol=tolerance, atol=tolerance / 10)
        _require(same, cls, f"leaves {key} as NumPy does in {mode} on {name}")


def _check_gradients(cls: type[Module], arrays, name: str) -> None:
    owner = dispatch.get(name)
    ours, reference = (_build(cls, arrays, b, True) for b in (name, "numpy"))
    parameters = [(key, p) for key, p in ours.named_parameters() if p.trainable]
    moving = [i for i, a in enumerate(arrays) if a.dtype == np.float32]
    start = reference.state_dict()
    weights = [
        np.random.default_rng(2).uniform(0.5, 1.5, o.shape).astype("float32")
        for o in _outputs(reference, arrays, "numpy")
    ]

    def scalar(*values):
        given = [owner.tensor(a) for a in arrays]
        for i, value in zip(moving, values[len(parameters) :], strict=True):
            given[i] = value
        parts = [ops.sum(ops.multiply(o, owner.tensor(w))) for o, w in zip(_flat(ours(*given)), weights, strict=True)]
        return sum(parts[1:], parts[0])

    leaves = [*(p.value for _, p in parameters), *(owner.tensor(arrays[i]) for i in moving)]
    if not leaves:
        return
    gradients = [owner.to_numpy(g) for g in owner.gradients(scalar, leaves)[1]]
    own = dict(reference.named_parameters())
    targets = [(key, own[key].value) for key, _ in parameters] + [(f"input {i + 1}", arrays[i]) for i in moving]
    for (what, target), gradient in zip(targets, gradients, strict=True):
        at = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
        ends = []
        for step in (1e-2, -1e-2):
            reference.load_state_dict(start)
            kept = target[at].copy()
            target[at] += step
            results = _outputs(reference, arrays, "numpy")
            ends.append(sum(float(np.sum(w.astype("float64") * o)) for w, o in zip(weights, results, strict=True)))
            target[at] = kept
        slope = (ends[0] - ends[1]) / 2e-2
        close = abs(gradient[at] - slope) <= 0.03 * abs(slope) + 5e-3
        _require(
            close, cls, f"has the gradient of {what} that differences give on {name} ({gradient[at]:.4g}, {slope:.4g})"
        )
