"""Initializers: statistics of papers and frameworks, reproducibility by seed, and parsing of settings."""

import hashlib
import json
import math

import jsonschema
import numpy as np
import pytest
import torch

from labdl import nn
from labdl.errors import ConfigError
from labdl.graph import Edge, Graph, Node
from labdl.nn.initializers import INITIALIZERS, draw, read, settings_of
from labdl.nn.schema import layer_schema, params_of
from labdl.saving import load_structure, save_structure

MATRIX, KERNEL, VECTOR = (256, 128), (32, 16, 3, 3), (7,)


def drawn(text, shape=MATRIX, seed=0):
    return draw(text, shape, "float32", seed, "a/kernel:0").astype("float64")


# fan in 256, fan out 128 in the matrix; 16 * 9 and 32 * 9 in the kernel
SPREADS = {
    "fan_in_uniform": (1 / 256 / 3, 1 / 144 / 3),
    "glorot_uniform": (2 / 384, 2 / 432),
    "glorot_normal": (2 / 384, 2 / 432),
    "glorot_normal(gain=2)": (8 / 384, 8 / 432),
    "he_uniform": (2 / 256, 2 / 144),
    "he_normal": (2 / 256, 2 / 144),
    "he_normal(mode='fan_out')": (2 / 128, 2 / 288),
    "he_uniform(negative_slope=0.5)": (2 / 1.25 / 256, 2 / 1.25 / 144),
    "lecun_uniform": (1 / 256, 1 / 144),
    "lecun_normal": (1 / 256, 1 / 144),
    "variance_scaling": (1 / 256, 1 / 144),
    "variance_scaling(scale=2.0, mode='fan_avg', distribution='uniform')": (2 / 192, 2 / 216),
    "variance_scaling(3, 'fan_out', 'normal')": (3 / 128, 3 / 288),
    "orthogonal": (1 / 256, 1 / 144),
    "normal": (0.02**2,) * 2,
    "normal(std=0.5)": (0.5**2,) * 2,
    "unit_normal": (1.0,) * 2,
    "uniform": (0.1**2 / 12,) * 2,
    "uniform(-1, 3)": (16 / 12,) * 2,
    "truncated_normal": (0.02**2 * 0.7737,) * 2,
    "truncated_normal(std=1.0, bound=1)": (0.2911,) * 2,
}


@pytest.mark.parametrize("text", SPREADS)
def test_variances(text):
    for shape, variance in zip((MATRIX, KERNEL), SPREADS[text], strict=True):
        values = drawn(text, shape)
        assert values.var() == pytest.approx(variance, rel=0.1)
        center = 1.0 if "-1, 3" in text else 0.0
        assert values.mean() == pytest.approx(center, abs=5 * math.sqrt(variance / values.size))


@pytest.mark.parametrize(
    ("text", "torchs"),
    [
        ("glorot_uniform(gain=1.5)", lambda w: torch.nn.init.xavier_uniform_(w, 1.5)),
        ("he_uniform(negative_slope=0.3)", lambda w: torch.nn.init.kaiming_uniform_(w, 0.3)),
        (
            "he_uniform(mode='fan_out')",
            lambda w: torch.nn.init.kaiming_uniform_(w, mode="fan_out", nonlinearity="relu"),
        ),
        ("fan_in_uniform", lambda w: torch.nn.init.kaiming_uniform_(w, math.sqrt(5))),
        ("truncated_normal(std=0.5, bound=2.0)", lambda w: torch.nn.init.trunc_normal_(w, 0.0, 0.5, -1.0, 1.0)),
        ("uniform(0.2, 0.4)", lambda w: torch.nn.init.uniform_(w, 0.2, 0.4)),
    ],
)
def test_bounds_equal_torch(text, torchs):
    """The largest and smallest of many values come close to the bounds of both."""
    shape = (64, 32, 5, 5)
    theirs = torchs(torch.empty(shape)).numpy()
    assert [drawn(text, shape).min(), drawn(text, shape).max()] == pytest.approx([theirs.min(), theirs.max()], rel=1e-2)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (8, 2, 3, 3), (2, 8, 3, 3)])
def test_orthogonal_rows_or_columns(shape):
    values = drawn("orthogonal(gain=2.0)", shape).reshape(shape[0], -1)
    small = values @ values.T if values.shape[0] <= values.shape[1] else values.T @ values
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)


def test_fixed_values():
    np.testing.assert_array_equal(drawn("zeros", (2, 3)), np.zeros((2, 3)))
    np.testing.assert_array_equal(drawn("ones", (2, 3)), np.ones((2, 3)))
    np.testing.assert_array_equal(drawn("constant(-0.5)", (2, 3)), np.full((2, 3), -0.5))
    np.testing.assert_array_equal(drawn("constant(value=3)", ()), 3.0)
    np.testing.assert_array_equal(drawn("constant([0, 1, 2])", (2, 3)), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(drawn("constant(((1,), (2.5,)))", (2, 3)), [[1] * 3, [2.5] * 3])
    for values in ("[1, 2]", "[[1], [2, 3]]", "['a', 'b', 'c']"):
        with pytest.raises(ConfigError, match=r"constant wants numbers for a parameter of shape \(2, 3\), received"):
            drawn(f"constant({values})", (2, 3))
    np.testing.assert_array_equal(drawn("identity(gain=2)", (2, 3)), [[2, 0, 0], [0, 2, 0]])


@pytest.mark.parametrize(("shape", "groups"), [((4, 4, 3), 1), ((6, 3, 3, 5), 2), ((2, 5, 4, 3, 3), 1)])
def test_dirac_equals_torch(shape, groups):
    expected = torch.nn.init.dirac_(torch.empty(shape), groups).numpy()
    np.testing.assert_array_equal(drawn(f"dirac(groups={groups})", shape), expected)


def test_sparse_has_the_zeros_of_torch():
    ours, theirs = drawn("sparse(sparsity=0.3, std=2)", (50, 40)), torch.nn.init.sparse_(torch.empty(50, 40), 0.3)
    assert set((ours == 0).sum(0)) == set((theirs == 0).sum(0).tolist()) == {15}
    assert ours[ours != 0].std() == pytest.approx(2, rel=0.1)
    assert len(set(map(tuple, (ours == 0).T))) > 30, "each unit has inputs of its own"


# what these names have drawn since the first version, of seeds 0 and 5
SINCE_THE_FIRST_VERSION = {
    "zeros": "ee3800d84aa604d7",
    "ones": "a44affa4ec835741",
    "normal": "883ee97fd4b126ce",
    "unit_normal": "4ddacb14b8092cb3",
    "glorot_uniform": "ebe3acc2c298896b",
    "glorot_normal": "a07e2c438f0f52d3",
    "he_uniform": "2d0b7695fbcfe739",
    "he_normal": "6e49b3e924dcc548",
    "fan_in_uniform": "51abf1736d6bcf50",
}


@pytest.mark.parametrize("name", SINCE_THE_FIRST_VERSION)
def test_weights_of_a_seed_do_not_change(name):
    """Bit by bit; orthogonal is left out, because its bits are those of a LAPACK."""
    arrays = [
        draw(name, shape, "float32", seed, "a/kernel:0") for shape in [(64, 32), KERNEL, VECTOR] for seed in (0, 5)
    ]
    assert hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:16] == SINCE_THE_FIRST_VERSION[name]


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers_have_summary_and_settings(name):
    shape = KERNEL if name == "dirac" else MATRIX
    values = draw(name, shape, "float32", 0, "a/kernel:0")
    assert values.shape == shape
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert INITIALIZERS[name].__doc__.endswith((".", ")"))
    defaults = ", ".join(f"{key}={p.default!r}" for key, p in settings_of(name).items())
    np.testing.assert_array_equal(draw(f"{name}({defaults})", shape, "float32", 0, "a/kernel:0"), values)
    assert (
        not np.array_equal(draw(name, shape, "float32", 1, "a/kernel:0"), values)
        or not values.std()
        or values.max() == 1
    )


# -- as a setting of a layer


TEXTS = ["glorot_normal", "normal(std=0.01)", "constant(0.5)", "truncated_normal( mean = 1, std=2e-1 )"]


@pytest.mark.parametrize("text", TEXTS)
def test_initializer_text_round_trip(text, tmp_path):
    settings = {"out_features": 3, "kernel_init": text}
    nodes = {"a": Node("Input", "x", {"shape": (None, 4)}), "b": Node("Linear", "head", settings)}
    graph = Graph(nodes, {"e": Edge("a", "b", "output", "x")}, "net")
    save_structure(graph, tmp_path / "net.labdl")
    scope = {}
    exec(graph.to_python(), scope)
    layers = [
        Graph.from_dict(json.loads(json.dumps(graph.to_dict()))).to_module().head,
        load_structure(tmp_path / "net.labdl").to_module().head,
        scope["Net"]().head,
    ]
    for layer in layers:
        assert params_of(layer)["kernel_init"] == text
        layer.build((None, 4), backend="numpy", seed=1)
        np.testing.assert_array_equal(layer.kernel, draw(text, (4, 3), "float32", 1, "kernel:0"))


def test_the_form_lists_the_names_and_takes_texts():
    prop = json.loads(json.dumps(layer_schema(nn.Linear)["schema"]["properties"]["kernel_init"]))
    assert prop["anyOf"][0]["enum"] == list(INITIALIZERS)
    validator = jsonschema.Draft202012Validator(prop)
    for text in [*TEXTS, *INITIALIZERS]:
        validator.validate(text)
    assert not validator.is_valid("best")
    assert not validator.is_valid(3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("best", r"a name with settings such as \"normal\(std=0.01\)\", received 'best'; the names are fan_in_uniform"),
        ("normal(std=0.01", "is a name, or a name with settings"),
        ("normal(std=open('x'))", "is a name, or a name with settings"),
        ("__import__('os').system('x')", "is a name, or a name with settings"),
        ("system('x')", "initializer 'system' in .* is unknown"),
        ("normal(sd=1)", r"initializer normal takes mean=0.0, std=0.02, received 'normal\(sd=1\)'"),
        ("normal(1, 2, 3)", "initializer normal takes mean=0.0, std=0.02"),
        ("normal(1, mean=2)", "initializer normal takes mean=0.0, std=0.02"),
        ("normal(**{'std': 1})", "initializer normal takes mean=0.0, std=0.02"),
        ("zeros(1)", "initializer zeros takes no settings"),
        ("normal(std=0)", "initializer normal: std wants a number above 0, received 0"),
        ("normal(std=1e999)", "initializer normal: std wants a number above 0, received inf"),
        ("normal(std=True)", "initializer normal: std wants a number above 0, received True"),
        ("sparse(sparsity=1.0)", "initializer sparse: sparsity wants a number at least 0 and below 1, received 1.0"),
        ("he_normal(mode='both')", 'initializer he_normal: mode wants "fan_in", "fan_out", received \'both\''),
        ("constant('a')", "initializer constant: value wants a number, list or tuple, received 'a'"),
    ],
)
def test_unknown_initializer_raises(text, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(text)
    with pytest.raises(ConfigError, match="Linear: kernel_init"):
        nn.Linear(3, kernel_init=text)


@pytest.mark.parametrize(
    ("text", "shape", "sentence"),
    [
        ("identity", KERNEL, r"identity is for a matrix, received a parameter of shape \(32, 16, 3, 3\)"),
        ("dirac", MATRIX, "dirac is for a convolution kernel"),
        ("sparse", VECTOR, "sparse is for a matrix"),
        ("dirac(groups=5)", KERNEL, "a number of outputs divisible by groups, received 32"),
        ("uniform(1.0, 0.5)", MATRIX, "low not above high"),
    ],
)
def test_initializer_rejects_parameter_shape(text, shape, sentence):
    with pytest.raises(ConfigError, match=sentence):
        drawn(text, shape)
