"""Modules and layers: paths, building, values, error messages, and the schema for the editor."""

import copy
import json
import types

import jsonschema
import numpy as np
import pytest

import labdl
from labdl import dispatch, nn, ops
from labdl.errors import ConfigError, ModelError, StateDictError
from labdl.graph import Graph, Node
from labdl.graph.node import make
from labdl.nn.schema import LAYERS, fields, layer_schema, operator_schemas, params_of
from labdl.settings import form_fields
from labdl.spec import Spec


class Plain(nn.Module):
    heads: int = 1

    def forward(self, x):
        return x


def test_arguments_of_a_class_without_init_are_refused():
    assert Plain().heads == 1
    for create, names in ((lambda: Plain(heads=2), "heads"), (lambda: Plain(2), "size")):
        with pytest.raises(ConfigError, match=rf"Plain has no __init__ .* write `def __init__\(self, {names}\)"):
            create()


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size)
        self.norm = nn.BatchNorm()

    def forward(self, x):
        return ops.relu(self.norm(self.linear(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(8)
        self.second = Block(6)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(3)

    def forward(self, x):
        return self.head(self.drop(self.second(self.first(x))))


@pytest.fixture
def net():
    return Net().build((None, 4), backend="numpy", seed=0)


X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


# -- contents


def test_parameters_have_their_path_as_name(net):
    assert list(net.state_dict()) == [
        "first/linear/kernel:0",
        "first/linear/bias:0",
        "first/norm/gamma:0",
        "first/norm/beta:0",
        "first/norm/moving_mean:0",
        "first/norm/moving_variance:0",
        "second/linear/kernel:0",
        "second/linear/bias:0",
        "second/norm/gamma:0",
        "second/norm/beta:0",
        "second/norm/moving_mean:0",
        "second/norm/moving_variance:0",
        "head/kernel:0",
        "head/bias:0",
    ]
    assert [path for path, _ in net.named_modules()][:4] == ["", "first", "first/linear", "first/norm"]
    assert net.count_parameters() == (4 * 8 + 8 + 16) + (8 * 6 + 6 + 12) + (6 * 3 + 3)


def test_a_shared_module_counts_once():
    model = nn.Sequential(shared := nn.Linear(4), nn.ReLU(), shared).build((None, 4), backend="numpy")
    assert list(model.state_dict()) == ["0/kernel:0", "0/bias:0"]
    assert model.count_parameters() == 20
    graph = labdl.trace(model)
    assert [(n.name, n.shares) for n in graph.nodes.values()] == [("input", ""), ("0", ""), ("1", ""), ("0_1", "n2")]
    assert graph.to_module().build(backend="numpy").count_parameters() == 20


def test_a_convolution_kernel_is_saved_as_window_in_out():
    layer = nn.Conv2d(5, kernel_size=(3, 2)).build((None, 4, 6, 6), backend="numpy")
    kernel = layer.state_dict()["kernel:0"]
    assert kernel.shape == (3, 2, 4, 5)
    np.testing.assert_array_equal(kernel.transpose(3, 2, 0, 1), layer.kernel)


def test_a_replaced_layer_takes_over(net):
    before = net.state_dict()
    net.head = nn.Linear(7)
    with pytest.raises(ModelError, match="not built yet: Net, head"):
        net.state_dict()
    net.build((None, 4), backend="numpy")
    after = net.state_dict()
    assert after["head/kernel:0"].shape == (6, 7)
    assert all(np.array_equal(after[k], before[k]) for k in before if not k.startswith("head"))
    assert net(X).shape == (5, 7)


def test_a_layer_replaced_deep_inside_is_built_by_the_next_call(net):
    net.first.linear = nn.Linear(8, use_bias=False)
    with pytest.raises(ModelError, match="not built yet: first, first/linear"):
        net.state_dict()
    assert net(X).shape == (5, 3)
    assert "first/linear/bias:0" not in net.state_dict()


def test_layer_replaced_by_another_value_is_removed(net):
    net.drop = None
    assert "drop" not in dict(net.named_modules())
    del net.head
    assert not any(key.startswith("head") for key in net.state_dict())


def test_plain_list_of_layers_raises():
    class Hidden(nn.Module):
        def __init__(self):
            self.layers = [nn.Linear(2)]

        def forward(self, x):
            return self.layers[0](x)

    with pytest.raises(ModelError, match=r"Hidden\.layers is a plain list .* write self\.layers = nn\.ModuleList"):
        Hidden().build((None, 3), backend="numpy")


def test_containers_behave_like_lists():
    """Names follow the positions, and layers that stay keep their weights."""
    model = nn.Sequential(nn.Linear(4), nn.ReLU(), nn.Linear(2)).build((None, 3), backend="numpy", seed=0)
    before = model.state_dict()
    model.insert(1, nn.Linear(4))
    assert model.unbuilt == ["Sequential", "1"]
    assert model(X[:, :3]).shape == (5, 2)
    assert list(model.state_dict()) == ["0/kernel:0", "0/bias:0", "1/kernel:0", "1/bias:0", "3/kernel:0", "3/bias:0"]
    assert np.array_equal(model.state_dict()["3/kernel:0"], before["2/kernel:0"])
    del model[1]
    assert np.array_equal(model(X[:, :3]), nn.Sequential(*model).build((None, 3), backend="numpy")(X[:, :3]))
    assert model.pop().out_features == 2
    model[0] = nn.Linear(7)
    model.extend([nn.Tanh()])
    assert [type(m).__name__ for m in model] == ["Linear", "ReLU", "Tanh"]
    assert isinstance(model[1:], nn.Sequential)
    with pytest.raises(IndexError):
        model[3]


def test_modules_by_name():
    class Heads(nn.Module):
        def __init__(self):
            self.heads = nn.ModuleDict({"class": nn.Linear(2), "box": nn.Linear(4)})

        def forward(self, x):
            return self.heads["class"](x), self.heads["box"](x)

    model = Heads().build((None, 3), backend="numpy")
    assert list(model.heads) == ["class", "box"]
    assert "box" in model.heads
    assert next(iter(model.state_dict())) == "heads/class/kernel:0"
    graph = labdl.trace(model)
    assert "nn.ModuleDict({'class': nn.Linear(2), 'box': nn.Linear(4)})" in graph.to_python()
    del model.heads["box"]
    assert len(model.heads) == 1
    with pytest.raises(ConfigError, match=r"'keys'.* another name"):
        nn.ModuleDict({"keys": nn.ReLU()})
    with pytest.raises(ConfigError, match="a name of a ModuleDict has letters, digits and _, received 'a/b'"):
        nn.ModuleDict({"a/b": nn.ReLU()})


def test_modules_and_parameters_by_path(net):
    assert net.get_module("first/linear") is net.first.linear
    assert net.get_module("") is net
    assert net.get_parameter("first/norm/gamma:0").shape == (8,)
    assert list(net.get_parameters()) == [n for n, _ in net.named_parameters()]
    assert list(net.get_modules())[:2] == ["", "first"]
    with pytest.raises(ModelError, match="Net has no module 'first/gone': Block has linear, norm"):
        net.get_module("first/gone")
    with pytest.raises(ModelError, match="Net has no parameter 'first/linear/gone:0': it has first/linear/kernel:0"):
        net.get_parameter("first/linear/gone:0")


def test_add_and_remove_modules_by_path(net):
    before = net.eval().state_dict()
    net.add_module("first/linear", nn.Linear(8, use_bias=False))
    assert net.unbuilt == ["Net", "first", "first/linear"]
    assert net(X).shape == (5, 3)
    assert all(np.array_equal(net.state_dict()[k], before[k]) for k in before if not k.startswith("first/linear"))
    assert isinstance(net.remove_module("second/norm"), nn.BatchNorm)
    with pytest.raises(ModelError, match="Block has linear"):
        net.remove_module("second/norm")
    with pytest.raises(ConfigError, match="add_module wants a module for 'x', received int"):
        net.add_module("x", 3)


def test_a_first_call_builds_for_its_named_inputs_too():
    layer = nn.MultiHeadAttention(2)
    x, context = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 6), "float32")
    assert tuple(layer(x, context=context).shape) == (2, 3, 4)
    assert layer.get_parameter("key/kernel:0").shape == (6, 4)


def test_containers():
    items = nn.ModuleList([nn.Linear(2), nn.ReLU()])
    items.append(nn.Linear(3))
    assert len(items) == 3
    assert [type(m).__name__ for m in items] == ["Linear", "ReLU", "Linear"]
    assert items[-1].out_features == 3
    with pytest.raises(ConfigError, match="Sequential holds modules, received int"):
        nn.Sequential(nn.ReLU(), 3)


@pytest.mark.parametrize("name", ["forward", "build", "train", "state_dict", "parameters", "_modules"])
def test_layer_name_must_not_hide_a_method(name):
    with pytest.raises(ConfigError, match=f"'{name}'.* another name"):
        setattr(Net(), name, nn.Linear(2))


# -- building


def test_same_seed_same_weights_and_a_new_layer_changes_no_other(net):
    again = Net().build((None, 4), backend="numpy", seed=0).state_dict()
    other = Net().build((None, 4), backend="numpy", seed=1).state_dict()
    values = net.state_dict()
    assert all(np.array_equal(values[k], again[k]) for k in values)
    assert not np.array_equal(values["head/kernel:0"], other["head/kernel:0"])
    larger = Net()
    larger.extra = nn.Linear(2)
    larger.forward = lambda x: larger.extra(Net.forward(larger, x))
    larger.build((None, 4), backend="numpy", seed=0)
    assert all(np.array_equal(values[k], larger.state_dict()[k]) for k in values)


def test_the_global_seed_counts_when_no_other_is_given():
    labdl.seed(5)
    assert np.array_equal(
        nn.Linear(2).build((None, 3), backend="numpy").kernel,
        nn.Linear(2).build((None, 3), backend="numpy", seed=5).kernel,
    )


def test_a_failed_build_leaves_the_model_as_it_was():
    """A wrong shape, then the right one: sizes found on the way to the failure are forgotten."""
    model = nn.Sequential(nn.Linear(4), nn.Conv2d(2))
    with pytest.raises(ModelError, match=r"Conv2d wants 4 axes \(N, C, H, W\), received \(None, 4\)"):
        model.build((None, 5), backend="numpy")
    assert model.build((None, 1, 8, 8), backend="numpy")[0].kernel.shape == (8, 4)


def test_the_first_call_builds():
    model = Net()
    assert not model.built
    with pytest.raises(ModelError, match="not built: call build"):
        _ = model.input_specs
    assert tuple(model(X).shape) == (5, 3)
    assert model.built
    assert model.backend == dispatch.default()


def test_model_without_forward_raises():
    with pytest.raises(ModelError, match="Empty has no forward"):
        type("Empty", (nn.Module,), {})().build((None, 2), backend="numpy")


@pytest.mark.parametrize(
    ("layer", "shape", "sentence"),
    [
        (lambda: nn.Linear(3), (None,), r"Linear wants \(N, ..., features\)"),
        (lambda: nn.Linear(3), (None, None), "Linear needs a known size on its in_features axis"),
        (lambda: nn.Linear(3, in_features=4), (None, 5), "made for in_features=4, received 5"),
        (lambda: nn.Conv2d(4), (None, 784), r"Conv2d wants 4 axes \(N, C, H, W\), received \(None, 784\)"),
        (lambda: nn.Conv2d(4, data_format="channels_last"), (None, 784), r"\(N, H, W, C\)"),
        (lambda: nn.Conv2d(4, groups=3), (None, 3, 8, 8), "groups=3 must divide in_channels=3 and out_channels=4"),
        (lambda: nn.Conv2d(4, kernel_size=9), (None, 3, 8, 8), "a window of 9 does not fit into a size of 8"),
        (lambda: nn.MaxPool2d(2, padding=2), (None, 3, 8, 8), "at most half"),
        (lambda: nn.Embedding(10, 4), (None, 3), "Embedding wants integers, received float32"),
        (lambda: nn.Flatten(), (None, None, 3), "Flatten needs known sizes"),
        (lambda: nn.Reshape((5, 5)), (None, 24), "number of elements of a sample differs"),
        (lambda: nn.Reshape((0, -1)), (None, 24), "Reshape"),
        (lambda: nn.MultiHeadAttention(3), (None, 5, 8), "features divisible by heads=3"),
        (lambda: nn.LSTM(3), (None, 5), r"LSTM wants 3 axes \(N, steps, features\)"),
    ],
)
def test_invalid_outputs_raise_model_error(layer, shape, sentence):
    with pytest.raises(ModelError, match=sentence):
        layer().build(shape, backend="numpy")


# -- values


def test_load_state_dict_lists_every_wrong_key(net):
    values = net.state_dict()
    kept = copy.deepcopy(values)
    del values["head/bias:0"], values["second/norm/beta:0"]
    values["extra/kernel:0"] = np.zeros(3)
    values["head/kernel:0"] = np.zeros((2, 2), "float32")
    with pytest.raises(StateDictError) as caught:
        net.load_state_dict(values)
    for part in (
        "missing head/bias:0",
        "missing second/norm/beta:0",
        "unexpected extra/kernel:0",
        "head/kernel:0 has shape (2, 2), the model wants (6, 3)",
    ):
        assert part in str(caught.value)
    assert isinstance(caught.value, KeyError)
    assert all(np.array_equal(v, kept[k]) for k, v in net.state_dict().items()), "nothing was changed"


@pytest.mark.parametrize(
    "bad",
    [np.array(["a", "b", "c"]), np.zeros(3, "complex64"), np.zeros(3, "datetime64[s]")],
    ids=lambda a: str(a.dtype),
)
def test_load_state_dict_wants_numbers(net, bad):
    with pytest.raises(StateDictError, match=r"head/bias:0 holds .*, the model wants float32"):
        net.load_state_dict({**net.state_dict(), "head/bias:0": bad})


def test_state_dict_is_a_copy(net):
    net.state_dict()["head/bias:0"][:] = 9
    assert not net.head.bias.any()
    values = net.state_dict()
    net.load_state_dict({k: v.astype("float64") + 1 for k, v in values.items()})
    assert net.head.bias.dtype == np.float32
    np.testing.assert_allclose(net.head.bias, 1)


def test_train_and_eval_reach_every_layer(net):
    assert all(m.training for m in net.eval().train().modules())
    assert not any(m.training for m in net.eval().modules())
    np.testing.assert_array_equal(net(X), net(X))
    mean = net.first.norm.moving_mean.copy()
    net.train()(X)
    assert not np.array_equal(net.first.norm.moving_mean, mean)


def test_values_of_a_copied_model_are_its_own(net):
    twin = copy.deepcopy(net)
    twin.head.bias[:] = 1
    assert not net.head.bias.any()
    assert net.eval()(X).shape == twin.eval()(X).shape
    assert not np.allclose(net(X), twin(X))


def test_representations(net):
    assert repr(net).splitlines()[:3] == ["Net()", "  first: Block()", "    linear: Linear(out_features=8)"]
    table = net.summary()
    assert "head" in table
    assert f"{net.count_parameters():,} trainable parameters" in table


# -- hyper-parameters


@pytest.mark.parametrize(
    ("make_it", "sentence"),
    [
        (lambda: nn.Linear(0), "Linear: out_features wants an integer at least 1, received 0"),
        (lambda: nn.Linear("8"), "Linear: out_features wants an integer at least 1, received '8'"),
        (lambda: nn.Linear(True), "Linear: out_features wants an integer at least 1, received True"),
        (
            lambda: nn.Linear(8, kernel_init="best"),
            "Linear: kernel_init: an initializer is a name, .* received 'best'; the names",
        ),
        (lambda: nn.Dropout(1.0), "Dropout: rate wants a number at least 0 and below 1, received 1.0"),
        (
            lambda: nn.Conv2d(8, padding="some"),
            'Conv2d: padding wants "same", "valid", an integer at least 0 or a list',
        ),
        (lambda: nn.Conv2d(8, kernel_size=(3, 0)), r"Conv2d: kernel_size wants .*, received \(3, 0\)"),
        (lambda: nn.BatchNorm(epsilon=0), "BatchNorm: epsilon wants a number above 0, received 0"),
        (lambda: nn.BatchNorm(momentum=-1), "BatchNorm: momentum wants a number at least 0 and at most 1, received -1"),
        (lambda: nn.ConvNormAct(8, momentum=5), "momentum wants a number at least 0 and at most 1, received 5"),
        (lambda: nn.PairwiseDistance(epsilon=-1.0), "epsilon wants a number at least 0"),
        (lambda: nn.MaxPool2d(data_format="nchw"), 'MaxPool2d: data_format wants "channels_first", "channels_last"'),
    ],
)
def test_a_wrong_setting_is_a_config_error(make_it, sentence):
    with pytest.raises(ConfigError, match=sentence):
        make_it()


def with_lists(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_has_a_valid_schema_and_example(name):
    cls = LAYERS[name]
    entry = with_lists(layer_schema(cls))  # as the editor receives it
    assert entry["summary"].endswith((".", ")"))
    assert bool(entry["inputs"]) == (name not in ("Input", "Weight", "Constant"))
    assert entry["outputs"]
    assert entry["category"] not in ("", "module")
    jsonschema.Draft202012Validator.check_schema(entry["schema"])
    validator = jsonschema.Draft202012Validator({**entry["schema"], "additionalProperties": False})
    validator.validate(with_lists(cls.layer_example.params))
    validator.validate(entry["initial"])
    cls(**entry["initial"])
    assert set(entry["schema"]["properties"]) == set(form_fields(cls))
    for prop in entry["schema"]["properties"].values():
        assert "$ref" not in json.dumps(prop), "the form has no definitions to look into"
        if "default" in prop:
            jsonschema.Draft202012Validator(prop).validate(prop["default"])


@pytest.mark.parametrize("name", LAYERS)
def test_params_make_the_same_layer_through_json(name):
    cls = LAYERS[name]
    layer = cls(**cls.layer_example.params)
    params = params_of(layer)
    again = make(Graph.from_dict(with_lists(Graph({"n": Node(name, "n", params)}).to_dict())).nodes["n"])
    assert params_of(again) == params
    assert {k: getattr(again, k) for k in fields(cls)} == {k: getattr(layer, k) for k in fields(cls)}


def test_operators_have_schemas_too():
    for entry in operator_schemas():
        jsonschema.Draft202012Validator.check_schema(with_lists(entry["schema"]))
        assert entry["palette"] is False
        assert entry["summary"]


def test_a_layer_from_a_notebook_cell():
    """A class without a module on disk: it is in the registry, checked and traced like our own."""
    cell = types.ModuleType("__main__")
    source = '''
from labdl import nn, ops
from labdl.ops.operator import floats

@nn.layer({"size": 3}, floats(2, 4))
class Scale(nn.Module):
    """A learned factor a feature."""

    size: int
    factor: float = 1.0

    def setup(self, x):
        self.weight = nn.Parameter((x.shape[-1],), "ones")

    def forward(self, x):
        return ops.multiply(x, self.weight) * self.factor
'''
    exec(source, cell.__dict__)
    try:
        assert layer_schema(LAYERS["Scale"])["category"] == "custom"
        graph = labdl.trace(nn.Sequential(cell.Scale(3, factor=2.0)), (None, 4))
        assert [n.type for n in graph.nodes.values()] == ["Input", "Scale"]
        np.testing.assert_allclose(graph.to_module().build(backend="numpy")(X), 2 * X)
        with pytest.raises(ConfigError, match="Scale: factor wants a number, received 'x'"):
            cell.Scale(3, factor="x")
    finally:
        LAYERS.pop("Scale")


def test_calls_with_specs_return_specs(net):
    assert Net()(Spec((None, 4))).shape == (None, 3)


def test_graph_model_finds_submodules_of_layers_by_path():
    class Block(nn.Module):
        def __init__(self):
            self.attention = nn.MultiHeadAttention(2)

        def forward(self, x):
            return self.attention(x)

    class Net(nn.Module):
        def __init__(self):
            self.blocks = nn.Sequential(Block())

        def forward(self, x):
            return self.blocks(x)

    twin = labdl.trace(Net(), (None, 3, 4)).to_module().build(backend="numpy")
    assert twin.get_parameter("blocks/0/attention/query/kernel:0").shape == (4, 4)
    assert twin.get_module("blocks/0/attention/query") is twin.get_modules()["blocks/0/attention/query"]


def test_layer_decorator_without_parentheses(tmp_path):
    @nn.layer
    class Shift(nn.Module):
        """x + amount."""

        amount: float = 1.0

        def forward(self, x):
            return x + self.amount

    assert isinstance(Shift, type)
    model = nn.Sequential(Shift(2.0)).build((None, 2), backend="numpy")
    labdl.save(model, tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend="numpy")
    np.testing.assert_array_equal(labdl.predict(loaded, np.zeros((1, 2), "float32")), [[2, 2]])


@pytest.mark.parametrize(
    ("create", "call", "message"),
    [
        (nn.Add, lambda layer, x: layer([x, x]), r"Add .* received a list of 2: call it as layer\(x, y\)"),
        (nn.Concat, lambda layer, x: layer((x, x)), r"Concat .* received a tuple of 2: call it as layer\(x, y\)"),
        (
            lambda: nn.LSTMCell(3),
            lambda layer, x: layer(x, (x, x)),
            r"LSTMCell .* a tuple of 2: call it as layer\(x, hidden, cell\)",
        ),
    ],
)
def test_tensors_in_a_list_are_refused(create, call, message):
    x = labdl.tensor(np.ones((2, 3), "float32"), backend="numpy")
    built = create()
    built(x, x)
    for layer in (create(), built):
        with pytest.raises(ModelError, match=message):
            call(layer, x)


def test_what_a_recurrent_layer_returns_is_refused_by_the_next_layer():
    message = (
        r"Linear takes one tensor, received a tuple of 3: .*`output, \*states = lstm\(x\)`.*nn.Sequential passes on all"
    )
    with pytest.raises(ModelError, match=message):
        nn.Sequential(nn.LSTM(4), nn.Linear(1)).build((None, 5, 2), backend="numpy")


class _Without(nn.Module):
    def setup(self):
        self.first, self.second = nn.Linear(4), nn.Linear(3)

    def forward(self, x, y=None):
        return self.second(self.first(x))


class _WithOne(_Without):
    def setup(self, x):
        super().setup()


def test_setup_takes_the_specs_or_nothing():
    model = _Without().build((None, 5), backend="numpy")
    assert labdl.predict(model, np.zeros((2, 5), "float32")).shape == (2, 3)
    assert _Without().build((None, 5), y=(None, 2), backend="numpy").built
    message = r"_WithOne.setup\(x\) does not take the Specs of 2 inputs: write `def setup\(self, \*inputs\)`, or"
    with pytest.raises(ModelError, match=message):
        _WithOne().build((None, 5), (None, 2), backend="numpy")


def test_names_that_models_of_other_frameworks_have_are_names_of_layers():
    model = nn.Sequential(nn.Linear(3)).build((None, 2), backend="numpy")
    with pytest.raises(AttributeError, match=r"write labdl.save\(model, path\)"):
        model.save  # noqa: B018

    class Net(nn.Module):
        def setup(self):
            self.save, self.cpu = nn.Linear(3), nn.Linear(2)

        def forward(self, x):
            return self.cpu(self.save(x))

    net = Net().build((None, 4), backend="numpy")
    assert [name for name, _ in net.named_modules()] == ["", "save", "cpu"]
    assert labdl.predict(net, np.zeros((1, 4), "float32")).shape == (1, 2)
