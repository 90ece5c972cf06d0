"""Round trips through files, and error messages for files that do not fit."""

import dataclasses
import itertools
import math
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError, StateDictError
from labdl.graph import Edge, Graph, Node, Note
from labdl.saving import decode, encode, load_parameters, load_structure, save_parameters, save_structure
from labdl.saving.structure import open_structure

FILES = Path(__file__).parents[1] / "files"

VALUES = {
    "head/kernel:0": np.arange(6, dtype="float32").reshape(2, 3),
    "file": np.ones(2),
    "empty": np.zeros((0, 3), "int64"),
}


# -- round trip


def test_a_structure_comes_back_equal(residual, tmp_path):
    save_structure(residual, tmp_path / "net.labdl")
    again = load_structure(tmp_path / "net.labdl")
    assert again == residual
    assert again.positions == residual.positions


@pytest.mark.parametrize(
    "graph",
    [
        Graph(),
        Graph({"": Node("ReLU", "a")}),
        Graph({"ä/ñ 日": Node("Linear", "a", {"out_features": 3})}, name="Zürich 日本"),
        Graph(
            {"i": Node("Input", "x", {"shape": (None, 2)}), "n": Node("ops.getitem", "n", {"index": ":, ::2"})},
            {"e": Edge("i", "n")},
            positions={"n": (-1e9, 0.1)},
        ),
        Graph({"n": Node("Conv2d", "n", {"out_channels": 8, "padding": ((1, 0), (0, 1)), "use_bias": False})}),
    ],
    ids=["empty", "empty id", "not ascii", "operator", "nested"],
)
def test_odd_structures_come_back_equal(graph):
    again = decode(encode(graph))
    assert again == graph
    assert again.positions == graph.positions


def test_bytes_are_deterministic(residual, tmp_path):
    first = encode(residual)
    save_parameters(VALUES, tmp_path / "a.npz")
    time.sleep(1.1)  # both formats can hold times, in seconds
    assert encode(residual) == encode(decode(first)) == first
    save_parameters(dict(VALUES), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_parameters_come_back_equal(tmp_path):
    save_parameters(VALUES, tmp_path / "a.npz")
    again = load_parameters(tmp_path / "a.npz")
    assert list(again) == list(VALUES)
    for name, value in VALUES.items():
        assert again[name].dtype == value.dtype
        np.testing.assert_array_equal(again[name], value)
    with np.load(tmp_path / "a.npz") as plain:  # and NumPy alone can read them
        np.testing.assert_array_equal(plain["head/kernel:0"], VALUES["head/kernel:0"])


def test_parameters_of_a_model_are_what_its_dictionary_gives(saved, tmp_path):
    model, *_ = saved
    save_parameters(model, tmp_path / "a.npz")
    save_parameters(model.state_dict(), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with pytest.raises(ModelError, match="not built yet"):
        save_parameters(nn.Linear(3), tmp_path / "c.npz")


WRITERS = {
    "ours": save_parameters,
    "savez": lambda values, path: np.savez(path, **values),
    "savez_compressed": lambda values, path: np.savez_compressed(path, **values),
}
ARRAYS = {
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every second": np.arange(6.0).reshape(2, 3)[:, ::2],
    "a number": np.float32(3.0),
    "truth": np.array([True, False]),
    "big-endian": np.arange(3, dtype=">i4"),
    "complex": np.array([1 + 2j]),
    "half": np.arange(8, dtype="float16"),
    "texts": np.array(["a", "bc"]),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("save", WRITERS.values(), ids=WRITERS)
def test_arrays_of_every_kind_and_writer(array, save, tmp_path):
    save({"a": array}, tmp_path / "a.npz")
    again = load_parameters(tmp_path / "a.npz")["a"]
    assert (again.dtype, again.shape) == (np.asarray(array).dtype, np.shape(array))
    np.testing.assert_array_equal(again, array)


def test_a_file_of_more_than_a_chunk(tmp_path):
    values = {"a": np.random.default_rng(0).normal(size=400_000), "b": np.ones(3)}
    save_parameters(values, tmp_path / "a.npz")
    np.savez_compressed(tmp_path / "b.npz", **values)
    for name in ("a.npz", "b.npz"):
        assert np.array_equal(load_parameters(tmp_path / name)["a"], values["a"])


def test_dtypes_that_numpy_lacks_are_widened(tmp_path):
    values = np.array([0.5, -3.0, 1e30], ml_dtypes.bfloat16)
    save_parameters({"a": values}, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as plain:
        assert plain["a"].dtype == "float32"
        np.testing.assert_array_equal(plain["a"], values.astype("float32"))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"a": np.array([object()])}, "a holds object, and a parameter file holds only numbers"),
        ({"a": np.array([(1, 2.0)], "i4,f4")}, "a holds .*, and a parameter file holds only numbers"),
        ({"../a": np.ones(1)}, "a parameter cannot be saved as '../a': the name is not a path of names"),
    ],
)
def test_invalid_parameters_are_not_written(values, sentence, tmp_path):
    with pytest.raises(ModelError, match=sentence):
        save_parameters(values, tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


def test_setting_that_is_not_data_is_not_written():
    with pytest.raises(ModelError, match="a setting of the model cannot be written to a file"):
        encode(Graph({"n": Node("Linear", "n", {"out_features": np.ones(2)})}))
    with pytest.raises(ModelError, match="NUL"):
        encode(Graph({"n\0": Node("ReLU", "n")}))


def test_a_large_constant_does_not_widen_every_row():
    nodes = {str(i): Node("ReLU", f"r{i}") for i in range(1000)}
    graph = Graph({**nodes, "c": Node("Constant", "c", {"value": tuple(range(65_536))})})
    data = encode(graph)
    assert len(data) < 1_000_000
    assert decode(data) == graph


@pytest.mark.parametrize("given", ["net", "net.labdl", "net.npz"])
def test_a_model_comes_back(saved, given):
    model, structure, _ = saved
    again = labdl.load(structure.with_name(given), backend="numpy")
    assert again.graph == model.graph
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype("float32")
    np.testing.assert_array_equal(again.eval()(x), model.eval()(x))


def test_structure_alone(saved):
    model, structure, weights = saved
    weights.unlink()
    with pytest.raises(FileNotFoundError, match="load it with parameters=False"):
        labdl.load(structure, backend="numpy")
    fresh = labdl.load(structure, backend="numpy", parameters=False, seed=0)
    assert all(np.array_equal(v, model.state_dict()[k]) for k, v in fresh.state_dict().items())


def test_the_hdf5_suffix_is_kept(residual, tmp_path):
    model = residual.to_module().build(backend="numpy")
    assert [p.name for p in labdl.save(model, tmp_path / "net.h5")] == ["net.h5", "net.npz"]
    assert labdl.load(tmp_path / "net.h5", backend="numpy").graph == residual


def test_an_unbuilt_model_is_not_saved(tmp_path):
    with pytest.raises(ModelError, match="not built yet"):
        labdl.save(nn.Sequential(nn.Linear(3)), tmp_path / "net")
    assert list(tmp_path.iterdir()) == []


def test_missing_files(tmp_path):
    for load in (load_structure, load_parameters):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        labdl.load(tmp_path / "none", backend="numpy")


@pytest.mark.parametrize(("name", "to"), [("head/kernel:0", "table:0"), ("table:0", "head/kernel:0")])
def test_a_tie_with_a_parameter_of_the_model_itself(name, to, tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            self.table = nn.Parameter((4, 4), "unit_normal")
            self.head = nn.Linear(4)
            self.tie(name, to=to)

        def forward(self, x):
            return self.head(x) @ self.table

    model = Tied().build((None, 4), backend="numpy", seed=0)
    labdl.save(model, tmp_path / "net")
    again = labdl.load(tmp_path / "net", backend="numpy")
    assert list(again.state_dict()) == list(model.state_dict()) == ["table:0", "head/bias:0"]
    x = np.random.default_rng(0).normal(size=(2, 4)).astype("float32")
    np.testing.assert_array_equal(again(x), model(x))


@pytest.mark.parametrize(
    "shape", [(257, 300), (70, 40, 30), (64, 65, 4, 5), (5, 4, 65, 64), (1, 70_000, 1, 3), (0, 3, 4)], ids=str
)
def test_axes_of_large_kernels_are_reordered_as_numpy_does(shape):
    array = np.random.default_rng(0).normal(size=shape)
    for axes in itertools.permutations(range(len(shape))):
        parameter = nn.Parameter(shape, standard=axes)
        for given in (array, np.asfortranarray(array), array[::-1]):
            standard = parameter.to_standard(given)
            assert standard.flags.c_contiguous
            assert standard.shape == parameter.standard_shape
            assert np.array_equal(standard, given.transpose(axes))
            assert np.array_equal(parameter.from_standard(standard), given)


# -- what does not fit


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda v: v.pop("head/bias:0"), "missing head/bias:0"),
        (lambda v: v.update({"head/bias:0": np.zeros(11)}), r"head/bias:0 has shape \(11,\), the model wants \(10,\)"),
        (lambda v: v.update(other=np.zeros(1)), "unexpected other"),
        (lambda v: v.update({"head/bias:0": np.full(10, "x")}), "head/bias:0 holds <U1, the model wants float32"),
    ],
)
def test_parameters_of_another_structure_are_named(saved, change, sentence):
    model, structure, weights = saved
    change(values := model.state_dict())
    save_parameters(values, weights)
    with pytest.raises(StateDictError, match=sentence):
        labdl.load(structure, backend="numpy")


def test_names_that_match_a_pattern(saved):
    model, _, weights = saved
    assert list(load_parameters(weights, "head/*")) == ["head/kernel:0", "head/bias:0"]
    assert list(load_parameters(weights, "*bias:0")) == [n for n in model.state_dict() if n.endswith("bias:0")]
    assert load_parameters(weights, "nothing") == {}


# -- earlier versions


def test_a_file_of_the_first_version_opens():
    """Written before shared layers, groups and ties."""
    model = labdl.load(FILES / "version1", backend="numpy")
    x = np.linspace(-1, 1, 128, dtype="float32").reshape(2, 1, 8, 8)
    assert model(x).shape == (2, 3)
    assert model.count_parameters() == 4 * 9 + 4 + 4 * 3 + 3
    assert [n.type for n in model.graph.nodes.values()] == ["Input", "Conv2d", "ops.relu", "ops.mean", "Linear"]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6)
        self.norm = nn.LayerNorm()

    def forward(self, x):
        return x + ops.relu(self.norm(self.linear(x)))


class Net(nn.Module):
    """What the files from version 2 on hold: layers called again, a tie, a weight, infinity, an axis added."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 6)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.token = nn.Parameter((1, 1, 6), "ones")
        self.tie("blocks/1/linear/bias:0", to="blocks/0/linear/bias:0")

    def forward(self, words, mask):
        x = self.embed(words) + self.token
        for block in self.blocks:
            x = block(x)
        x = self.blocks[0](x)
        x = ops.where(mask[:, :, None], x, float("-inf"))
        return ops.max(x, axis=1) @ ops.permute_dims(self.embed.embeddings, (1, 0))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_file_of_every_later_version_opens(version):
    opened = open_structure(FILES / f"version{version}.labdl")
    words, mask = labdl.Spec((None, 5), "int64"), labdl.Spec((None, 5), "bool")
    expected = labdl.trace(Net().build(words, mask, backend="numpy"))
    if version < 5:  # named by place
        former = {
            i: dataclasses.replace(expected.nodes[i], name=name) for i, name in (("n1", "input"), ("n2", "input_1"))
        }
        expected = dataclasses.replace(expected, nodes={**expected.nodes, **former})
    assert opened.version == version
    assert (opened.graph.nodes, opened.graph.edges) == (expected.nodes, expected.edges)
    assert (opened.graph.groups, opened.graph.ties) == (expected.groups, expected.ties)
    assert opened.graph.positions == {"n1": (0.0, 10.5), "n2": (-120.0, 3.25)}
    assert opened.graph.name == "every kind of thing ü"
    assert opened.graph.nodes["n19"].params == {"y": -math.inf}
    model = labdl.load(FILES / f"version{version}", backend="numpy")
    words = np.random.default_rng(0).integers(0, 12, (3, 5))
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 1]], bool)
    figures = [[6.0645003, 3.5118868, 1.3766214], [6.0213556, 1.9394352, 2.2119963], [5.2479334, 3.2271645, 0.0522609]]
    np.testing.assert_allclose(model(words, mask)[:, :3], figures, rtol=1e-5)


class Call(nn.Module):
    """What the file of version 5 holds: inputs that are left out, optional, with a default, and of another name."""

    def __init__(self):
        super().__init__()
        self.linear, self.scale = nn.Linear(4), nn.Linear(4)
        self.attention = nn.MultiHeadAttention(2)

    def forward(self, x, types=None, scale=2.0, mask=None):
        x = self.linear(x) * scale
        return self.scale(self.attention(x, key_mask=mask))


def test_a_file_of_version_5_opens():
    specs = labdl.Spec((None, 3, 4)), None, labdl.Spec(()), labdl.Spec((None, 3), "bool")
    opened = open_structure(FILES / "version5.labdl")
    expected = labdl.trace(Call().build(*specs, backend="numpy"))
    assert (opened.version, opened.graph) == (5, expected)
    inputs = {n.name: n.params for n in opened.graph.nodes.values() if n.type == "Input"}
    assert inputs["scale_input"] == {
        "shape": (),
        "argument": "scale",
        "skips": ("types",),
        "optional": True,
        "default": 2.0,
    }
    assert inputs["mask"] == {"shape": (None, 3), "dtype": "bool", "optional": True}
    model = labdl.load(FILES / "version5", backend="numpy")
    x = np.random.default_rng(0).random((2, 3, 4), "float32")
    mask = np.array([[True, True, False], [True, False, False]])
    figures = [[[-0.1267743, -0.0510786], [0.0297828, -0.1924999]], [[0.0189209, -0.0526669], [0.0224343, -0.055774]]]
    np.testing.assert_allclose(model(x, mask=mask)[:, 0, :2], figures[0], rtol=1e-5)
    np.testing.assert_allclose(model(x, None, np.float32(0.5))[:, 0, :2], figures[1], rtol=1e-5)


def test_the_notes_of_a_file_of_version_4():
    notes = open_structure(FILES / "version4.labdl").graph.notes
    assert notes == {
        "c1": Note("tied to the table\nü, 中 and \U0001f680", (-140.0, -60.5), (320.0, 180.0), "blue"),
        "c2": Note("", (10.0, 400.0), (200.0, 90.25), home="blocks/0"),
    }


def test_a_file_of_an_earlier_version_is_written_in_this_one(tmp_path):
    for version in (1, 2):
        graph = load_structure(FILES / f"version{version}.labdl")
        save_structure(graph, tmp_path / "net.labdl")
        again = open_structure(tmp_path / "net.labdl")
        assert (again.graph, again.version) == (graph, 3)
        assert again.graph.positions == graph.positions
