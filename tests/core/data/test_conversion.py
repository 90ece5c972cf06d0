"""Rules by which data as people have it become what a model takes."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from labdl.data import ArrayDataset
from labdl.data.conversion import (
    TargetRule,
    align,
    as_array,
    encode_labels,
    find_class_names,
    fit_input,
    fit_target,
)
from labdl.errors import ConfigError
from labdl.spec import Spec

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], np.array([[1.0, 2.0], [3.0, 4.0]])),
        ([1, 2, 3], np.array([1, 2, 3])),
        (["b", "a"], np.array(["b", "a"])),
        (np.array(["b", "a"], object), np.array(["b", "a"])),
        (np.array([1, 2.5], object), np.array([1, 2.5])),
        (np.array([b"b", b"a"]), np.array(["b", "a"])),
        (FRAME, np.array([[1, 0.5], [2, 1.5], [3, 2.5]])),
        (FRAME["a"], np.array([1, 2, 3])),
        (FRAME.set_index("a").index, np.array([1, 2, 3])),
        (pd.Series(["b", "a"]), np.array(["b", "a"])),
        (pd.Series(["b", "a"]).astype("category"), np.array(["b", "a"])),
        (pd.Series(["b", "a"]).astype("string"), np.array(["b", "a"])),
        (pd.Series([2, 1]).astype("category"), np.array([2, 1])),
        (pd.Series([1, None]).astype("Int64"), np.array([1, np.nan])),
        (pd.Series([True, False]).astype("boolean"), np.array([True, False])),
        (pd.DataFrame({"a": [1, 2], "b": [True, False]}), np.array([[1, 1], [2, 0]])),
    ],
    ids=str,
)
def test_values_become_arrays(value, wanted):
    found = as_array(value)
    assert found.dtype.kind == wanted.dtype.kind
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "f4", "f8", "U1"])
def test_arrays_get_the_byte_order_of_this_machine(dtype):
    foreign = np.array([1, 0, 2]).astype(np.dtype(dtype).newbyteorder("S"))
    rule = TargetRule("any" if dtype == "U1" else "classes", Spec((None, 3)), "l", labels=True)
    for found in (as_array(foreign), fit_target(foreign, rule, ("0", "1", "2"))):
        assert found.dtype.isnative
        assert found.astype(int).tolist() == [1, 0, 2]
    if dtype != "U1":
        for wanted in ("float32", "float64", "int32"):
            found = fit_input(foreign, Spec((None,), wanted))
            assert found.dtype.isnative
            assert found.tolist() == [1, 0, 2]


def test_columns_that_are_not_numbers_are_named():
    frame = FRAME.assign(city=["Rome", "Oslo", "Bonn"], day=pd.to_datetime(["2020-01-01"] * 3))
    with pytest.raises(ConfigError, match=r"not numbers: city, day; encode them, .*get_dummies"):
        as_array(frame, "data")


def test_ragged_lists_are_refused():
    with pytest.raises(ConfigError, match="data cannot be read as an array"):
        as_array([[1, 2], [3]])


def test_data_sets_take_frames_and_lists():
    data = ArrayDataset(FRAME, ["u", "v", "u"])
    assert data[np.array([1])][0].tolist() == [[2.0, 1.5]]
    assert data.arrays[1].tolist() == ["u", "v", "u"]


def test_pandas_is_not_imported():
    code = "import sys, labdl.data; labdl.data.ArrayDataset([[1.0]], [0]); assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- inputs

DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool"]
SHAPES = arrays_of.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)
SMALL = {"f": st.floats(-4, 4, width=16), "i": st.integers(-100, 100), "u": st.integers(0, 200), "b": st.booleans()}
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda name: arrays_of.arrays(name, SHAPES, elements=SMALL[np.dtype(name).kind])
)


@given(ARRAYS, st.sampled_from(["float16", "float32", "float64"]))
def test_inputs_take_the_floating_point_dtype_of_the_model(array, dtype):
    found = fit_input(array, Spec((None, *array.shape[1:]), dtype))
    assert found.dtype == dtype
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array.astype(dtype))


@given(ARRAYS)
def test_indices_stay_integers(array):
    spec = Spec((None, *array.shape[1:]), "int64")
    if array.dtype.kind == "f" and (array != np.rint(array)).any():
        with pytest.raises(ConfigError, match=r"the model takes indices \(int64\): give whole numbers"):
            fit_input(array, spec)
    else:
        found = fit_input(array, spec)
        assert found.dtype.kind in "iub"
        np.testing.assert_array_equal(found, array)


def test_one_feature_gets_its_axis():
    assert fit_input(np.arange(3.0), Spec((None, 1))).shape == (3, 1)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(["a"]), "hold text such as 'a', the model takes float32"),
        (np.array([{}], object), "hold Python objects of the type dict"),
        (np.array(["2020-01-01"], "datetime64[D]"), "hold dates"),
    ],
)
def test_inputs_that_are_no_numbers_are_refused(array, message):
    with pytest.raises(ConfigError, match=message):
        fit_input(array, Spec((None,)))


# -- labels and targets


@pytest.mark.sample(False)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5), min_size=1))
def test_labels_return_from_their_numbers(labels):
    array = np.array(labels)
    names = find_class_names(array)
    assert list(names) == sorted(set(array.tolist()))
    np.testing.assert_array_equal(np.array(names)[encode_labels(array, names)], array)


def test_names_keep_their_order():
    assert encode_labels(np.array(["low", "high"]), ("low", "mid", "high")).tolist() == [0, 2]
    with pytest.raises(ConfigError, match="the label 'top' is none of the model's classes low, high"):
        encode_labels(np.array(["top"]), ("low", "high"))


CLASSES, VALUES = (TargetRule(kind, Spec((None, n)), "l", labels=True) for kind, n in (("classes", 3), ("values", 1)))


@pytest.mark.parametrize(
    ("target", "rule", "dtype", "shape"),
    [
        (np.array([0.0, 2.0]), CLASSES, "int64", (2,)),
        (np.array([0, 2], "uint8"), CLASSES, "int64", (2,)),
        (np.array([[0], [2]]), CLASSES, "int64", (2,)),
        (np.array([True, False]), CLASSES, "int64", (2,)),
        (np.eye(3, dtype="int64")[:2], CLASSES, "float32", (2, 3)),
        (np.array(["a", "c"]), CLASSES, "int64", (2,)),
        (np.array([1.0, 2.0]), VALUES, "float32", (2, 1)),
        (np.array([1, 0]), VALUES, "float32", (2, 1)),
        (np.array([[1.0], [2.0]]), VALUES, "float32", (2, 1)),
        (np.array([[1.0], [2.0]]), TargetRule("values", Spec((None,))), "float32", (2,)),
        (np.array([1.0]), TargetRule(), "float32", (1,)),
        (np.array([1]), TargetRule(), "int64", (1,)),
    ],
)
def test_targets_take_the_dtype_and_the_axes_of_the_loss(target, rule, dtype, shape):
    found = fit_target(target, rule, ("a", "b", "c"))
    assert (found.dtype, found.shape) == (dtype, shape)


@pytest.mark.parametrize(
    ("target", "rule", "message"),
    [
        (np.array([0.5]), CLASSES, "the targets hold 0.5, the loss l takes class numbers"),
        (np.array(["a"]), TargetRule("values", loss="mean_squared_error"), "loss mean_squared_error takes numbers"),
        (np.array(["a", None], object), CLASSES, "leave out samples without a target"),
    ],
)
def test_targets_that_do_not_fit_are_refused(target, rule, message):
    with pytest.raises(ConfigError, match=message):
        fit_target(target, rule, ("a",))


@given(arrays_of.arrays("float32", SHAPES, elements=SMALL["f"]))
def test_aligned_targets_have_the_axes_of_the_output(array):
    assert align(array, (None, *array.shape[1:])) is array
    np.testing.assert_array_equal(align(array, (None, *array.shape[1:], 1)), array[..., None])
    np.testing.assert_array_equal(align(array[..., None], (None, *array.shape[1:])), array)
