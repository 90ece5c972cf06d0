"""Blocks, attention and cells that torch has no layer for: values and gradients against formulas in torch."""

import math

import numpy as np
import pytest
from composites import Composite, check, numbers

import labdl
from labdl import nn

pytestmark = pytest.mark.sample(backends=2)

torch = pytest.importorskip("torch")
F = torch.nn.functional


def dense(p, name, x):
    y = x @ p[f"{name}/kernel"]
    return y + p[f"{name}/bias"] if f"{name}/bias" in p else y


def heads_of(x, count):
    return x.reshape(*x.shape[:2], count, -1).transpose(1, 2)


def attend(p, x, heads, *, scale=None, added=0.0, turn=lambda x: x):
    """Self-attention of 3-axis x; ``added`` is added to the scores."""
    query, key, value = (heads_of(dense(p, part, x), heads) for part in ("query", "key", "value"))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(turn(query) @ turn(key).transpose(-1, -2) * scale + added, -1)
    return dense(p, "projection", (weights @ value).transpose(1, 2).flatten(2))


def blocked(allowed):
    """Zero where attention is allowed, minus infinity elsewhere."""
    return torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)


def turn_pairs(first, second, positions, base=10000.0):
    """Pairs of features as complex numbers, each turned by position * base^(-i / pairs)."""
    rates = base ** (-torch.arange(first.shape[-1]) / first.shape[-1])
    turned = torch.complex(first, second) * torch.exp(1j * positions[..., None] * rates)
    return turned.real, turned.imag


def turn_part_of_halves(x, size, positions):
    part, rest = x[..., :size], x[..., size:]
    return torch.cat([*turn_pairs(part[..., : size // 2], part[..., size // 2 :], positions), rest], -1)


def turn_part_of_neighbors(x, size, positions, base):
    part, rest = x[..., :size], x[..., size:]
    pairs = turn_pairs(part[..., ::2], part[..., 1::2], positions, base)
    return torch.cat([torch.stack(pairs, -1).flatten(-2), rest], -1)


def buckets_of_t5(apart, count, farthest, bidirectional):
    """The buckets of T5, one distance after the other; the logarithm in float32."""
    each = count // 2 if bidirectional else count
    exact = each // 2

    def bucket(distance):
        start = each if bidirectional and distance > 0 else 0
        size = abs(distance) if bidirectional else max(-distance, 0)
        if size < exact:
            return start + size
        share = torch.log(torch.tensor(size / exact)) / math.log(farthest / exact)
        return start + min(exact + int(share * (each - exact)), each - 1)

    return torch.tensor([[bucket(int(d)) for d in row] for row in apart])


def relative_bias(p, steps, keys, bidirectional=True):
    apart = torch.arange(keys)[None] - torch.arange(steps)[:, None]
    return p["embeddings"][buckets_of_t5(apart, 8, 20, bidirectional)].permute(2, 0, 1)[None]


class BiasedAttention(nn.Module):
    """Two layers of attention that share the bias of relative positions, as in T5."""

    def __init__(self):
        self.bias = nn.RelativePositionBias(2, buckets=8, max_distance=20)
        self.first, self.second = (nn.MultiHeadAttention(2, use_bias=False, scale=1.0) for _ in range(2))

    def forward(self, x, mask, key_mask):
        bias = self.bias(x)
        return self.second(self.first(x, mask=mask, key_mask=key_mask, bias=bias), bias=bias)


REAL = np.array([[True] * 5, [True] * 3 + [False] * 2])
ALLOWED = np.random.default_rng(5).random((5, 5)) < 0.6
ALLOWED[:, 0] = True


def biased(p, x, mask, key_mask):
    bias = relative_bias({"embeddings": p["bias/embeddings"]}, 5, 5)
    first, second = (
        {k.removeprefix(f"{name}/"): v for k, v in p.items() if k.startswith(f"{name}/")}
        for name in ("first", "second")
    )
    inside = attend(first, x, 2, scale=1.0, added=bias + blocked(mask & key_mask[:, None, None]))
    return attend(second, inside, 2, scale=1.0, added=bias)


def standardize(x, gamma, beta, axes):
    centered = x - x.mean(axes, keepdim=True)
    return centered / torch.sqrt((centered**2).mean(axes, keepdim=True) + 1e-5) * gamma + beta


def wide(vector, axes):
    return vector.reshape(1, -1, *(1,) * (axes - 2))


def conv_norm_act(p, x):
    y = F.conv2d(x, p["conv/kernel"].permute(3, 2, 0, 1), stride=2, padding=(1, 0), groups=2)
    return F.silu(standardize(y, wide(p["norm/gamma"], 4), wide(p["norm/beta"], 4), (0, 2, 3)))


def squeeze_excitation(p, x):
    """With convolutions, as torchvision has it."""
    y = F.adaptive_avg_pool2d(x, 1)
    for name, activation in (("reduce", F.silu), ("expand", torch.sigmoid)):
        y = activation(F.conv2d(y, p[f"{name}/kernel"].T[:, :, None, None], p[f"{name}/bias"]))
    return x * y


def lstm_step(gates, cell):
    i, f, g, o = gates.chunk(4, -1)
    return torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g), torch.sigmoid(o)


def norm(p, name, x):
    return F.layer_norm(x, x.shape[-1:], p[f"{name}/gamma"], p[f"{name}/beta"])


def normed_cell(p, x, hidden, cell):
    gates = norm(p, "kernel_norm", x @ p["kernel"]) + norm(p, "recurrent_norm", hidden @ p["recurrent_kernel"])
    cell, output = lstm_step(gates, cell)
    return output * torch.tanh(norm(p, "cell_norm", cell)), cell


def jointly_normed_cell(p, x, hidden, cell):
    cell, output = lstm_step(norm(p, "gate_norm", x @ p["kernel"] + hidden @ p["recurrent_kernel"]), cell)
    cell = norm(p, "cell_norm", cell)
    return output * torch.tanh(cell), cell


def location(p, x, context, rows, key_mask):
    """The attention of Tacotron 2."""
    found = F.conv1d(rows, p["convolution/kernel"].permute(2, 1, 0), padding=2).transpose(1, 2)
    inner = dense(p, "query", x)[:, None] + dense(p, "key", context) + dense(p, "location", found)
    energies = dense(p, "score", torch.tanh(inner))[..., 0].masked_fill(~key_mask, -torch.inf)
    weights = torch.softmax(energies, -1)
    return torch.einsum("nk,nkf->nf", weights, context), weights


def normed_native(make, axes, **inputs):
    """A layer of torch under its own weight normalization, whose parameters are replaced by ours."""

    def reference(p, x):
        module = torch.nn.utils.parametrizations.weight_norm(make(), **inputs)
        gain = p["kernel_gain"].permute(axes)
        theirs = {
            "parametrizations.weight.original0": gain.reshape(module.parametrizations.weight.original0.shape),
            "parametrizations.weight.original1": p["kernel_direction"].permute(axes),
            "bias": p["bias"],
        }
        return torch.func.functional_call(module, theirs, x)

    return reference


X = numbers(2, 5, 8)
CASES = {
    "block in training": Composite(
        nn.ConvNormAct(4, kernel_size=(3, 1), stride=2, groups=2, activation="silu"),
        [numbers(3, 2, 5, 6)],
        conv_norm_act,
        training=True,
    ),
    "block of one axis with a bias": Composite(
        nn.ConvNormAct(4, kernel_size=5, dilation=2, normalization=None, activation="gelu_tanh"),
        [numbers(2, 3, 9)],
        lambda p, x: F.gelu(
            F.conv1d(x, p["conv/kernel"].permute(2, 1, 0), p["conv/bias"], padding=4, dilation=2), approximate="tanh"
        ),
    ),
    "block with groups": Composite(
        nn.ConvNormAct(4, normalization="group", norm_groups=2, activation=None),
        [numbers(2, 3, 4, 5)],
        lambda p, x: F.group_norm(
            F.conv2d(x, p["conv/kernel"].permute(3, 2, 0, 1), padding=1), 2, p["norm/gamma"], p["norm/beta"]
        ),
    ),
    "squeeze and excitation": Composite(
        nn.SqueezeExcitation(3, activation="silu"), [numbers(2, 4, 3, 5)], squeeze_excitation
    ),
    "scale": Composite(nn.LayerScale(), [numbers(2, 3, 4)], lambda p, x: x * p["gamma"]),
    "scale of channels": Composite(nn.LayerScale(axis=1), [numbers(2, 3, 4)], lambda p, x: x * p["gamma"][:, None]),
    "no bias of the key": Composite(nn.MultiHeadAttention(2, key_bias=False), [X], lambda p, x: attend(p, x, 2)),
    "bias of all but the output": Composite(
        nn.MultiHeadAttention(2, use_bias=False, query_bias=True, key_bias=True, value_bias=True),
        [X],
        lambda p, x: attend(p, x, 2),
    ),
    "rotary over a part": Composite(
        nn.MultiHeadAttention(1, rotary=True, rotary_size=4),
        [X],
        lambda p, x: attend(p, x, 1, turn=lambda y: turn_part_of_halves(y, 4, torch.arange(5))),
    ),
    "rotary over neighbors at positions": Composite(
        nn.MultiHeadAttention(1, rotary=True, rotary_size=6, rotary_interleaved=True, rotary_base=100.0, causal=True),
        [X, None, None, None, None, None, np.array([[0, 1, 2, 3, 4], [3, 4, 9, 10, 11]])],
        lambda p, x, positions: attend(
            p,
            x,
            1,
            added=blocked(torch.ones(5, 5, dtype=torch.bool).tril()),
            turn=lambda y: turn_part_of_neighbors(y, 6, positions[:, None], 100.0),
        ),
    ),
    "shared bias of relative positions": Composite(BiasedAttention(), [X, ALLOWED, REAL], biased),
    "bias of causal positions to a context": Composite(
        nn.RelativePositionBias(3, buckets=8, max_distance=20, bidirectional=False),
        [np.zeros((2, 30), "int64"), np.zeros((2, 26), "int64")],
        lambda p, x, context: relative_bias(p, 30, 26, bidirectional=False),
    ),
    "window of the last steps": Composite(
        nn.MultiHeadAttention(2, causal=True, window=2),
        [X],
        lambda p, x: attend(
            p,
            x,
            2,
            added=blocked(torch.ones(5, 5, dtype=torch.bool).tril() ^ torch.ones(5, 5, dtype=torch.bool).tril(-2)),
        ),
    ),
    "window to both sides": Composite(
        nn.MultiHeadAttention(2, window=3),
        [X],
        lambda p, x: attend(p, x, 2, added=blocked((torch.arange(5)[:, None] - torch.arange(5)).abs() <= 2)),
    ),
    "positions with an offset": Composite(
        nn.PositionEmbedding(6, offset=2), [X], lambda p, x: x + p["embeddings"][2:7]
    ),
    "positions that are given": Composite(
        nn.PositionEmbedding(4, offset=2),
        [X, np.array([[-1, -1, 0, 1, 2], [0, 1, 2, 3, -1]])],
        lambda p, x, positions: x + F.embedding(positions + 2, p["embeddings"]),
    ),
    "normed cell": Composite(
        nn.LayerNormLSTMCell(4), [numbers(2, 3), numbers(2, 4, seed=1), numbers(2, 4, seed=2)], normed_cell
    ),
    "jointly normed cell": Composite(
        nn.LayerNormLSTMCell(4, joint=True, normalize_cell=True),
        [numbers(2, 3), numbers(2, 4, seed=1), numbers(2, 4, seed=2)],
        jointly_normed_cell,
    ),
    "location": Composite(
        nn.LocationAttention(6, filters=3, kernel_size=5, use_bias=False),
        [numbers(2, 4), numbers(2, 5, 3, seed=1), np.abs(numbers(2, 2, 5, seed=2)), REAL],
        location,
    ),
    "linear under weight norm": Composite(
        nn.Linear(4, weight_norm=0), [numbers(2, 3)], normed_native(lambda: torch.nn.Linear(3, 4), (1, 0))
    ),
    "linear under weight norm by input": Composite(
        nn.Linear(4, weight_norm=1), [numbers(2, 3)], normed_native(lambda: torch.nn.Linear(3, 4), (1, 0), dim=1)
    ),
    "convolution under weight norm": Composite(
        nn.Conv2d(4, weight_norm=0, groups=2),
        [numbers(2, 6, 4, 5)],
        normed_native(lambda: torch.nn.Conv2d(6, 4, 3, groups=2), (3, 2, 0, 1)),
    ),
    "convolution under weight norm by position": Composite(
        nn.Conv1d(4, weight_norm=2),
        [numbers(2, 3, 6)],
        normed_native(lambda: torch.nn.Conv1d(3, 4, 3), (2, 1, 0), dim=2),
    ),
    "linear under one norm": Composite(
        nn.weight_norm(nn.Linear(4), dim=None),
        [numbers(2, 3)],
        normed_native(lambda: torch.nn.Linear(3, 4), (1, 0), dim=None),
    ),
    "convolution under one norm": Composite(
        nn.Conv2d(4, weight_norm="all", groups=2),
        [numbers(2, 6, 4, 5)],
        normed_native(lambda: torch.nn.Conv2d(6, 4, 3, groups=2), (3, 2, 0, 1), dim=None),
    ),
    "transposed convolution under one norm": Composite(
        nn.weight_norm(nn.ConvTranspose1d(4, 4, stride=2), None),
        [numbers(2, 3, 6)],
        normed_native(lambda: torch.nn.ConvTranspose1d(3, 4, 4, stride=2), (1, 2, 0), dim=None),
    ),
    "transposed convolution under weight norm": Composite(
        nn.ConvTranspose1d(4, 4, stride=2, weight_norm=0),
        [numbers(2, 3, 6)],
        normed_native(lambda: torch.nn.ConvTranspose1d(3, 4, 4, stride=2), (1, 2, 0)),
    ),
}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_formula(case, backend):
    check(CASES[case], backend)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Linear(4, weight_norm=0), (None, 3)),
        (nn.Conv1d(4, weight_norm=2), (None, 3, 6)),
        (nn.ConvTranspose2d(4, weight_norm=0), (None, 3, 5, 5)),
        (nn.Linear(4, weight_norm="all"), (None, 3)),
        (nn.Conv1d(4, weight_norm="all"), (None, 3, 6)),
        (nn.ConvTranspose2d(4, weight_norm="all"), (None, 3, 5, 5)),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, nn.Module) else "",
)
def test_weight_norm_starts_with_the_kernel_that_was_drawn(layer, shape, backend):
    """The gain is the norm of the direction, and a layer that learned nothing gives what it gave without."""
    layer.build(shape, backend=backend.name, seed=0)
    values = layer.state_dict()
    plain = type(layer)(4).build(shape, backend=backend.name, seed=0)
    plain.load_state_dict({"kernel:0": values["kernel_direction:0"], "bias:0": values["bias:0"]})
    x = backend.tensor(numbers(2, *shape[1:]))
    np.testing.assert_allclose(labdl.to_numpy(layer(x)), labdl.to_numpy(plain(x)), rtol=1e-5, atol=1e-6)
    assert sorted(values) == ["bias:0", "kernel_direction:0", "kernel_gain:0"]
