"""The bodies of image operators against torch.nn.functional."""

import numpy as np
import pytest

from labdl import ops

torch = pytest.importorskip("torch")
F = torch.nn.functional
NAMES = {1: "linear", 2: "bilinear", 3: "trilinear"}
SIZES = {1: (7,), 2: (7, 6), 3: (3, 5, 4)}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def agree(ours, theirs, rtol=1e-6, atol=1e-7):
    theirs = theirs.numpy() if isinstance(theirs, torch.Tensor) else theirs
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


def to(array):
    return torch.tensor(array)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "target", [{"size": 5}, {"size": 11}, {"size": 1}, {"scale": 2.0}, {"scale": 0.6}, {"scale": 1.7}]
)
def test_interpolate(rng, rank, target):
    x = rng.normal(size=(2, 3, *SIZES[rank]))
    theirs = {"size": target.get("size"), "scale_factor": target.get("scale")}
    for mode in ("nearest", "nearest-exact", "area"):
        agree(ops.interpolate(x, **target, mode=mode.replace("-", "_")), F.interpolate(to(x), **theirs, mode=mode))
    modes = [NAMES[rank], *(["bicubic"] if rank == 2 else [])]
    for mode in modes:
        for corners in (False, True):
            expected = F.interpolate(to(x), **theirs, mode=mode, align_corners=corners)
            agree(ops.interpolate(x, **target, mode=mode, align_corners=corners), expected)
            last = ops.interpolate(
                np.moveaxis(x, 1, -1), **target, mode=mode, align_corners=corners, data_format="channels_last"
            )
            agree(np.moveaxis(last, -1, 1), expected)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("target", [{"size": (3, 11)}, {"size": 2}, {"size": (7, 4)}, {"scale": 0.6}, {"scale": 1.7}])
@pytest.mark.parametrize("corners", [False, True])
def test_antialias(rng, mode, target, corners):
    x = rng.normal(size=(1, 2, 7, 6))
    theirs = {"size": target.get("size"), "scale_factor": target.get("scale")}
    expected = F.interpolate(to(x), **theirs, mode=mode, align_corners=corners, antialias=True)
    agree(ops.interpolate(x, **target, mode=mode, align_corners=corners, antialias=True), expected)


@pytest.mark.sample(False)
def test_nearest_takes_the_same_neighbors_for_all_small_sizes():
    for n in range(1, 40):
        x = np.arange(n, dtype="float64").reshape(1, 1, n)  # PyTorch's float32 kernels round, and differ
        for m in range(1, 60, 3):
            for mode in ("nearest", "nearest-exact"):
                agree(ops.interpolate(x, m, mode=mode.replace("-", "_")), F.interpolate(to(x), m, mode=mode))


def test_interpolate_errors(rng):
    x = rng.normal(size=(1, 1, 4, 4))
    for options, message in (
        ({}, "either size or scale"),
        ({"size": 3, "scale": 2.0}, "either size or scale"),
        ({"size": 3, "mode": "trilinear"}, "has the modes"),
        ({"size": 3, "antialias": True}, "antialias wants"),
        ({"size": (3, 3, 3)}, "size wants"),
        ({"scale": 0.1}, "gives a size of 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ops.interpolate(x, **options)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(rng, mode, padding, corners):
    x, grid = rng.normal(size=(2, 3, 4, 5)), rng.uniform(-2.5, 2.5, size=(2, 6, 7, 2))
    expected = F.grid_sample(to(x), to(grid), mode, padding, corners)
    agree(ops.grid_sample(x, grid, mode=mode, padding=padding, align_corners=corners), expected)
    if mode != "bicubic":
        cube, places = rng.normal(size=(2, 3, 4, 5, 3)), rng.uniform(-2.5, 2.5, size=(2, 4, 2, 3, 3))
        expected = F.grid_sample(to(cube), to(places), mode, padding, corners)
        agree(ops.grid_sample(cube, places, mode=mode, padding=padding, align_corners=corners), expected)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (1, 5), (2, 3, 4)])
def test_affine_grid(rng, size, corners):
    theta = rng.normal(size=(2, len(size), len(size) + 1))
    expected = F.affine_grid(to(theta), [2, 1, *size], corners)
    agree(ops.affine_grid(theta, size, align_corners=corners), expected)


def test_shuffles(rng):
    x = rng.normal(size=(2, 12, 4, 6))
    agree(ops.pixel_shuffle(x, 2), F.pixel_shuffle(to(x), 2))
    agree(ops.pixel_unshuffle(x, 2), F.pixel_unshuffle(to(x), 2))
    agree(ops.channel_shuffle(x, 3), F.channel_shuffle(to(x), 3))
    last = np.moveaxis(x, 1, -1)
    for name, count in (("pixel_shuffle", 2), ("pixel_unshuffle", 2), ("channel_shuffle", 4)):
        moved = getattr(ops, name)(last, count, data_format="channels_last")
        agree(np.moveaxis(moved, -1, 1), getattr(F, name)(to(x), count))
