"""Lists and dictionaries of parameters: training, traces, files, slices, and changes after build."""

import copy

import numpy as np
import pytest
from composites import numbers

import labdl
from labdl import nn, ops

pytestmark = pytest.mark.sample(backends=2)


class Scaled(nn.Module):
    """Parameters in a list and a dictionary."""

    def __init__(self):
        self.scales = nn.ParameterList(nn.Parameter((3,), "unit_normal") for _ in range(2))
        self.named = nn.ParameterDict({"shift": nn.Parameter((3,), "ones")})

    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        return x + self.named["shift"] * self.scales[-1]


def test_parameters_of_lists_are_trained_traced_and_saved(backend, tmp_path):
    model = Scaled().build((None, 3), backend=backend.name, seed=0)
    names = ["scales/0:0", "scales/1:0", "named/shift:0"]
    values = model.state_dict()
    assert list(values) == names
    x = numbers(2, 3)
    a, b, shift = values.values()
    np.testing.assert_allclose(labdl.to_numpy(model(backend.tensor(x))), x * a * b + shift * b, rtol=1e-5)
    graph = labdl.trace(model, (None, 3))
    again = graph.to_module().build((None, 3), backend=backend.name)
    again.load_state_dict(values)
    space: dict = {}
    exec(graph.to_python(), space)
    written = space["Scaled"]().build((None, 3), backend=backend.name)
    written.load_state_dict(values)
    assert isinstance(written.scales, nn.ParameterList)
    labdl.save(model, tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend=backend.name)
    for other in (again, written, loaded):
        np.testing.assert_allclose(
            labdl.to_numpy(other(backend.tensor(x))), labdl.to_numpy(model(backend.tensor(x))), rtol=1e-5
        )
    labdl.Trainer(model, loss="mse", optimizer="sgd", learning_rate=0.1).fit(x, x, epochs=1, batch_size=2)
    assert all(np.abs(model.state_dict()[name] - values[name]).max() > 1e-5 for name in names)


def test_lists_in_lists_are_traced():
    class Nested(nn.Module):
        def __init__(self):
            self.nested = nn.ModuleList([nn.ParameterList([nn.Parameter((3,), "unit_normal")])])

        def forward(self, x):
            return x * self.nested[0][0]

    model = Nested().build((None, 3), backend="numpy", seed=0)
    again = labdl.trace(model, (None, 3)).to_module().build((None, 3), backend="numpy")
    again.load_state_dict(model.state_dict())
    assert list(again.state_dict()) == ["nested/0/0:0"]
    x = numbers(2, 3)
    np.testing.assert_array_equal(again(x), model(x))


def test_lists_of_parameters_are_lists():
    scales = nn.ParameterList([nn.Parameter((1,))])
    assert scales.append(nn.Parameter((2,))).extend([nn.Parameter((3,))]) is scales
    assert [s.shape for s in scales] == [(1,), (2,), (3,)]
    assert (len(scales), scales[-1].shape, len(scales[1:]), scales[1:][0].shape) == (3, (3,), 2, (2,))
    scales[0] = nn.Parameter((5,))
    assert scales[0].shape == (5,)
    with pytest.raises(IndexError):
        scales[3]
    named = nn.ParameterDict({"a": nn.Parameter((1,))})
    named.update({"b": nn.Parameter((2,))})
    assert (list(named), "a" in named, len(named), named["b"].shape) == (["a", "b"], True, 2, (2,))
    del named["a"]
    assert [(k, v.shape) for k, v in named.items()] == [("b", (2,))]
    with pytest.raises(KeyError):
        named["a"]
    with pytest.raises(ValueError, match="ParameterList holds parameters, such as"):
        nn.ParameterList([np.ones(3)])
    with pytest.raises(ValueError, match="cannot hold 'keys'"):
        named["keys"] = nn.Parameter((1,))


class Sliced(nn.Module):
    """Uses a slice of a list, and a slice of that."""

    def __init__(self):
        self.scales = nn.ParameterList(nn.Parameter((3,), "unit_normal") for _ in range(4))

    def forward(self, x):
        for scale in self.scales[1:]:
            x = x * scale
        return x + self.scales[::2][1:][0] * self.scales[-1:][0] - self.scales[:1][0]


def test_slices_are_traced_saved_and_trained(backend, tmp_path):
    model = Sliced().build((None, 3), backend=backend.name, seed=0)
    x, p = numbers(2, 3), list(model.state_dict().values())
    expected = x * p[1] * p[2] * p[3] + p[2] * p[3] - p[0]
    np.testing.assert_allclose(labdl.to_numpy(model(backend.tensor(x))), expected, rtol=1e-5)
    labdl.save(model, tmp_path / "net")
    space: dict = {}
    exec(labdl.trace(model, (None, 3)).to_python(), space)
    written = space["Sliced"]().build((None, 3), backend=backend.name)
    written.load_state_dict(model.state_dict())
    for other in (labdl.load(tmp_path / "net", backend=backend.name), written):
        np.testing.assert_allclose(labdl.to_numpy(other(backend.tensor(x))), expected, rtol=1e-5)
    before = model.state_dict()
    labdl.Trainer(model, loss="mse", optimizer="sgd", learning_rate=0.1).fit(x, x, epochs=1, batch_size=2)
    moved = [np.abs(v - before[k]).max() > 1e-5 for k, v in model.state_dict().items()]
    assert all(moved)


def test_slices_in_a_module_with_a_backward_function(backend):
    model = Sliced().build((None, 3), backend=backend.name, seed=0)
    model.register_backward_function(lambda gradient, x: (2 * gradient, {"scales/1:0": ops.sum(gradient, axis=0)}))
    variables = [p.value for p in model.parameters()]
    x = numbers(2, 3)
    value, found = backend.gradients(lambda v, *_: ops.sum(model(v)), [backend.tensor(x), *variables])
    p = list(model.state_dict().values())
    assert float(labdl.to_numpy(value)) == pytest.approx((x * p[1] * p[2] * p[3] + p[2] * p[3] - p[0]).sum(), rel=1e-5)
    wanted = [np.full((2, 3), 2), np.zeros(3), np.full(3, 2), np.zeros(3), np.zeros(3)]
    for gradient, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(labdl.to_numpy(gradient), expected)


class Factors(nn.Module):
    """Multiplies by all its parameters, which are 1."""

    def __init__(self):
        one = (lambda: nn.Parameter((3,), "ones"),) * 4
        self.own = one[0]()
        self.listed = nn.ParameterList([one[1]()])
        self.named = nn.ParameterDict({"a": one[2]()})
        self.nested = nn.ModuleList([nn.ParameterList([one[3]()])])

    def forward(self, x):
        x = x * self.own
        for part in (self.listed, self.named.values(), *self.nested):
            for factor in part:
                x = x * factor
        return x


class Around(nn.Module):
    """Calls a module, and uses a parameter of it."""

    def __init__(self):
        self.inner = Factors()

    def forward(self, x):
        return self.inner(x) * self.inner.own


def two(**options):
    return nn.Parameter((3,), "constant(2)", **options)


def replace_own(m):
    m.own = two()


def replace_listed(m):
    m.listed[0] = two()


def append(m):
    m.listed.append(two())


def add_to_list(m):
    m.listed += [two()]


def replace_named(m):
    m.named["a"] = two()


def add_named(m):
    m.named.update({"b": two()})


def append_list(m):
    m.nested.append(nn.ParameterList([two()]))


def add_to_module_list(m):
    m.nested += [nn.ParameterList([two()])]


def append_to_nested(m):
    m.nested[0].append(two())


def replace_list(m):
    m.listed = nn.ParameterList([two()])


def append_to_new_list(m):
    m.listed = nn.ParameterList()
    m.listed.append(two())


CHANGES = (
    replace_own,
    replace_listed,
    append,
    add_to_list,
    replace_named,
    add_named,
    append_list,
    add_to_module_list,
    append_to_nested,
    replace_list,
    append_to_new_list,
)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("around", [False, True], ids=["model", "part"])
@pytest.mark.parametrize("change", CHANGES)
def test_parameters_after_build(change, around, backend, tmp_path):
    """They have values at once: the model computes with them, trains them and saves them."""
    model = (Around() if around else Factors()).build((None, 3), backend=backend.name)
    x = numbers(2, 3)
    expected = 2 * x
    change(model.inner if around else model)
    if around and change is replace_own:
        expected = 4 * x
    np.testing.assert_array_equal(labdl.to_numpy(model(backend.tensor(x))), expected)
    assert model.built
    assert not model.unbuilt
    names = [k for k, v in model.state_dict().items() if v[0] == 2]
    assert len(names) == 1
    again = copy.deepcopy(model)
    np.testing.assert_array_equal(labdl.to_numpy(again(backend.tensor(x))), expected)
    labdl.save(model, tmp_path / "net")
    np.testing.assert_array_equal(
        labdl.to_numpy(labdl.load(tmp_path / "net", backend=backend.name)(backend.tensor(x))), expected
    )
    labdl.Trainer(model, loss="mse", optimizer="sgd", learning_rate=0.1).fit(x, x, epochs=1, batch_size=2)
    assert np.abs(model.state_dict()[names[0]] - 2).max() > 1e-4


def test_a_parameter_after_build_in_a_training(backend):
    model = Factors().build((None, 3), backend=backend.name)
    x = numbers(2, 3)
    trainer = labdl.Trainer(model, loss="mse", optimizer="adam", learning_rate=0.1)
    trainer.train_one_batch(x, x)
    model.listed.append(two())
    trainer.train_one_batch(x, x)
    assert np.abs(model.state_dict()["listed/1:0"] - 2).max() > 1e-4


def test_a_frozen_parameter_after_build(backend):
    model = Factors().build((None, 3), backend=backend.name)
    model.freeze()
    model.listed.append(two())
    assert not model.trainable_variables()
    model.named["b"] = two(trainable=False)
    model.trainable = True
    assert model.listed[0].shape == (3,)
    assert model.count_parameters() == 18
    with pytest.raises(TypeError):
        model.listed += 3
