"""Models of the zoo on one backend: outputs and gradients of the public implementation, from the files of tests/oracles/zoo."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models, ops
from labdl.models.zoo import ZOO

ORACLES = Path(__file__).parents[2] / "oracles" / "zoo"
sys.path.insert(0, str(ORACLES))
import public_model  # noqa: E402


class Oracle:
    """A configuration of a model, with the weights of the public implementation, and what that computed.

    ``NAME.json`` names the model, its settings, its inputs and outputs as the public implementation names them, and what
    the model was given; ``NAME.npz`` holds the numbers.
    """

    def __init__(self, name: str, backend: str):
        self.description = json.loads((ORACLES / f"{name}.json").read_text())
        self.path = ORACLES / f"{name}.npz"
        self.outputs = self.description["outputs"]
        arrays = public_model.inputs(self.path)
        self.inputs = [labdl.tensor(arrays[key], backend=backend) for key in self.description["inputs"]]
        self.model, self.from_public = self._create(**self.description["settings"])
        self.model.build(*map(labdl.dispatch.spec_of, self.inputs), backend=backend).eval()
        self.model.load_state_dict(self.from_public(public_model.load(self.path)))
        with np.load(self.path) as file:
            self.numbers = {key: file[key] for key in file.files if key[:2] in ("y:", "g:")}
            self.names = json.loads(str(file["names"]))

    def _create(self, **settings):
        """The model, and the function that gives public weights its names."""
        if "model" in self.description:
            name = self.description["model"]
            return models.create(name, **settings), ZOO[name].from_public
        module, _, kind = self.description["class"].rpartition(".")
        model = getattr(importlib.import_module(module), kind)(**settings)
        return model, model.public_names.from_public

    def run(self) -> list:
        result = _flat(self.model(*self.inputs))
        if self.description.get("features"):
            return [*_flat(self.model.features(*self.inputs)), *result]
        return result

    def loss(self):
        """The loss of the file's gradients: the mean of each output weighed by fixed numbers."""
        found = [
            ops.mean(y * labdl.tensor(public_model.projection(name, y.shape), backend=self.model.backend))
            for name, y in zip(self.outputs, self.run(), strict=True)
        ]
        return sum(found[1:], start=found[0])

    def figure(self, key: str):
        """A figure of the gradients in float64, or in float32 where the public implementation has no other."""
        return self.numbers.get(f"{key}64", self.numbers[key])


def _flat(result) -> list:
    return list(result) if isinstance(result, list | tuple) else [result]


def _parameters():
    for path in sorted(ORACLES.glob("*.json")):
        # millions of weights to draw
        marks = [pytest.mark.sample(False)] if json.loads(path.read_text()).get("full") else []
        yield pytest.param(path.stem, marks=marks)


@pytest.fixture(scope="module", params=_parameters())
def oracle(request, backend):
    """Each is built once, for all tests."""
    return Oracle(request.param, backend.name)


def test_outputs_are_those_of_the_public_implementation(oracle):
    for key, ours in zip(oracle.outputs, oracle.run(), strict=True):
        expected, actual = oracle.numbers[f"y:{key}"], labdl.to_numpy(ours)
        assert actual.shape == expected.shape
        assert np.abs(actual - expected).max() <= max(1e-6, 2e-5 * np.abs(expected).max())


def test_gradients_are_those_of_the_public_implementation(oracle, backend):
    """Norm of each gradient, and its product with fixed numbers, as the public implementation has them in float64."""
    parameters = {key: p for key, p in oracle.model.named_parameters() if p.trainable}
    loss, found = backend.gradients(lambda *_: oracle.loss(), [p.value for p in parameters.values()])
    assert float(labdl.to_numpy(loss)) == pytest.approx(float(oracle.figure("g:loss")), rel=1e-4, abs=1e-6)
    gradients = {
        key: parameters[key].to_standard(labdl.to_numpy(gradient)).astype("float64")
        for key, gradient in zip(parameters, found, strict=True)
    }
    squares = dict.fromkeys(oracle.names, 0.0)
    products = dict.fromkeys(oracle.names, 0.0)
    for key, (public, probe) in public_model.probes(oracle.path, oracle.from_public).items():
        if key in gradients:
            squares[public] += (gradients[key] ** 2).sum()
            products[public] += (gradients[key] * probe).sum()
    for public, norm, product in zip(oracle.names, oracle.figure("g:norm"), oracle.figure("g:dot"), strict=True):
        if np.isnan(norm):
            continue
        allowed = max(1e-6, 1e-4 * norm)
        assert abs(squares[public] ** 0.5 - norm) <= allowed, public
        assert abs(products[public] - product) <= allowed, public
