"""State dicts of other models: the report of what fits, and keys under other names."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labdl import nn
from labdl.errors import ConfigError, StateDictError
from labdl.interop.key_map import map_keys, rename_keys


def net(classes=3, width=4):
    model = nn.Sequential(nn.Linear(width), nn.Linear(classes))
    return model.build((None, 5), backend="numpy", seed=0)


@pytest.fixture
def values():
    return {key: value + 1 for key, value in net().state_dict().items()}


def test_the_report_of_what_does_not_fit(values):
    model = net(classes=2)
    before = model.state_dict()
    values["more/kernel:0"] = np.zeros(2)
    del values["0/bias:0"]
    with pytest.warns(
        UserWarning, match=r"2 parameters of Sequential keep their values: 1/kernel:0 has shape \(4, 3\)"
    ):
        report = model.load_state_dict(values, strict=False)
    assert report.loaded == ["0/kernel:0"]
    assert (report.missing_keys, report.unexpected_keys) == (["0/bias:0"], ["more/kernel:0"])
    assert report.mismatched == {
        "1/kernel:0": "has shape (4, 3), the model wants (4, 2)",
        "1/bias:0": "has shape (3,), the model wants (2,)",
    }
    after = model.state_dict()
    np.testing.assert_array_equal(after["0/kernel:0"], values["0/kernel:0"])
    assert all(np.array_equal(after[key], before[key]) for key in before if key != "0/kernel:0")
    missing, unexpected = report
    assert (missing, unexpected) == (["0/bias:0"], ["more/kernel:0"])
    assert str(report).splitlines()[:3] == ["1 parameters set", "missing: 0/bias:0", "unexpected: more/kernel:0"]


def test_values_that_all_fit_give_an_empty_report(values):
    model = net()
    for strict in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            report = model.load_state_dict(values, strict=strict)
        assert (report.loaded, [*report], report.mismatched) == (list(values), [[], []], {})
    np.testing.assert_equal(model.state_dict(), values)


@pytest.mark.parametrize("strict", [True, False])
def test_values_of_which_none_fits_are_refused(strict):
    model = net()
    before = model.state_dict()
    with pytest.raises(StateDictError, match="unexpected a:0" if strict else "there is nothing to set"):
        model.load_state_dict({"a:0": np.zeros(2)}, strict=strict)
    with pytest.raises(StateDictError, match=r"1/bias:0 has shape \(9,\), the model wants \(3,\)"):
        model.load_state_dict({"1/bias:0": np.zeros(9)}, names="1/bias:0", strict=strict)
    with pytest.raises(StateDictError, match=r"1/bias:0 holds complex64, the model wants float32"):
        model.load_state_dict({"1/bias:0": np.zeros(3, "complex64")}, names="1/bias:0", strict=strict)
    np.testing.assert_equal(model.state_dict(), before)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda key: f"module.{key}", {"prefix": "module."}),
        (lambda key: f"module.{key}", {"keys": {"module.*": "*"}}),
        (lambda key: f"module.{key}", {"keys": lambda key: key.removeprefix("module.")}),
        (lambda key: f"net/{key.replace('1/', 'fc/')}", {"prefix": "net/", "keys": {"fc/*": "1/*"}}),
        (lambda key: key.replace("/kernel", ".w"), {"keys": {"*.w:0": "*/kernel:0"}}),
        (lambda key: f"layer{key}", {"keys": {re.compile(r"layer(\d+)/(.*)"): r"\1/\2"}}),
    ],
)
def test_keys_under_other_names(values, change, options):
    given = {change(key): value for key, value in values.items()}
    model = net()
    with pytest.raises(StateDictError):
        model.load_state_dict(given)
    assert model.load_state_dict(given, **options).loaded == list(values)
    np.testing.assert_equal(model.state_dict(), values)


def test_keys_may_be_left_out_and_a_part_of_a_model_taken(values):
    whole = {f"backbone/{key}": value for key, value in values.items()} | {
        "head/bias:0": np.zeros(7),
        "step": np.array(3),
    }
    model = net()
    model.load_state_dict(whole, prefix="backbone/")
    np.testing.assert_equal(model.state_dict(), values)
    model.load_state_dict({**values, "step": np.array(3)}, keys={"step": None})
    model.load_state_dict({**values, "step": np.array(3)}, keys=lambda key: None if key == "step" else key)


def test_errors_say_which_prefix_would_help(values):
    model, around = net(), nn.Sequential(net()).build((None, 5), backend="numpy")
    with pytest.raises(StateDictError, match=r"The given keys begin with 'module\.': .*prefix='module\.'"):
        model.load_state_dict({f"module.{key}": value for key, value in values.items()})
    with pytest.raises(StateDictError, match=r"load_state_dict\(values, keys={'\*': '0/\*'}\) adds it"):
        around.load_state_dict(values)
    around.load_state_dict(values, keys={"*": "0/*"})
    with pytest.raises(StateDictError, match=r"not names of LabDL: labdl\.load_checkpoint\(model, file\)"):
        model.load_state_dict({"0.weight": np.zeros((4, 5)), "0.bias": np.zeros(4)})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"prefix": "net."}, StateDictError, r"no key begins with 'net\.': there are a\.b, c"),
        ({"keys": {"*": "x"}}, StateDictError, "'a.b' and 'c' both become 'x'"),
        ({"keys": {"c": "*"}}, ConfigError, r"'\*' has more \* than 'c'"),
        ({"keys": 3}, ConfigError, "keys is a function or a dictionary of patterns, received int"),
        ({"keys": {"c": 3}}, ConfigError, "keys wants patterns and new names as text, received 'c': 3"),
        ({"keys": lambda key: 3}, ConfigError, "keys gives 3 for 'a.b'"),
    ],
)
def test_key_maps_that_make_no_sense(options, error, message):
    with pytest.raises(error, match=message):
        map_keys(["a.b", "c"], **options)


NAMES = st.lists(st.text("ab.*/\n[", max_size=6), unique=True, max_size=6)


@given(NAMES, st.text("a.*[", max_size=3))
def test_a_prefix_goes_on_and_off(names, prefix):
    on = map_keys(names, keys={"*": prefix.replace("*", "") + "*"})
    assert list(on.values()) == [prefix.replace("*", "") + name for name in names]
    back = rename_keys({new: old for old, new in on.items()}, prefix=prefix.replace("*", ""))
    assert back == {name: name for name in names}
