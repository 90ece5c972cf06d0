"""Loading values into a part of a model, or into a model in use."""

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import FileFormatError, ModelError, StateDictError
from labdl.saving.parameters import ParameterFile


def net(seed=0, head=3):
    return nn.Sequential(nn.Linear(5), nn.BatchNorm(), nn.Linear(head)).build((None, 4), backend="numpy", seed=seed)


@pytest.fixture
def other(tmp_path):
    """The values of another training, and their file."""
    model = net(seed=1)
    labdl.save_parameters(model, tmp_path / "other.npz")
    return model.state_dict(), tmp_path / "other.npz"


def assert_only(model, before, after, names):
    for key, value in model.state_dict().items():
        assert np.array_equal(value, after[key] if key in names else before[key]), key


def test_all_values_are_swapped_in_place(other):
    values, path = other
    model = net()
    kernel = model.get_module("0").kernel
    assert labdl.swap_parameters(model, path) == list(values)
    assert_only(model, {}, values, values)
    assert model.get_module("0").kernel is kernel


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("0/*", ["0/kernel:0", "0/bias:0"]),
        ("*/bias:0", ["0/bias:0", "2/bias:0"]),
        ("1/moving_*", ["1/moving_mean:0", "1/moving_variance:0"]),
    ],
)
def test_a_part_is_swapped(other, pattern, names):
    values, path = other
    model, before = net(), net().state_dict()
    assert labdl.swap_parameters(model, path, pattern) == names
    assert_only(model, before, values, names)


def test_a_part_of_a_model_of_another_head(other):
    values, path = other
    model, before = net(head=7), net(head=7).state_dict()
    with pytest.raises(StateDictError, match=r"2/kernel:0 has shape \(5, 3\), the model wants \(5, 7\)"):
        labdl.swap_parameters(model, path)
    assert_only(model, before, {}, [])
    names = labdl.swap_parameters(model, path, "[01]/*")
    assert_only(model, before, values, names)


@pytest.mark.parametrize("pattern", ["3/*", "nothing", ""])
def test_a_pattern_that_nothing_matches_is_an_error(other, pattern):
    with pytest.raises(StateDictError, match="there is nothing to set: no parameter named as in the values matches"):
        labdl.swap_parameters(net(), other[1], pattern)


@pytest.mark.parametrize("name", ["0/kernel:0", "1/gamma:0", "2/bias:0"])
def test_a_damaged_file_changes_nothing(other, name):
    """Also where the damage lies behind values that are whole."""
    values, path = other
    with ParameterFile(path) as file:
        at = file.entries[name].start
    data = path.read_bytes()
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    model, before = net(), net().state_dict()
    with pytest.raises(
        FileFormatError, match=f"other.npz is damaged: the checksum of {name} does not match its values"
    ):
        labdl.swap_parameters(model, path)
    assert_only(model, before, {}, [])
    untouched = next(k for k in values if k != name)
    assert labdl.swap_parameters(model, path, untouched) == [untouched], "what is whole can still be had"


def test_a_file_of_another_model_changes_nothing(other, tmp_path):
    model, before = net(), net().state_dict()
    values = dict(other[0])
    values["4/kernel:0"] = values.pop("2/bias:0")
    labdl.save_parameters(values, tmp_path / "more.npz")
    with pytest.raises(StateDictError, match=r"missing 2/bias:0; unexpected 4/kernel:0"):
        labdl.swap_parameters(model, tmp_path / "more.npz")
    assert_only(model, before, {}, [])
    with pytest.raises(FileNotFoundError):
        labdl.swap_parameters(model, tmp_path / "none.npz")
    with pytest.raises(ModelError, match="not built yet"):
        labdl.swap_parameters(nn.Linear(3), other[1])


# -- dictionaries


def test_common_parameters_are_loaded_without_strict(other):
    values, _ = other
    model, before = net(), net().state_dict()
    given = {k: v for k, v in values.items() if k != "2/bias:0"} | {"extra:0": np.ones(2)}
    with pytest.raises(StateDictError, match="missing 2/bias:0; unexpected extra:0"):
        model.load_state_dict(given)
    names = model.load_state_dict(given, strict=False).loaded
    assert names == [k for k in values if k != "2/bias:0"]
    assert_only(model, before, values, names)


def test_values_of_another_shape_are_not_taken(other):
    model, before = net(head=7), net(head=7).state_dict()
    with pytest.raises(StateDictError, match=r"2/kernel:0 has shape \(5, 3\)"):
        model.load_state_dict(other[0])
    assert_only(model, before, {}, [])
    with pytest.warns(UserWarning, match=r"2/kernel:0 has shape \(5, 3\)"):
        names = model.load_state_dict(other[0], strict=False).loaded
    assert_only(model, before, other[0], names)


def test_a_pattern_limits_a_dictionary(other):
    values, _ = other
    model, before = net(head=7), net(head=7).state_dict()
    names = model.load_state_dict(values, "0/*").loaded
    assert names == ["0/kernel:0", "0/bias:0"]
    assert_only(model, before, values, names)
    with pytest.raises(StateDictError, match="nothing to set"):
        model.load_state_dict({"other:0": np.ones(1)}, strict=False)


def test_a_long_list_of_problems_is_cut():
    model = nn.Sequential(*(nn.Linear(2) for _ in range(30))).build((None, 2), backend="numpy")
    with pytest.raises(StateDictError, match=r"; and 40 more$"):
        model.load_state_dict({})


def test_a_model_without_parameters_loads_nothing(tmp_path):
    labdl.save(nn.Sequential(nn.ReLU()).build((None, 2), backend="numpy"), tmp_path / "net")
    model = labdl.load(tmp_path / "net", backend="numpy")
    assert model.state_dict() == {}
    assert labdl.swap_parameters(model, tmp_path / "net.npz") == []
