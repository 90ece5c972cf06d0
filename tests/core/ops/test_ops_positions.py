"""Positions, local windows, partial rotation and mu-law: NumPy bodies against formulas written with torch."""

import math

import numpy as np
import pytest

from labdl import ops
from labdl.spec import Spec

torch = pytest.importorskip("torch")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_positions_of_tokens_among_padding():
    mask = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1]])
    counted = [[-1, -1, 0, 1, 2], [0, 1, 2, -1, -1], [-1, 0, -1, 1, 2]]
    np.testing.assert_array_equal(ops.positions_from_mask(mask), counted)
    # RoBERTa: padding has index 1, tokens count on from there
    np.testing.assert_array_equal(ops.positions_from_mask(mask.astype(bool), start=2), np.array(counted) + 2)


def vaswani(steps, features):
    """One number after the other, from the paper."""
    table = np.empty((steps, features))
    for p in range(steps):
        for i in range(features):
            angle = p / 10000 ** ((i - i % 2) / features)
            table[p, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return table


def whisper(steps, features):
    """Sines, then cosines, of rates from 1 to 1 / 10000."""
    rates = torch.exp(-math.log(10000) / (features // 2 - 1) * torch.arange(features // 2, dtype=torch.float64))
    angles = torch.outer(torch.arange(steps, dtype=torch.float64), rates)
    return torch.cat([angles.sin(), angles.cos()], dim=1).numpy()


SINUSOIDS = {
    "paper": ({}, vaswani),
    "halves": ({"layout": "halves"}, lambda n, d: vaswani(n, d)[:, [*range(0, d, 2), *range(1, d, 2)]]),
    "whisper": ({"layout": "halves", "endpoint": True}, whisper),
}


@pytest.mark.parametrize("kind", SINUSOIDS)
def test_sinusoids(kind):
    options, reference = SINUSOIDS[kind]
    expected = reference(7, 12)
    np.testing.assert_allclose(ops.sinusoidal_embedding(np.arange(7.0), 12, **options), expected, rtol=0, atol=1e-12)
    whole = ops.sinusoidal_embedding(np.arange(7), 12, **options)
    assert whole.dtype == np.float32
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-6)


def test_sinusoids_of_an_odd_number_of_features_end_with_a_sine():
    np.testing.assert_allclose(ops.sinusoidal_embedding(np.arange(4.0), 5), vaswani(4, 5), atol=1e-12)
    with pytest.raises(ValueError, match="halves an even number, received 5"):
        ops.sinusoidal_embedding(np.arange(4.0), 5, layout="halves")


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 20), (64, 256), (32, 800)])
def test_relative_position_buckets(buckets, farthest, bidirectional):
    """T5's formula, whose logarithm is float32: at some distances float64 would give another bucket."""
    apart = torch.arange(-farthest - 5, farthest + 6)
    each, start = (buckets // 2, (apart > 0) * (buckets // 2)) if bidirectional else (buckets, 0)
    size = apart.abs() if bidirectional else (-apart).clamp(min=0)
    share = torch.log(size.float() / (each // 2)) / math.log(farthest / (each // 2))
    far = (each // 2 + (share * (each - each // 2)).to(torch.int64)).clamp(max=each - 1)
    expected = start + torch.where(size < each // 2, size, far)
    actual = ops.relative_position_buckets(
        apart.numpy(), buckets=buckets, max_distance=farthest, bidirectional=bidirectional
    )
    np.testing.assert_array_equal(actual, expected.numpy())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"buckets": 2}, "at least 4 buckets, an even number"),
        ({"buckets": 7}, "an even number if it is bidirectional, received 7"),
        ({"buckets": 1, "bidirectional": False}, "buckets: an integer of 2 or more"),
        ({"max_distance": 8}, "max_distance from 9 to 1000000, received 8"),
        ({"max_distance": 10**12}, "received 1000000000000"),
    ],
)
def test_buckets_that_do_not_exist(options, sentence):
    for distances in (np.arange(3), Spec((3,), "int64")):
        with pytest.raises(ValueError, match=sentence):
            ops.relative_position_buckets(distances, **options)


def test_relative_shift_of_transformer_xl(rng):
    """Its own trick: a column of zeros, another shape, one row less. What is beyond the last distance it leaves to the mask."""
    queries, keys = 4, 7
    x = torch.tensor(rng.normal(size=(2, 3, queries, keys)))
    padded = torch.cat([x.new_zeros(2, 3, queries, 1), x], -1).view(2, 3, keys + 1, queries)
    expected = padded[:, :, 1:].reshape(x.shape).numpy()
    visible = np.tri(queries, keys, keys - queries, dtype=bool)
    actual = ops.relative_shift(x.numpy())
    np.testing.assert_array_equal(actual[..., visible], expected[..., visible])
    assert (actual[..., ~visible] == 0).all()


def test_relative_shift_of_xlnet(rng):
    """It has queries + keys distances, of which the first is not used."""
    queries, keys = 4, 6
    x = torch.tensor(rng.normal(size=(2, 3, queries, queries + keys)))
    moved = x.reshape(2, 3, queries + keys, queries)[:, :, 1:].reshape(2, 3, queries, queries + keys - 1)
    actual = ops.relative_shift(x.numpy()[..., 1:], keys)
    np.testing.assert_array_equal(actual, moved[..., :keys].numpy())


def test_relative_shift_reads_each_distance(rng):
    """With a number for each distance, from the farthest key before to the farthest after."""
    for steps in (1, 2, 5):
        apart = np.arange(-(steps - 1), steps)
        scores = np.broadcast_to(apart.astype("float64"), (2, steps, 2 * steps - 1))
        expected = np.arange(steps)[None] - np.arange(steps)[:, None]
        np.testing.assert_array_equal(ops.relative_shift(scores, steps), np.broadcast_to(expected, (2, steps, steps)))


def test_windows_of_swin(rng):
    x = torch.tensor(rng.normal(size=(2, 6, 8, 3)))
    tiles = x.unfold(1, 3, 3).unfold(2, 4, 4)  # (N, rows, columns, C, height, width)
    expected = tiles.permute(0, 1, 2, 4, 5, 3).flatten(0, 2).numpy()
    windows = ops.window_partition(x.numpy(), (3, 4))
    np.testing.assert_array_equal(windows, expected)
    np.testing.assert_array_equal(ops.window_reverse(windows, (6, 8)), x.numpy())


@pytest.mark.parametrize("shape", [(2, 8, 3), (2, 4, 8, 1), (1, 4, 2, 6, 2)])
def test_windows_come_back(rng, shape):
    x = rng.normal(size=shape)
    windows = ops.window_partition(x, 2)
    assert windows.shape == (x.size // (2 ** (x.ndim - 2) * shape[-1]), *(2,) * (x.ndim - 2), shape[-1])
    np.testing.assert_array_equal(ops.window_reverse(windows, shape[1:-1]), x)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ops.window_partition(Spec((None, 5, 4, 3)), 2), r"windows of known sizes that divide \(5, 4\)"),
        (lambda: ops.window_partition(Spec((None, None, 4, 3)), 2), "known sizes"),
        (lambda: ops.window_partition(Spec((None, 4, 4, 3)), (2, 2, 2)), "one integer or 2 of them"),
        (lambda: ops.window_partition(Spec((None, 4)), 2), "with spatial axes"),
        (lambda: ops.window_reverse(Spec((6, 2, 2, 3)), (4, 4)), "6 windows are not 4 for each sample"),
        (lambda: ops.relative_shift(Spec((None, 3, 4)), 5), "at most 4 keys"),
        (lambda: ops.relative_shift(Spec((2, None, 4))), "with known sizes"),
        (lambda: ops.local_attention_mask(Spec((2, 3)), Spec((2, 3)), 0), "window: an integer of 1 or more"),
        (lambda: ops.weight_norm(Spec((4, 3)), Spec((4,))), r"wants a gain \(4, 1\), received \(4,\)"),
        (lambda: ops.rotary_embedding(Spec((2, 3, 5)), size=6), "even size of at most"),
        (lambda: ops.rotary_embedding(Spec((2, 3, 5)), size=3), "even size of at most"),
        (lambda: ops.mu_law_encoding(Spec((3,)), 1), "channels: an integer of 2 or more"),
        (lambda: ops.sinusoidal_embedding(Spec((3,)), 4, layout="mixed"), "one of interleaved, halves"),
    ],
)
def test_errors(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_local_masks():
    query, key = np.zeros((2, 5, 3)), np.zeros((2, 5, 3))
    ones = np.ones((5, 5), bool)
    np.testing.assert_array_equal(
        ops.local_attention_mask(query, key, 2, causal=True), np.tril(ones) ^ np.tril(ones, -2)
    )
    np.testing.assert_array_equal(ops.local_attention_mask(query, key, 2), np.tril(ones, 1) & np.triu(ones, -1))


def test_rotation_of_a_part_leaves_the_rest(rng):
    x = rng.normal(size=(2, 5, 7))
    actual = ops.rotary_embedding(x, size=4)
    np.testing.assert_array_equal(actual[..., :4], ops.rotary_embedding(x[..., :4]))
    np.testing.assert_array_equal(actual[..., 4:], x[..., 4:])


@pytest.mark.parametrize("channels", [256, 16])
def test_mu_law(rng, channels):
    """torchaudio's formulas, in float64."""
    x, mu = rng.uniform(-1, 1, 500), channels - 1
    compressed = np.sign(x) * np.log(1 + mu * np.abs(x)) / np.log(1 + mu)
    codes = ops.mu_law_encoding(x, channels)
    np.testing.assert_array_equal(codes, np.floor((compressed + 1) / 2 * mu + 0.5))
    y = codes / mu * 2 - 1
    expected = np.sign(y) * ((1 + mu) ** np.abs(y) - 1) / mu
    decoded = ops.mu_law_decoding(codes, channels)
    assert decoded.dtype == np.float32
    np.testing.assert_allclose(decoded, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(ops.mu_law_encoding(decoded.astype("float64"), channels), codes)
    assert list(ops.mu_law_encoding(np.array([-1.0, 0.0, 1.0]))) == [0, 128, 255]
