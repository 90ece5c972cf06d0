"""Deformable convolution against its definition, element by element, and against plain convolution."""

import itertools
import math

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.spec import Spec

RNG = np.random.default_rng(0)


def bilinear(picture, y, x):
    """One element of a picture (H, W) between its elements; 0 outside."""
    total = 0.0
    for row, column in itertools.product((math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)):
        if 0 <= row < picture.shape[0] and 0 <= column < picture.shape[1]:
            total += picture[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def reference(x, offset, kernel, mask, stride, padding, dilation):
    """The sum of the paper, with loops over everything."""
    count, channels = x.shape[:2]
    out, per_group, height, width = kernel.shape
    elements = height * width
    shared = offset.shape[1] // (2 * elements)
    result = np.zeros((count, out, *offset.shape[2:]))
    for n, o, i, j in np.ndindex(*result.shape):
        group = o // (out // (channels // per_group))
        for c, a, b in np.ndindex(per_group, height, width):
            channel = group * per_group + c
            field = channel // (channels // shared)
            element = field * elements + a * width + b
            dy, dx = offset[n, 2 * element, i, j], offset[n, 2 * element + 1, i, j]
            y = i * stride[0] - padding[0] + a * dilation[0] + dy
            z = j * stride[1] - padding[1] + b * dilation[1] + dx
            factor = 1.0 if mask is None else mask[n, element, i, j]
            result[n, o, i, j] += kernel[o, c, a, b] * factor * bilinear(x[n, channel], y, z)
    return result


CASES = {
    "plain": ((2, 2, 5, 6), (3, 2, 3, 3), 1, {"padding": 1}, (5, 6)),
    "groups": ((1, 4, 6, 5), (4, 2, 3, 2), 1, {"stride": 2, "padding": (1, 0)}, (3, 2)),
    "shift groups": ((1, 6, 5, 5), (3, 2, 2, 2), 2, {"dilation": (2, 1)}, (3, 4)),
    "all": ((2, 4, 7, 5), (2, 1, 3, 2), 4, {"stride": (2, 1), "padding": (1, 1), "dilation": (1, 2)}, (4, 5)),
}


def pair(value):
    return (value, value) if isinstance(value, int) else value


@pytest.mark.parametrize("masked", [False, True], ids=["v1", "v2"])
@pytest.mark.parametrize("name", CASES)
def test_as_defined(name, masked):
    shape, kernel_shape, shared, options, places = CASES[name]
    if kernel_shape[0] % (shape[1] // kernel_shape[1]):
        kernel_shape = (shape[1] // kernel_shape[1], *kernel_shape[1:])
    x, kernel = RNG.normal(size=shape), RNG.normal(size=kernel_shape)
    elements = kernel_shape[2] * kernel_shape[3]
    offset = RNG.uniform(-2.5, 2.5, (shape[0], 2 * shared * elements, *places))
    mask = RNG.uniform(0, 1, (shape[0], shared * elements, *places)) if masked else None
    full = {k: pair(options.get(k, v)) for k, v in {"stride": 1, "padding": 0, "dilation": 1}.items()}
    bias = RNG.normal(size=kernel_shape[0])
    ours = ops.deform_conv2d(x, offset, kernel, bias, mask, **options)
    expected = reference(x, offset, kernel, mask, **full) + bias[:, None, None]
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-10)


def test_without_shifts_it_is_a_convolution():
    x, kernel = RNG.normal(size=(2, 4, 6, 7)), RNG.normal(size=(6, 2, 3, 3))
    options = {"stride": 2, "padding": 2, "dilation": 2}
    expected = torch.conv2d(torch.from_numpy(x), torch.from_numpy(kernel), groups=2, **options).numpy()
    zeros = np.zeros((2, 18, *expected.shape[2:]))
    np.testing.assert_allclose(ops.deform_conv2d(x, zeros, kernel, **options), expected, atol=1e-12)


def test_shifts_that_are_not_finite_read_nothing():
    x, kernel = np.ones((1, 1, 3, 3)), np.ones((1, 1, 1, 1))
    offset = np.zeros((1, 2, 3, 3))
    offset[0, 0, 1, 1], offset[0, 1, 0, 0] = 1e9, -1e9
    assert ops.deform_conv2d(x, offset, kernel)[0, 0].sum() == 7


def test_refusals():
    x, kernel = Spec((2, 4, 5, 5)), Spec((4, 2, 3, 3))
    assert ops.deform_conv2d(Spec((None, 4, 5, 5)), Spec((None, 18, 3, 3)), kernel).shape == (None, 4, 3, 3)
    for offset, mask, message in (
        (Spec((2, 17, 3, 3)), None, "wants offset"),
        (Spec((2, 54, 3, 3)), None, "divides 4 channels"),
        (Spec((2, 18, 4, 3)), None, "wants offset"),
        (Spec((2, 18, 3, 3)), Spec((2, 8, 3, 3)), "wants mask"),
        (Spec((3, 18, 3, 3)), None, "one batch size"),
        (Spec((18, 3, 3)), None, "wants x"),
    ):
        with pytest.raises(ValueError, match=message):
            ops.deform_conv2d(x, offset, kernel, None, mask)
