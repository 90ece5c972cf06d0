"""ONNX nodes whose axes, sizes and positions are inputs of the model: one model for all of their values."""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from test_onnx import flat, run
from test_onnx_import import drawn
from test_onnx_values import node, write

from labdl.saving.onnx.importer.module import decode


def numbers(*values):
    return np.array(values, "int64")


def assert_reads_all(nodes, x, names, settings, opset=18, outputs=("y",)):
    """One model of these nodes gives what ONNX Runtime gives for each setting of its computed inputs."""
    data = write(nodes, {"x": x, **dict(zip(names, settings[0], strict=True))}, list(outputs), opset=opset)
    model = decode(data, "file.onnx", "numpy")
    for values in settings:
        expected, found = run(data, [x, *values]), flat(model(x, *values))
        assert [v.shape for v in found] == [v.shape for v in expected], values
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, err_msg=str(values))


REDUCTIONS = ["Sum", "Prod", "Mean", "Max", "Min", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reductions_along_computed_axes(kind, keepdims):
    settings = [[numbers(0, 2)], [numbers(1, -3)], [numbers(-1, 1)]]
    nodes = [node(f"Reduce{kind}", ["x", "axes"], ["y"], keepdims=keepdims)]
    assert_reads_all(nodes, np.abs(drawn(2, 3, 4)) + 0.1, ["axes"], settings)


def test_reductions_of_no_axes_are_of_all_or_none():
    for noop in (0, 1):
        nodes = [node("ReduceSum", ["x", "axes"], ["y"], noop_with_empty_axes=noop)]
        assert_reads_all(nodes, drawn(2, 3), ["axes"], [[numbers()]])


def test_axes_that_are_added_or_removed():
    add, remove = [node("Unsqueeze", ["x", "a"], ["y"])], [node("Squeeze", ["x", "a"], ["y"])]
    assert_reads_all(add, drawn(2, 3), ["a"], [[numbers(0, 1)], [numbers(3, 0)], [numbers(-1, 1)], [numbers(-2, -1)]])
    assert_reads_all(remove, drawn(2, 1, 3, 1), ["a"], [[numbers(1, 3)], [numbers(-1, -3)]])


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_running_sums_along_a_computed_axis(exclusive, reverse):
    nodes = [node("CumSum", ["x", "axis"], ["y"], exclusive=exclusive, reverse=reverse)]
    assert_reads_all(nodes, drawn(2, 3, 4), ["axis"], [[np.array(n)] for n in (0, 1, -1)])


def test_slices_from_computed_numbers():
    far = 2**63 - 1
    settings = [
        [numbers(1, 0), numbers(3, 5), numbers(0, 1), numbers(1, 2)],
        [numbers(-1, 3), numbers(-far, -1), numbers(1, -2), numbers(-1, 1)],
        [numbers(9, -9), numbers(0, far), numbers(0, 1), numbers(-2, 3)],
        [numbers(2, 5), numbers(2, 4), numbers(-1, 0), numbers(1, 1)],
    ]
    nodes = [node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])]
    assert_reads_all(nodes, drawn(4, 6), ["starts", "ends", "axes", "steps"], settings)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_computed_padding(mode):
    settings = [[numbers(1, 0, 2, 1)], [numbers(0, 2, 0, 0)], [numbers(0, 0, 0, 0)], [numbers(-1, 2, 0, -1)]]
    settings = settings if mode in ("constant", "edge") else settings[:3]  # ONNX Runtime differs from the standard
    assert_reads_all([node("Pad", ["x", "pads"], ["y"], mode=mode)], drawn(3, 5), ["pads"], settings, opset=19)


def test_padding_of_computed_axes_with_a_computed_number():
    nodes = [node("Pad", ["x", "pads", "value", "axes"], ["y"])]
    settings = [[numbers(1, 2), np.float32(3), numbers(0)], [numbers(0, 1), np.float32(-1), numbers(-1)]]
    settings = [[p, np.array(v), a] for p, v, a in settings]
    assert_reads_all(nodes, drawn(3, 5), ["pads", "value", "axes"], settings)


def test_computed_shapes():
    reshape, x = [node("Reshape", ["x", "s"], ["y"])], drawn(2, 3, 4)
    assert_reads_all(reshape, x, ["s"], [[numbers(*s)] for s in ((4, 3, 2), (0, -1, 1), (1, 24, 1), (-1, 0, 0))])
    assert_reads_all([node("Expand", ["x", "s"], ["y"])], drawn(3, 1), ["s"], [[numbers(2, 3, 4)], [numbers(1, 1, 1)]])
    assert_reads_all([node("Tile", ["x", "t"], ["y"])], drawn(2, 3), ["t"], [[numbers(2, 1)], [numbers(1, 3)]])
    fill = [node("ConstantOfShape", ["s"], ["f"]), node("Add", ["f", "x"], ["y"])]
    assert_reads_all(fill, drawn(1), ["s"], [[numbers(2, 3)], [numbers(1, 4)]])


def test_parts_and_places():
    parts = [node("Split", ["x", "s"], ["y", "z"], axis=1)]
    assert_reads_all(parts, drawn(2, 5), ["s"], [[numbers(2, 3)], [numbers(5, 0)]], outputs=("y", "z"))
    top = [node("TopK", ["x", "k"], ["y", "z"], axis=0)]
    assert_reads_all(top, drawn(5, 2), ["k"], [[numbers(1)], [numbers(4)]], outputs=("y", "z"))
    for upper in (0, 1):
        triangle = [node("Trilu", ["x", "k"], ["y"], upper=upper)]
        assert_reads_all(triangle, drawn(2, 3, 4), ["k"], [[np.array(n)] for n in (-2, 0, 3, -9)])
    hot = [node("OneHot", ["x", "depth", "values"], ["y"], axis=0)]
    settings = [[np.array(3), drawn(2)], [np.array(6), drawn(2)]]
    assert_reads_all(hot, np.array([0, -1, 2]), ["depth", "values"], settings)


@pytest.mark.parametrize(("first", "last", "step"), [(1, 9, 3), (5, -2, -2), (3, 1, 1), (0, 6, 2)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_computed_ranges(first, last, step, dtype):
    nodes = [node("Range", ["x", "last", "step"], ["y"])]
    assert_reads_all(nodes, np.array(first, dtype), ["last", "step"], [[np.array(n, dtype) for n in (last, step)]])


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("where", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_computed_resizing(mode, where):
    x = drawn(1, 2, 5, 4)
    for names, settings in {
        ("", "s"): [[np.array(s, "float32")] for s in ((1, 1, 2, 0.5), (1, 1, 1.4, 3), (1, 1, 1, 1))],
        ("", "", "s"): [[numbers(1, 2, 7, 2)], [numbers(1, 2, 1, 8)]],
    }.items():
        nodes = [node("Resize", ["x", *names], ["y"], mode=mode, coordinate_transformation_mode=where)]
        assert_reads_all(nodes, x, ["s"], settings, opset=19)


def test_dropout_whose_training_is_an_input():
    nodes = [node("Dropout", ["x", "rate", "training"], ["y", "mask"])]
    x, rate = np.ones((50, 4), "float32"), np.array(0.5, "float32")
    data = write(nodes, {"x": x, "rate": rate, "training": np.array(True)}, ["y", "mask"])
    model = decode(data, "file.onnx", "numpy")
    y, mask = model(x, rate, np.array(False))
    assert (y == np.where(mask, x, 0)).all()
    assert mask.all()
    y, mask = model(x, rate, np.array(True))
    assert 0.3 < mask.mean() < 0.7
    np.testing.assert_array_equal(y, np.where(mask, 2.0, 0.0))
