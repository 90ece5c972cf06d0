"""The NumPy bodies of neural operators against torch.nn.functional."""

import math

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.spec import Spec

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def agree(ours, theirs, rtol=1e-9, atol=1e-10):
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else theirs
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


def t(array):
    return torch.tensor(array)


SPATIAL = {1: (11,), 2: (7, 9), 3: (5, 6, 4)}
CONV_OPTIONS = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "groups": 2, "padding": 2},
    {"stride": 3, "padding": 1, "dilation": 2},
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", CONV_OPTIONS)
@pytest.mark.parametrize("last", [False, True])
def test_convolution(rng, rank, options, last):
    groups = options.get("groups", 1)
    x = rng.normal(size=(2, 4, *SPATIAL[rank]))
    kernel, bias = rng.normal(size=(6, 4 // groups, *(3, 2, 2)[:rank])), rng.normal(size=6)
    theirs = getattr(F, f"conv{rank}d")(t(x), t(kernel), t(bias), **options)
    given = np.moveaxis(x, 1, -1) if last else x
    layout = "channels_last" if last else "channels_first"
    ours = getattr(ops, f"conv{rank}d")(given, kernel, bias, **options, data_format=layout)
    agree(np.moveaxis(ours, -1, 1) if last else ours, theirs)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [
        *CONV_OPTIONS,
        {"stride": 3, "padding": 1, "output_padding": 2},
        {"stride": 2, "output_padding": 1},
        {"dilation": 3, "output_padding": 2},
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_transposed_convolution(rng, rank, options, last):
    groups = options.get("groups", 1)
    x = rng.normal(size=(2, 4, *SPATIAL[rank]))
    kernel, bias = rng.normal(size=(4, 6 // groups, *(3, 2, 2)[:rank])), rng.normal(size=6)
    theirs = getattr(F, f"conv_transpose{rank}d")(t(x), t(kernel), t(bias), **options)
    given = np.moveaxis(x, 1, -1) if last else x
    layout = "channels_last" if last else "channels_first"
    ours = getattr(ops, f"conv_transpose{rank}d")(given, kernel, bias, **options, data_format=layout)
    agree(np.moveaxis(ours, -1, 1) if last else ours, theirs)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2])
def test_a_transposed_convolution_is_the_gradient_of_a_same_convolution(rng, stride, window, dilation):
    x, kernel = rng.normal(size=(1, 2, 4)), rng.normal(size=(2, 3, window))
    ours = ops.conv_transpose1d(x, kernel, stride=stride, padding="same", dilation=dilation)
    assert ours.shape == (1, 3, 4 * stride)
    y = rng.normal(size=ours.shape)
    forth = ops.conv1d(y, kernel, stride=stride, padding="same", dilation=dilation)
    np.testing.assert_allclose(np.sum(forth * x), np.sum(y * ours), rtol=1e-9)


def test_asymmetric_padding_of_a_transposed_convolution_crops_its_ends(rng):
    x, kernel = rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(2, 3, 3, 3))
    whole = ops.conv_transpose2d(x, kernel, stride=2)
    agree(ops.conv_transpose2d(x, kernel, stride=2, padding=((0, 1), (2, 0))), whole[:, :, :-1, 2:])
    with pytest.raises(ValueError, match="output_padding must be smaller"):
        ops.conv_transpose2d(x, kernel, stride=2, output_padding=2)
    with pytest.raises(ValueError, match="wants 2 input channels"):
        ops.conv_transpose2d(x[:, :1], kernel)


def test_depthwise_and_separable_convolution(rng):
    x, kernel, bias = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(6, 1, 3, 3)), rng.normal(size=6)
    theirs = F.conv2d(t(x), t(kernel), t(bias), stride=2, padding=1, groups=3)
    agree(ops.depthwise_conv2d(x, kernel, bias, stride=2, padding=1), theirs)
    point = rng.normal(size=(4, 6, 1, 1))
    theirs = F.conv2d(F.conv2d(t(x), t(kernel), padding=1, groups=3), t(point))
    agree(ops.separable_conv2d(x, kernel, point, padding=1), theirs)
    line, thin = rng.normal(size=(2, 3, 8)), rng.normal(size=(3, 1, 3))
    agree(ops.depthwise_conv1d(line, thin, dilation=2), F.conv1d(t(line), t(thin), dilation=2, groups=3))
    flat = rng.normal(size=(5, 3, 1))
    agree(ops.separable_conv1d(line, thin, flat), F.conv1d(F.conv1d(t(line), t(thin), groups=3), t(flat)))


@pytest.mark.parametrize(
    ("window", "options"),
    [
        (2, {}),
        ((3, 2), {"stride": 2, "padding": (1, 0)}),
        (2, {"dilation": 2, "padding": 1}),
        (3, {"stride": (2, 1)}),
    ],
)
def test_unfold_and_fold(rng, window, options):
    x = rng.normal(size=(2, 3, 7, 6))
    columns = F.unfold(t(x), window, **options)
    agree(ops.unfold(x, window, **options), columns)
    agree(ops.fold(columns.numpy(), (7, 6), window, **options), F.fold(columns, (7, 6), window, **options))


@pytest.mark.parametrize("rank", [1, 3])
def test_fold_is_the_gradient_of_unfold_over_any_number_of_axes(rng, rank):
    x = rng.normal(size=(1, 2, *SPATIAL[rank]))
    columns = ops.unfold(x, 3, stride=2, padding=1)
    other = rng.normal(size=columns.shape)
    back = ops.fold(other, SPATIAL[rank], 3, stride=2, padding=1)
    np.testing.assert_allclose(np.sum(columns * other), np.sum(back * x))


POOL_OPTIONS = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
]
DILATED_OPTIONS = [
    {"kernel_size": 2, "stride": 1, "dilation": 2},
    {"kernel_size": 3, "stride": 2, "dilation": 2, "padding": 1, "ceil_mode": True},
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", POOL_OPTIONS + DILATED_OPTIONS)
def test_max_pool(rng, rank, options):
    x = rng.normal(size=(2, 3, *(n + 2 for n in SPATIAL[rank])))
    theirs, positions = getattr(F, f"max_pool{rank}d")(t(x), **options, return_indices=True)
    agree(getattr(ops, f"max_pool{rank}d")(x, **options), theirs)
    values, indices = getattr(ops, f"max_pool{rank}d_with_indices")(x, **options)
    agree(values, theirs)
    agree(indices, positions)
    assert indices.dtype == np.int64


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", POOL_OPTIONS)
@pytest.mark.parametrize("include", [True, False])
def test_avg_pool(rng, rank, options, include):
    x = rng.normal(size=(2, 3, *SPATIAL[rank]))
    theirs = getattr(F, f"avg_pool{rank}d")(t(x), **options, count_include_pad=include)
    agree(getattr(ops, f"avg_pool{rank}d")(x, **options, count_include_pad=include), theirs)
    last = getattr(ops, f"avg_pool{rank}d")(
        np.moveaxis(x, 1, -1), **options, count_include_pad=include, data_format="channels_last"
    )
    agree(np.moveaxis(last, -1, 1), theirs)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4, (5, 3, 2)])
def test_adaptive_pool(rng, rank, size):
    size = size if isinstance(size, int) else size[:rank]
    x = rng.normal(size=(2, 3, *SPATIAL[rank]))
    for kind in ("avg", "max"):
        name = f"adaptive_{kind}_pool{rank}d"
        theirs = getattr(F, name)(t(x), size)
        agree(getattr(ops, name)(x, size), theirs)
        last = getattr(ops, name)(np.moveaxis(x, 1, -1), size, data_format="channels_last")
        agree(np.moveaxis(last, -1, 1), theirs)


def test_infinity_affects_only_its_window():
    x = np.zeros((1, 1, 7))
    x[0, 0, 0] = np.inf
    agree(ops.adaptive_avg_pool1d(x, 3), np.array([[[np.inf, 0, 0]]]))
    agree(ops.interpolate(x, 3, mode="linear", antialias=True), np.array([[[np.inf, 0, 0]]]))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_unpool(rng, rank):
    x = rng.normal(size=(2, 3, *SPATIAL[rank]))
    values, indices = getattr(F, f"max_pool{rank}d")(t(x), 2, return_indices=True)
    unpool = getattr(ops, f"max_unpool{rank}d")
    theirs = getattr(F, f"max_unpool{rank}d")(values, indices, 2, output_size=SPATIAL[rank])
    agree(unpool(values.numpy(), indices.numpy(), 2, size=SPATIAL[rank]), theirs)
    if all(n % 2 == 0 for n in SPATIAL[rank]):
        agree(unpool(values.numpy(), indices.numpy(), 2), getattr(F, f"max_unpool{rank}d")(values, indices, 2))


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_lp_pool(rng, p):
    for rank in (1, 2, 3):
        x = rng.normal(size=(2, 3, *SPATIAL[rank]))
        for options in ({}, {"stride": 1}, {"stride": 2, "ceil_mode": True}):
            agree(
                getattr(ops, f"lp_pool{rank}d")(x, p, 2, **options),
                getattr(F, f"lp_pool{rank}d")(t(x), p, 2, **options),
            )


def test_normalization(rng):
    x, scale, offset = rng.normal(size=(3, 6, 4, 5)), rng.normal(size=6), rng.normal(size=6)
    agree(ops.group_norm(x, 3, scale, offset), F.group_norm(t(x), 3, t(scale), t(offset)))
    agree(ops.group_norm(x, 2, epsilon=0.1), F.group_norm(t(x), 2, eps=0.1))
    last = np.moveaxis(x, 1, -1)
    moved = ops.group_norm(last, 3, scale, offset, axis=-1)
    agree(np.moveaxis(moved, -1, 1), F.group_norm(t(x), 3, t(scale), t(offset)))
    agree(ops.instance_norm(x, scale, offset), F.instance_norm(t(x), weight=t(scale), bias=t(offset)))
    agree(np.moveaxis(ops.instance_norm(last, axis=-1), -1, 1), F.instance_norm(t(x)))
    for size in (1, 2, 3, 4):
        agree(ops.local_response_norm(x, size, alpha=0.3), F.local_response_norm(t(x), size, alpha=0.3))
    wide, shift = rng.normal(size=(4, 5)), rng.normal(size=(4, 5))
    agree(ops.layer_norm(x, wide, shift), F.layer_norm(t(x), (4, 5), t(wide), t(shift)))
    agree(ops.rms_norm(x, wide[0]), F.rms_norm(t(x), (5,), t(wide[0]), eps=1e-6))


def test_batch_norm(rng):
    x, scale, offset = rng.normal(size=(3, 4, 5)), rng.normal(size=4), rng.normal(size=4)
    mean, variance = rng.normal(size=4), rng.uniform(0.5, 1, 4)
    theirs = [t(mean), t(variance)]
    agree(ops.batch_norm(x, scale, offset, mean, variance), F.batch_norm(t(x), *theirs, t(scale), t(offset)))
    expected = F.batch_norm(t(x), *theirs, t(scale), t(offset), training=True)
    agree(ops.batch_norm(x, scale, offset, mean, variance, training=True), expected)
    agree(mean, theirs[0])
    agree(variance, theirs[1])


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_lengths_and_angles(rng, p):
    x, y = rng.normal(size=(3, 4, 5)), rng.normal(size=(3, 4, 5))
    x[0, :, 0] = 0
    for axis in (0, 1, -1):
        agree(ops.normalize(x, p, axis=axis), F.normalize(t(x), p, dim=axis))
        agree(ops.cosine_similarity(x, y, axis=axis), F.cosine_similarity(t(x), t(y), dim=axis))
    agree(ops.cosine_similarity(x, y[0, :1, :1], axis=-1), F.cosine_similarity(t(x), t(y[0, :1, :1]), dim=-1))
    for keepdims in (False, True):
        agree(
            ops.pairwise_distance(x, y[0], p=p, keepdims=keepdims),
            F.pairwise_distance(t(x), t(y[0]), p=p, keepdim=keepdims),
        )


def test_linear_bilinear_embedding(rng):
    x, y, kernel, bias = (
        rng.normal(size=(2, 5, 3)),
        rng.normal(size=(2, 5, 4)),
        rng.normal(size=(6, 3, 4)),
        rng.normal(size=6),
    )
    agree(ops.bilinear(x, y, kernel, bias), F.bilinear(t(x), t(y), t(kernel), t(bias)))
    agree(ops.bilinear(x[0, 0], y[0, 0], kernel), F.bilinear(t(x[0, 0]), t(y[0, 0]), t(kernel)))
    agree(ops.linear(x, kernel[0], bias[:4]), F.linear(t(x), t(kernel[0].T), t(bias[:4])))
    indices, table, weights = rng.integers(0, 7, (4, 3)), rng.normal(size=(7, 5)), rng.normal(size=(4, 3))
    agree(ops.embedding(indices, table), F.embedding(t(indices), t(table)))
    for mode in ("mean", "sum", "max"):
        agree(ops.embedding_bag(indices, table, mode=mode), F.embedding_bag(t(indices), t(table), mode=mode))
    theirs = F.embedding_bag(t(indices), t(table), mode="sum", per_sample_weights=t(weights))
    agree(ops.embedding_bag(indices, table, weights, mode="sum"), theirs)
    agree(ops.maxout(x, 5, axis=1)[:, 0], x.max(1))
    agree(ops.maxout(np.arange(6.0).reshape(1, 6), 2), np.array([[1.0, 3.0, 5.0]]))


def test_tensor_like_uses_dtype_and_device_of_the_tensor():
    table = np.arange(3)
    assert ops.tensor_like(np.ones(2, "float16"), table).dtype == np.float16
    assert ops.tensor_like(np.ones(2, "float32"), table, "int64").dtype == np.int64
    labdl.backends.get("torch")
    assert isinstance(ops.tensor_like(torch.ones(2, dtype=torch.bfloat16), table), torch.Tensor)
    assert ops.tensor_like(Spec((None, 2)), table) == Spec((3,))


@pytest.mark.parametrize("shape", [(4, 30, 50), (200, 30)])
def test_dropout_zeroes_the_given_rate(shape):
    x = np.ones(shape)
    agree(ops.dropout(x, 0.3), x)
    agree(ops.dropout(x, 1.0, training=True), np.zeros(shape))
    drawn = ops.dropout(x, 0.3, training=True)
    assert set(np.unique(drawn)) == {0.0, 1 / 0.7}
    assert abs(drawn.mean() - 1) < 0.1
    rows = ops.drop_path(np.ones((400, 3)), 0.25, training=True)
    assert (rows.min(1) == rows.max(1)).all()
    assert abs(rows.mean() - 1) < 0.2
    channels = ops.dropout_channels(np.ones((40, 30, 5)), 0.25, training=True)
    assert (channels.min(2) == channels.max(2)).all()
    assert abs(channels.mean() - 1) < 0.1
    last = ops.dropout_channels(np.ones((40, 5, 30)), 0.25, training=True, data_format="channels_last")
    assert (last.min(1) == last.max(1)).all()
    normal = np.random.default_rng(0).normal(size=(300, 300))
    kept = ops.alpha_dropout(normal, 0.2, training=True)
    assert abs(kept.mean()) < 0.02
    assert abs(kept.std() - 1) < 0.02


def test_attention(rng):
    query, key, value = rng.normal(size=(2, 4, 3, 5)), rng.normal(size=(2, 4, 6, 5)), rng.normal(size=(2, 4, 6, 2))
    attend, theirs = ops.scaled_dot_product_attention, F.scaled_dot_product_attention
    agree(attend(query, key, value), theirs(t(query), t(key), t(value)))
    agree(attend(query, key, value, scale=0.3), theirs(t(query), t(key), t(value), scale=0.3))
    agree(attend(query, key, value, causal=True), theirs(t(query), t(key), t(value), is_causal=True))
    mask = rng.random((2, 1, 3, 6)) < 0.5
    mask[0, 0, 1] = False  # a query that may attend to nothing
    agree(attend(query, key, value, mask), theirs(t(query), t(key), t(value), t(mask)))
    assert (attend(query, key, value, mask)[0, :, 1] == 0).all()
    extra = rng.normal(size=(3, 6))
    agree(attend(query, key, value, extra), theirs(t(query), t(key), t(value), t(extra)))
    expected = theirs(t(query), t(key[:, :2]), t(value[:, :2]), t(mask), enable_gqa=True)
    agree(attend(query, key[:, :2], value[:, :2], mask), expected)
    with pytest.raises(ValueError, match="4 query heads cannot share 3 key heads"):
        attend(query, key[:, :3], value[:, :3])
    with pytest.raises(TypeError, match="mask"):
        attend(query, key, value, mask.astype("int64"))


def test_rotary_embedding(rng):
    x = rng.normal(size=(2, 3, 6, 8))
    angles = np.arange(6)[:, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)  # as Su et al. write it
    ours = ops.rotary_embedding(x, interleaved=True)
    agree(ours[..., 0::2], turned.real)
    agree(ours[..., 1::2], turned.imag)
    halves = (x[..., :4] + 1j * x[..., 4:]) * np.exp(1j * angles)  # as LLaMA's checkpoints want it
    agree(ops.rotary_embedding(x), np.concatenate([halves.real, halves.imag], -1))
    positions = np.array([[3], [5]])
    agree(ops.rotary_embedding(x[:, 0, :1], positions)[1, 0], ops.rotary_embedding(x[1, 0][[0] * 6])[5])
