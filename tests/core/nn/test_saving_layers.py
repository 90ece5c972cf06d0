"""User-defined layers in files: names, missing layers, and collisions of names."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service
from labdl.nn.schema import LAYERS, layer_schema
from labdl.ops.operator import floats
from labdl.saving import load_structure

X = np.ones((2, 3), "float32")


@pytest.fixture(autouse=True)
def removed():
    before = dict(LAYERS)
    yield
    LAYERS.clear()
    LAYERS.update(before)


SOURCE = '''
class Scale(nn.Module):
    """The input times a number and a learned one."""
    times: float = 1.0

    def setup(self, x):
        self.weight = nn.Parameter((x.shape[-1],), "ones")

    def forward(self, x):
        return x * self.weight * self.times * factor
'''


def scale(module, factor, **options):
    """A layer Scale as that module would define it."""
    space = {"nn": nn, "factor": factor, "__name__": module}
    exec(SOURCE, space)
    return nn.layer({}, floats(2, 3), **options)(space["Scale"])


def saved(layer, path):
    model = nn.Sequential(layer).build((None, 3), backend="numpy")
    labdl.save(model, path)
    return model


@pytest.mark.parametrize(
    ("module", "options", "name"),
    [
        ("__main__", {}, "Scale"),
        ("acme.nets.layers", {}, "acme.Scale"),
        ("acme", {"namespace": "acme.v2"}, "acme.v2.Scale"),
        ("acme", {"namespace": ""}, "Scale"),
        ("my-script", {}, "my_script.Scale"),
        ("labdl.models.new", {}, "Scale"),
    ],
)
def test_layer_type_in_files(module, options, name, tmp_path):
    cls = scale(module, 2, **options)
    assert cls.layer_type == name
    assert (layer_schema(cls)["type"], layer_schema(cls)["label"]) == (name, "Scale")
    saved(cls(3.0), tmp_path / "net")
    assert [n.type for n in load_structure(tmp_path / "net.labdl").nodes.values()] == ["Input", name]
    np.testing.assert_array_equal(labdl.load(tmp_path / "net", backend="numpy")(X), 6 * X)


def test_layers_of_one_name_from_different_places(tmp_path):
    """Each file gets the layer that it was saved with."""
    for module, factor in (("acme.layers", 2), ("other.layers", 3), ("__main__", 5)):
        saved(scale(module, factor)(), tmp_path / module)
    for module, factor in (("acme.layers", 2), ("other.layers", 3), ("__main__", 5)):
        np.testing.assert_array_equal(labdl.load(tmp_path / module, backend="numpy")(X), factor * X)


def test_duplicate_layer_type_raises():
    first = scale("acme.layers", 2)
    with pytest.raises(
        ConfigError, match=r"the layer Scale of acme.layers is registered as 'acme.Scale' already: .*namespace="
    ):
        scale("acme.others", 3)
    assert LAYERS["acme.Scale"] is first
    with pytest.raises(ConfigError, match=r"the layer Linear of labdl.nn.linear is registered as 'Linear' already"):
        nn.layer({}, namespace="")(type("Linear", (nn.Module,), {"__doc__": "Mine."}))
    assert LAYERS["Linear"] is nn.Linear


def test_a_cell_that_is_run_again_replaces_its_layer():
    scale("__main__", 2)
    second = scale("__main__", 3)
    assert LAYERS["Scale"] is second


@pytest.mark.parametrize("namespace", ["ops", "ops.mine", "a b", "../a", "a.", "é"])
def test_a_namespace_is_a_word_and_not_that_of_operators(namespace):
    with pytest.raises(ConfigError, match="Scale cannot have the namespace"):
        scale("acme", 2, namespace=namespace)


def test_namespace_ops_is_rejected():
    with pytest.raises(ConfigError, match="Scale cannot have the namespace 'ops'"):
        scale("ops", 2)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (
            "acme.layers",
            "layer type 'acme.Scale' is unknown: import the module of acme that defines the class Scale first",
        ),
        ("__main__", "layer type 'Scale' is unknown: define its class with @nn.layer or import the module that does"),
    ],
)
def test_a_file_with_an_unknown_layer(module, sentence, tmp_path):
    """It says which layer and what to do; the graph opens, in the editor too, and can be saved again."""
    cls = scale(module, 2)
    saved(cls(times=3.0), tmp_path / "net")
    LAYERS.pop(cls.layer_type)
    for options in ({}, {"parameters": False}):
        with pytest.raises(ModelError, match=sentence):
            labdl.load(tmp_path / "net", backend="numpy", **options)
    graph = load_structure(tmp_path / "net.labdl")
    with pytest.raises(ModelError, match=sentence):
        graph.to_module()
    problems = graph.check()[1]
    (node,) = [i for i, n in graph.nodes.items() if n.type == cls.layer_type]
    assert [(p.node, p.message.startswith(sentence)) for p in problems] == [(node, True)]
    data = service.decode((tmp_path / "net.labdl").read_bytes(), "net.labdl")
    # the layer that would say that this is a float is not there, so the value does
    assert data["nodes"][node]["params"] == {"times": {"float": "3.0"}}
    assert service.check(data)["nodes"][node]["problem"].startswith(sentence)
    assert service.encode(data)
    assert labdl.load_parameters(tmp_path / "net.npz")
    LAYERS[cls.layer_type] = cls
    np.testing.assert_array_equal(labdl.load(tmp_path / "net", backend="numpy")(X), 6 * X)


def test_moved_class_is_suggested(tmp_path):
    saved(scale("acme.layers", 2)(), tmp_path / "net")
    LAYERS.pop("acme.Scale")
    scale("new", 2)
    with pytest.raises(ModelError, match=r"'acme.Scale' is unknown, though there is 'new.Scale': .*namespace='acme'"):
        labdl.load(tmp_path / "net", backend="numpy")
    scale("new", 2, namespace="acme")
    np.testing.assert_array_equal(labdl.load(tmp_path / "net", backend="numpy")(X), 2 * X)


def test_nothing_is_imported_that_a_file_names():
    """The standard library has a module that says something when it is imported."""
    import sys

    for kind in ("this.Scale", "antigravity.Scale", "__main__.Scale"):
        with pytest.raises(ModelError, match="is unknown"):
            Graph(
                {"i": Node("Input", "input", {"shape": (None, 3)}), "n": Node(kind, "n")}, {"e": Edge("i", "n")}
            ).to_module()
    assert "this" not in sys.modules
    assert "antigravity" not in sys.modules


def test_source_distinguishes_layers_of_one_name():
    one, other = scale("acme.layers", 2), scale("other.layers", 3)
    source = labdl.trace(nn.Sequential(one(), other()), (None, 3)).to_python()
    assert "from acme.layers import Scale\n" in source
    assert "from other.layers import Scale as other_Scale\n" in source
    assert "Scale()" in source
    assert "other_Scale()" in source


def test_subclass_of_a_layer_is_not_the_parent():
    """A class without @nn.layer of its own is opened up in a trace."""

    class Doubled(nn.Linear):
        def forward(self, x):
            return ops.add(super().forward(x), super().forward(x))

    graph = labdl.trace(nn.Sequential(Doubled(2)), (None, 3))
    assert "Linear" not in {n.type for n in graph.nodes.values()}
