"""Attention and transformer layers on one backend against torch's own, with masks of every kind."""

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ModelError
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

N, STEPS, KEYS, FEATURES, HEADS = 2, 5, 6, 8, 4
RNG = np.random.default_rng(0)
X, CONTEXT = (RNG.normal(size=(N, n, FEATURES)).astype("float32") for n in (STEPS, KEYS))
ALLOWED = RNG.random((STEPS, KEYS)) < 0.6
ALLOWED[:, 0] = True  # torch gives NaN to a query that may attend to nothing
ADDED = RNG.normal(size=(N, HEADS, STEPS, KEYS)).astype("float32")
REAL = np.array([[True] * 6, [True] * 4 + [False] * 2])
SQUARE = np.tril(RNG.random((STEPS, STEPS)) < 0.7) | np.eye(STEPS, dtype=bool)


def redrawn(layer, *shapes, backend):
    """The layer with random values everywhere, and those values."""
    layer.build(*shapes, backend=backend.name, seed=0)
    rng = np.random.default_rng(1)
    values = {k: rng.normal(0, 0.4, v.shape).astype("float32") for k, v in layer.state_dict().items()}
    layer.load_state_dict(values)
    return layer.eval(), values


def torch_names(values):
    """Our values under the names of torch's layers."""
    found = {}
    for attention, theirs in (("", ""), ("attention/", "self_attn."), ("cross_attention/", "multihead_attn.")):
        if f"{attention}query/kernel:0" in values:
            parts = [f"{attention}{p}" for p in ("query", "key", "value")]
            found[f"{theirs}in_proj_weight"] = np.concatenate([values[f"{p}/kernel:0"].T for p in parts])
            found[f"{theirs}in_proj_bias"] = np.concatenate([values[f"{p}/bias:0"] for p in parts])
            found[f"{theirs}out_proj.weight"] = values[f"{attention}projection/kernel:0"].T
            found[f"{theirs}out_proj.bias"] = values[f"{attention}projection/bias:0"]
    norms = [n for n in ("attention_norm", "cross_norm", "mlp_norm") if f"{n}/gamma:0" in values]
    for at, ours in enumerate(norms, 1):
        found[f"norm{at}.weight"], found[f"norm{at}.bias"] = values[f"{ours}/gamma:0"], values[f"{ours}/beta:0"]
    for at, ours in enumerate(("expand", "contract"), 1):
        if f"mlp/{ours}/kernel:0" in values:
            found[f"linear{at}.weight"] = values[f"mlp/{ours}/kernel:0"].T
            found[f"linear{at}.bias"] = values[f"mlp/{ours}/bias:0"]
    return found


def native(layer, values):
    import torch

    layer.load_state_dict({k: torch.as_tensor(np.ascontiguousarray(v)) for k, v in torch_names(values).items()})
    return layer.eval()


def t(array):
    import torch

    return torch.as_tensor(array)


def assert_close(actual, expected):
    values, reference = labdl.to_numpy(actual), expected.detach().numpy()
    assert values.shape == reference.shape
    limit = max(1e-6, 2e-5 * np.abs(reference).max())
    assert np.abs(values - reference).max() <= limit


# our masks; torch's are true where attention is forbidden, and have one matrix for each sample and head
ATTENTION = {
    "no mask": ({}, {}),
    "allowed": ({"mask": ALLOWED}, {"attn_mask": ~ALLOWED}),
    "added": ({"mask": ADDED}, {"attn_mask": ADDED.reshape(N * HEADS, STEPS, KEYS)}),
    "padding": ({"key_mask": REAL}, {"key_padding_mask": ~REAL}),
    "padding in numbers": ({"key_mask": REAL.astype("int64")}, {"key_padding_mask": ~REAL}),
    "allowed and padding": ({"mask": ALLOWED, "key_mask": REAL}, {"attn_mask": ~ALLOWED, "key_padding_mask": ~REAL}),
    "added and padding": (
        {"mask": ADDED[0, 0], "key_mask": REAL},
        {"attn_mask": ADDED[0, 0], "key_padding_mask": np.where(REAL, 0, -np.inf).astype("float32")},
    ),
}


@pytest.mark.parametrize("masks", ATTENTION)
def test_attention_equals_torchs(masks, backend):
    import torch

    given, theirs = ATTENTION[masks]
    layer, values = redrawn(
        nn.MultiHeadAttention(HEADS), (None, STEPS, FEATURES), (None, KEYS, FEATURES), backend=backend
    )
    reference = native(torch.nn.MultiheadAttention(FEATURES, HEADS, batch_first=True), values)
    expected = reference(t(X), t(CONTEXT), t(CONTEXT), **{k: t(v) for k, v in theirs.items()}, need_weights=False)[0]
    options = {k: backend.tensor(v) for k, v in given.items()}
    assert_close(layer(backend.tensor(X), backend.tensor(CONTEXT), **options), expected)


def test_values_beside_the_context(backend):
    import torch

    values_in = np.random.default_rng(3).normal(size=(N, KEYS, 3)).astype("float32")
    shapes = [(None, STEPS, FEATURES), (None, KEYS, 6), (STEPS, KEYS), (None, KEYS), (None, KEYS, 3)]
    specs = [Spec(s, d) for s, d in zip(shapes, ("float32", "float32", "bool", "bool", "float32"), strict=True)]
    layer, values = redrawn(nn.MultiHeadAttention(2), *specs, backend=backend)
    reference = torch.nn.MultiheadAttention(FEATURES, 2, kdim=6, vdim=3, batch_first=True)
    names = {f"{part[0]}_proj_weight": values[f"{part}/kernel:0"].T for part in ("query", "key", "value")}
    names["in_proj_bias"] = np.concatenate([values[f"{p}/bias:0"] for p in ("query", "key", "value")])
    names["out_proj.weight"], names["out_proj.bias"] = values["projection/kernel:0"].T, values["projection/bias:0"]
    reference.load_state_dict({k: t(np.ascontiguousarray(v)) for k, v in names.items()})
    context = CONTEXT[..., :6].copy()
    expected = reference.eval()(t(X), t(context), t(values_in), need_weights=False)[0]
    tensors = [backend.tensor(a) for a in (X, context)]
    assert_close(layer(*tensors, values=backend.tensor(values_in)), expected)


def heads_of(x, values, part, count):
    y = x @ values[f"{part}/kernel:0"] + values[f"{part}/bias:0"]
    return y.reshape(N, x.shape[1], count, -1).transpose(0, 2, 1, 3)


def turned(x):
    """Rotary positions: each pair of features as a complex number, times exp(i * position * rate)."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-np.arange(half) / half)
    z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * np.arange(x.shape[-2])[:, None] * rates)
    return np.concatenate([z.real, z.imag], axis=-1)


@pytest.mark.parametrize(
    "settings",
    [
        {"key_heads": 2},
        {"key_heads": 1},
        {"key_size": 6},
        {"key_size": 2, "value_size": 5},
        {"rotary": True, "key_size": 4},
        {"rotary": True, "key_heads": 2, "causal": True, "key_size": 2},
    ],
    ids=str,
)
def test_other_kinds_of_heads(settings, backend):
    """Against attention written out in float64 NumPy."""
    layer, values = redrawn(nn.MultiHeadAttention(HEADS, **settings), (None, STEPS, FEATURES), backend=backend)
    shared = settings.get("key_heads", HEADS)
    x = X.astype("float64")
    query, key, value = (heads_of(x, values, p, c) for p, c in (("query", HEADS), ("key", shared), ("value", shared)))
    if "rotary" in settings:
        query, key = turned(query), turned(key)
    key, value = (np.repeat(a, HEADS // shared, axis=1) for a in (key, value))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if "causal" in settings:
        scores = np.where(np.tri(STEPS, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    joined = (weights @ value).transpose(0, 2, 1, 3).reshape(N, STEPS, -1)
    expected = joined @ values["projection/kernel:0"] + values["projection/bias:0"]
    np.testing.assert_allclose(labdl.to_numpy(layer(backend.tensor(X))), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True], ids=["norm last", "norm first"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_equals_torchs(norm_first, activation, backend):
    import torch

    layer = nn.TransformerEncoderLayer(
        HEADS, feed_forward=12, activation=activation, norm_first=norm_first, epsilon=1e-3
    )
    layer, values = redrawn(layer, (None, KEYS, FEATURES), backend=backend)
    reference = native(
        torch.nn.TransformerEncoderLayer(
            FEATURES, HEADS, 12, activation=activation, layer_norm_eps=1e-3, batch_first=True, norm_first=norm_first
        ),
        values,
    )
    mask = np.tri(KEYS, dtype=bool)
    # training mode: torch's fast path for inference fills padding with zeros; dropout is off on both sides
    for part in reference.modules():
        part.training = not isinstance(part, torch.nn.Dropout)
    reference.self_attn.dropout = 0.0
    expected = reference(t(CONTEXT), src_mask=t(~mask), src_key_padding_mask=t(~REAL))
    options = {"mask": backend.tensor(mask), "key_mask": backend.tensor(REAL)}
    assert_close(layer(backend.tensor(CONTEXT), **options), expected)


@pytest.mark.parametrize("norm_first", [False, True], ids=["norm last", "norm first"])
def test_decoder_layer_equals_torchs(norm_first, backend):
    import torch

    for causal, mask in ((True, np.tri(STEPS, dtype=bool)), (False, SQUARE)):
        layer = nn.TransformerDecoderLayer(HEADS, feed_forward=12, norm_first=norm_first, causal=causal)
        layer, values = redrawn(layer, (None, STEPS, FEATURES), (None, KEYS, FEATURES), backend=backend)
        reference = native(
            torch.nn.TransformerDecoderLayer(FEATURES, HEADS, 12, batch_first=True, norm_first=norm_first), values
        )
        expected = reference(
            t(X), t(CONTEXT), tgt_mask=t(~mask), memory_mask=t(~ALLOWED), memory_key_padding_mask=t(~REAL)
        )
        options = {"context_mask": ALLOWED, "context_key_mask": REAL, **({} if causal else {"mask": mask})}
        options = {k: backend.tensor(v) for k, v in options.items()}
        assert_close(layer(backend.tensor(X), backend.tensor(CONTEXT), **options), expected)


def test_additive_attention_is_its_formula(backend):
    layer, values = redrawn(nn.AdditiveAttention(7), (None, STEPS, FEATURES), (None, KEYS, FEATURES), backend=backend)
    sums = (X @ values["query/kernel:0"])[:, :, None] + (CONTEXT @ values["key/kernel:0"] + values["key/bias:0"])[
        :, None
    ]
    scores = np.where(REAL[:, None], (np.tanh(sums) @ values["score/kernel:0"])[..., 0], -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ CONTEXT
    actual = layer(backend.tensor(X), backend.tensor(CONTEXT), key_mask=backend.tensor(REAL))
    np.testing.assert_allclose(labdl.to_numpy(actual), expected, rtol=1e-4, atol=1e-5)


def test_a_sample_without_any_key_gives_the_projection_of_zeros(backend):
    layer, values = redrawn(nn.MultiHeadAttention(HEADS), (None, STEPS, FEATURES), backend=backend)
    nothing = np.zeros((N, STEPS), bool)
    output = labdl.to_numpy(layer(backend.tensor(X), key_mask=backend.tensor(nothing)))
    np.testing.assert_allclose(output, np.broadcast_to(values["projection/bias:0"], output.shape), atol=1e-6)


def test_attention_dropout_in_training_only(backend):
    """Two passes differ in training, and not in evaluation."""
    layer, _ = redrawn(nn.MultiHeadAttention(HEADS, rate=0.5), (None, STEPS, FEATURES), backend=backend)
    x = backend.tensor(X)
    still = labdl.to_numpy(layer(x))
    np.testing.assert_array_equal(labdl.to_numpy(layer(x)), still)
    layer.train()
    first, second = labdl.to_numpy(layer(x)), labdl.to_numpy(layer(x))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.MultiHeadAttention(2, window=2, causal=True),
        lambda: nn.MultiHeadAttention(2, window=3),
        lambda: nn.PositionEmbedding(7, offset=2),
        lambda: nn.RelativePositionBias(2),
    ],
    ids=["causal window", "window", "offset", "relative positions"],
)
def test_positions_of_steps_that_are_not_known_at_build(make, backend):
    """Traced with open steps, and evaluated as one program, as with the number of steps."""
    layer, closed = (make().build((None, n, FEATURES), backend=backend.name, seed=0) for n in (None, STEPS))
    x = backend.tensor(X)
    assert layer.output_specs.shape[-2] is None
    actual = backend.evaluate_function(layer)(x)
    np.testing.assert_allclose(labdl.to_numpy(actual), labdl.to_numpy(closed(x)), rtol=1e-5, atol=1e-6)


def test_sizes_that_are_not_known_at_build(backend):
    """Batch and steps may both be open; each length then runs."""
    encoder = nn.TransformerEncoder(2, 12, layers=1, rate=0.0).build(
        (None, None, FEATURES), backend=backend.name, seed=0
    )
    assert encoder.output_specs.shape == (None, None, FEATURES)
    decoder = nn.TransformerDecoder(2, 12, layers=1, rate=0.0)
    decoder.build((None, None, FEATURES), (None, None, FEATURES), backend=backend.name, seed=0)
    assert decoder.output_specs.shape == (None, None, FEATURES)
    x, context = backend.tensor(X), backend.tensor(CONTEXT)
    assert decoder(x, encoder(context)).shape[1] == STEPS
    assert decoder(context, encoder(x)).shape[1] == KEYS


@pytest.mark.parametrize(
    ("make", "shapes", "sentence"),
    [
        (lambda: nn.MultiHeadAttention(4, key_heads=3), [(None, 3, 8)], "key_heads=3 must divide heads=4"),
        (lambda: nn.MultiHeadAttention(3), [(None, 3, 8)], "features divisible by heads=3"),
        (lambda: nn.MultiHeadAttention(2), [(None, 3, 8), (None, 8)], r"context \(N, keys, features\)"),
        (lambda: nn.MultiHeadAttention(8, rotary=True), [(None, 3, 8)], "even key_size, received 1"),
        (lambda: nn.MultiHeadAttention(2, rotary=True, rotary_size=6), [(None, 3, 8)], "even number of at most 4"),
        (lambda: nn.MultiHeadAttention(2, rotary=True, rotary_size=3), [(None, 3, 8)], "received 3"),
        (lambda: nn.MultiHeadAttention(2, rotary_size=2), [(None, 3, 8)], "for rotary=True only"),
        (lambda: nn.MultiHeadAttention(2), [(None, 3, 8), *[None] * 5, (None, 3)], "positions for rotary=True"),
        (
            lambda: nn.MultiHeadAttention(2, rotary=True),
            [(None, 3, 8), (None, 4, 8), *[None] * 4, Spec((None, 3), "int64")],
            "in self-attention only",
        ),
        (lambda: nn.RelativePositionBias(2, buckets=7), [(None, 3, 8)], "an even number"),
        (lambda: nn.RelativePositionBias(2), [(None,)], r"wants \(N, steps, ...\)"),
        (lambda: nn.PositionEmbedding(3), [(None, 3, 8), (None, 3)], "integer positions"),
        (lambda: nn.SinusoidalPositions(layout="halves"), [(None, 3, 7)], "an even number, received 7"),
        (lambda: nn.LocationAttention(4), [(None, 3), (None, 5), (None, 5)], r"context \(N, keys, features\)"),
        (lambda: nn.LocationAttention(4, kernel_size=4), [(None, 3), (None, 5, 2), (None, 5)], "odd kernel_size"),
        (lambda: nn.PatchEmbedding(4, 3), [(None, 3, 9, 8)], "patch_size=3 must divide"),
        (lambda: nn.PositionEmbedding(3), [(None, 4, 8)], "size=3"),
        (lambda: nn.ClassToken(), [(None, 8)], r"\(N, steps, features\)"),
    ],
)
def test_errors_of_invalid_inputs(make, shapes, sentence, backend):
    with pytest.raises(ModelError, match=sentence):
        make().build(*shapes, backend=backend.name)
