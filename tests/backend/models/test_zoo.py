"""Models of the zoo on one backend: outputs and gradients of the public implementation, from the files of tests/oracles/zoo."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models, nn, ops
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
        arrays.update({key: arrays[key].reshape(to) for key, to in self.description.get("reshape", {}).items()})
        for key, parts in self.description.get("stack", {}).items():  # layers, with the batch second
            arrays[key] = np.stack([arrays[part].swapaxes(0, 1) for part in parts])
        arrays.update({key: 1 - arrays[key] for key in self.description.get("complement", ())})
        self.inputs = [
            None if key is None else labdl.tensor(arrays[key], backend=backend) for key in self.description["inputs"]
        ]
        self.model, self.from_public = self._create(**self.description["settings"])
        self.model.build(*(x if x is None else labdl.dispatch.spec_of(x) for x in self.inputs), backend=backend).eval()
        self.model.load_state_dict(self.from_public(public_model.load(self.path)))
        with np.load(self.path) as file:
            self.numbers = {key: file[key] for key in file.files if key[:2] in ("y:", "g:")}
            self.names = json.loads(str(file["names"]))
            self.config = json.loads(str(file["config"]))
        self.with_gradient = self.config["gradients"]["outputs"]

    def _create(self, **settings):
        """The model, and the function that gives public weights its names."""
        if "model" in self.description:
            name = self.description["model"]
            return models.create(name, **settings), ZOO[name].from_public
        model = _instance(self.description["class"], settings)
        return model, model.public_names.from_public

    def run(self, inputs=None) -> list:
        inputs = self.inputs if inputs is None else inputs
        if "method" in self.description:
            boxes = [np.array(self.description[key], "float32") for key in ("boxes",) if key in self.description]
            more = [labdl.tensor(a, backend=self.model.backend) for a in boxes]
            result = _flat(getattr(self.model, self.description["method"])(*inputs, *more))
        else:
            result = _flat(self.model(*inputs))
        for key in self.description.get("relu", ()):
            at = self.outputs.index(key)
            result[at] = ops.relu(result[at])
        for key in self.description.get("first_of_batch", ()):
            at = self.outputs.index(key)
            result[at] = result[at][0]
        result = result[: len(result) - len(self.description.get("without_reference", ()))]
        if self.description.get("features"):
            return [*_flat(self.model.features(*inputs)), *result]
        if "encoder_inputs" in self.description:
            places = map(self.description["inputs"].index, self.description["encoder_inputs"])
            return [*result, self.model.encode(*(self.inputs[place] for place in places))]
        return result

    def loss(self, inputs):
        """The loss of the file's gradients: the mean of each output weighed by fixed numbers."""
        terms = [
            ops.mean(y * labdl.tensor(public_model.projection(name, y.shape), backend=self.model.backend))
            for name, y in zip(self.outputs, self.run(inputs), strict=True)
            if name in self.with_gradient
        ]
        return sum(terms[1:], start=terms[0])

    def figure(self, key: str):
        """A figure of the gradients in float64, or in float32 where the public implementation has no other."""
        return self.numbers.get(f"{key}64", self.numbers[key])

    @property
    def gradient_tolerance(self) -> float:
        """Relative: three times what rounding does to the public implementation itself, where a maximum falls the other way."""
        exact = np.nan_to_num(self.figure("g:norm"))
        noise = max(
            np.max(np.abs(self.numbers[key] - self.figure(key))[exact > 1e-9] / exact[exact > 1e-9])
            for key in ("g:norm", "g:dot")
        )
        least = self.description.get("gradient_tolerance", 1e-4)
        return max(least, 3 * noise) if noise > 1e-5 else least

    def expected(self, key: str, actual: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Of an output: the values in the file, ours at these places, and the largest absolute value of the whole."""
        if f"y:{key}" in self.numbers:
            values = self.numbers[f"y:{key}"]
            assert actual.shape == values.shape
            return values, actual, np.abs(values).max()
        assert actual.shape == tuple(self.numbers[f"y:{key}@shape"])
        _, _, low, high, _ = self.numbers[f"y:{key}@stats"]
        return self.numbers[f"y:{key}@sampled"], actual.ravel()[public_model.positions(actual.size)], max(-low, high)


def _instance(name: str, settings: dict):
    """An object of a class; a setting that has a class is an object, too."""
    module, _, kind = name.rpartition(".")
    values = {
        key: _instance(value["class"], value["settings"]) if isinstance(value, dict) else value
        for key, value in settings.items()
    }
    return getattr(importlib.import_module(module), kind)(**values)


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
        expected, actual, largest = oracle.expected(key, labdl.to_numpy(ours))
        assert np.abs(actual - expected).max() <= max(1e-6, 2e-5 * largest)


def test_batch_normalizations_have_the_settings_of_the_public_implementation(oracle):
    """Epsilon and momentum, which hardly change the outputs."""
    settings = [[m.epsilon, m.momentum] for m in oracle.model.modules() if isinstance(m, nn.BatchNorm)]
    names = {kind for kind in oracle.config["norms"] if kind.startswith("BatchNorm")}
    allowed = [pair for kind in names for pair in oracle.config["norms"][kind]]
    assert bool(settings) == bool(names)
    assert all(pair in allowed for pair in settings)


def figures_of(oracle, gradients) -> tuple[dict[str, float], dict[str, float]]:
    """By public name: the square of the norm of a gradient, and its product with fixed numbers."""
    squares, products = dict.fromkeys(oracle.names, 0.0), dict.fromkeys(oracle.names, 0.0)
    if oracle.description.get("packed"):  # several public arrays in one parameter
        for public, parts in public_model.probes_by_name(oracle.path, oracle.from_public):
            for key, (place, probe) in parts.items():
                if key in gradients:
                    squares[public] += (gradients[key][place] ** 2).sum()
                    products[public] += (gradients[key] * probe).sum()
        return squares, products
    for key, (public, probe) in public_model.probes(oracle.path, oracle.from_public).items():
        if key in gradients:
            squares[public] += (gradients[key] ** 2).sum()
            products[public] += (gradients[key] * probe).sum()
    return squares, products


def gradient_problems(oracle, backend, inputs) -> list[str]:
    """The parameters whose gradient differs in its norm or in its product with fixed numbers, with the inputs given."""
    parameters = {key: p for key, p in oracle.model.unfreeze().named_parameters() if p.trainable}
    loss, values = backend.gradients(lambda *_: oracle.loss(inputs), [p.value for p in parameters.values()])
    assert float(labdl.to_numpy(loss)) == pytest.approx(float(oracle.figure("g:loss")), rel=1e-4, abs=1e-6)
    gradients = {
        key: parameters[key].to_standard(labdl.to_numpy(gradient)).astype("float64")
        for key, gradient in zip(parameters, values, strict=True)
    }
    squares, products = figures_of(oracle, gradients)
    return [
        public
        for public, norm, product in zip(oracle.names, oracle.figure("g:norm"), oracle.figure("g:dot"), strict=True)
        if not np.isnan(norm)
        and max(abs(squares[public] ** 0.5 - norm), abs(products[public] - product))
        > max(1e-6, oracle.gradient_tolerance * norm)
    ]


def test_gradients_are_those_of_the_public_implementation(oracle, backend):
    """Norm of each gradient, and its product with fixed numbers, as the public implementation has them in float64.

    The files have those of parameters that are not trained, too. Where rounding puts an input of a ReLU on the other side of 0,
    a change of the inputs in their last digit puts it back.
    """
    for change in (0.0, 3e-7, -3e-7):
        inputs = [x if x is None else x * (1 + change) for x in oracle.inputs] if change else oracle.inputs
        problems = gradient_problems(oracle, backend, inputs)
        if not problems:
            return
    assert problems == []
