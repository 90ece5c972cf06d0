"""ONNX nodes with attributes that few programs write, against the values of ONNX Runtime."""

import itertools

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import helper
from test_onnx import assert_same, flat, run
from test_onnx_import import drawn, made

from labdl.saving.onnx.importer.module import decode

WHERE = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric")
ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
WHOLE = {"doubled": (6, 10), "tripled": (9, 15), "halved": (2, 3), "the same": (3, 5)}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(("where", "rounding"), [*itertools.product(WHERE, ROUNDING)])
def test_nearest_neighbors_are_those_of_onnx(where, rounding):
    for name, size in WHOLE.items():
        height = 4 if name == "halved" else 3
        x = np.arange(height * 5, dtype="float32").reshape(1, 1, height, 5)
        if name == "halved":
            x, size = x[..., :4], (2, 2)
        for by in ("sizes", "scales"):
            given = (
                {"sizes": np.array([1, 1, *size])}
                if by == "sizes"
                else {"scales": np.array([1, 1, *(m / n for n, m in zip(x.shape[2:], size, strict=True))], "float32")}
            )
            node = helper.make_node(
                "Resize",
                ["x", "", "", "sizes"] if by == "sizes" else ["x", "", "scales"],
                ["y"],
                mode="nearest",
                coordinate_transformation_mode=where,
                nearest_mode=rounding,
            )
            data = made([node], [("x", list(x.shape))], [("y", None)], given, opset=19)
            assert_same(flat(decode(data, backend="numpy")(x)), run(data, [x]))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_crops_are_resized(mode):
    node = helper.make_node(
        "Resize",
        ["x", "roi", "", "sizes"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=7.0,
    )
    weights = {"roi": np.array([0, 0, 0.1, -0.3, 1, 1, 0.8, 1.1], "float32"), "sizes": np.array([1, 1, 5, 6])}
    data = made([node], [("x", [1, 1, 4, 4])], [("y", None)], weights, opset=19)
    x = drawn(1, 1, 4, 4)
    assert_same(flat(decode(data, backend="numpy")(x)), run(data, [x]))


def test_sizes_by_scales_are_rounded_down_in_float32():
    """5 * 1.4 is 7, as in PyTorch, which writes such files: in float64 the nearest number below 1.4 gives 6."""
    for mode in ("nearest", "linear", "cubic"):
        node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode)
        weights = {"scales": np.array([1, 1, 1.4, 0.7], "float32")}
        data = made([node], [("x", [1, 1, 5, 5])], [("y", None)], weights, opset=19)
        x = drawn(1, 1, 5, 5)
        expected = run(data, [x])
        assert expected[0].shape == (1, 1, 7, 3)
        assert_same(flat(decode(data, backend="numpy")(x)), expected)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (1, 1), (1, 5), (3, 1), (3, 5)], ids=repr)
@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5, "beta": 2.0, "transB": 1}], ids=["plain", "scaled"])
def test_every_shape_of_the_addend_of_gemm(shape, attributes):
    kernel = drawn(5, 4) if attributes else drawn(4, 5)
    node = helper.make_node("Gemm", ["x", "kernel", "addend"], ["y"], **attributes)
    weights = {"kernel": kernel, "addend": drawn(*shape)}
    data = made([node], [("x", [3, 4])], [("y", None)], weights)
    x = drawn(3, 4, seed=1)
    assert_same(flat(decode(data, backend="numpy")(x)), run(data, [x]))
