"""Properties of single layers beyond the contract: randomness in training, frozen rows, round trips."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)


@pytest.fixture(autouse=True)
def seeded(backend):
    labdl.seed(0)


def trained(layer, x, backend):
    """The layer's output in training, after its output in evaluation has been found to be ``x`` itself."""
    layer.build((None, *x.shape[1:]), backend=backend.name, seed=0)
    np.testing.assert_array_equal(labdl.to_numpy(layer.eval()(backend.tensor(x))), x)
    return labdl.to_numpy(layer.train()(backend.tensor(x)))


def test_dropout_acts_in_training_only(backend):
    values = trained(nn.Dropout(0.5), np.ones((40, 100), "float32"), backend)
    assert set(np.unique(values)) == {0.0, 2.0}
    assert abs(values.mean() - 1) < 0.1


@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_dropout_channels_drops_whole_channels(data_format, backend):
    values = trained(nn.DropoutChannels(0.5, data_format), np.ones((20, 30, 30), "float32"), backend)
    lines = values if data_format == "channels_first" else values.swapaxes(1, 2)
    assert set(np.unique(lines)) == {0.0, 2.0}
    assert (lines == lines[:, :, :1]).all()
    assert (lines[:, :, 0] != lines[:, :1, 0]).any()
    assert abs(values.mean() - 1) < 0.2


def test_drop_path_drops_whole_samples(backend):
    values = trained(nn.DropPath(0.25), np.ones((400, 3, 2), "float32"), backend)
    np.testing.assert_allclose(np.unique(values), [0.0, 4 / 3], rtol=1e-6)
    assert (values == values[:, :1, :1]).all()
    assert abs((values == 0).mean() - 0.25) < 0.1


def test_alpha_dropout_keeps_mean_and_variance(backend):
    x = np.random.default_rng(0).normal(size=(200, 100)).astype("float32")
    values = trained(nn.AlphaDropout(0.3), x, backend)
    assert abs(values.mean()) < 0.03
    assert abs(values.var() - 1) < 0.05
    assert abs(np.unique(values, return_counts=True)[1].max() / values.size - 0.3) < 0.03  # selu's limit, scaled


@pytest.mark.parametrize(
    ("layer", "deviation"),
    [
        (nn.GaussianNoise(0.3), 0.3),
        (nn.GaussianDropout(0.2), 0.5),  # the root of 0.2 / 0.8
    ],
    ids=["noise", "dropout"],
)
def test_noise_is_normal(layer, deviation, backend):
    values = trained(layer, np.ones((200, 100), "float32"), backend)
    assert abs(values.mean() - 1) < 0.02
    assert abs(values.std() - deviation) < 0.02
    assert abs((np.abs(values - 1) < deviation).mean() - 0.683) < 0.02


def test_random_slopes_lie_between_their_ends(backend):
    layer = nn.RReLU(0.1, 0.4).build((None, 100), backend=backend.name)
    x = np.tile(np.float32([-1, 2]), (100, 50))
    evaluated = labdl.to_numpy(layer.eval()(backend.tensor(x)))
    np.testing.assert_allclose(evaluated, np.tile(np.float32([-0.25, 2]), (100, 50)), rtol=1e-6)
    values = labdl.to_numpy(layer.train()(backend.tensor(x)))
    assert (values[:, 1::2] == 2).all()
    slopes = -values[:, ::2]
    assert slopes.min() >= 0.1
    assert slopes.max() <= 0.4
    assert len(np.unique(slopes)) > 1000
    assert abs(slopes.mean() - 0.25) < 0.01


def test_gumbel_softmax_chooses_by_the_softmax(backend):
    layer = nn.GumbelSoftmax(hard=True).build((None, 3), backend=backend.name)
    chances = np.float32([0.2, 0.5, 0.3])
    values = labdl.to_numpy(layer.eval()(backend.tensor(np.tile(np.log(chances), (4000, 1)))))
    np.testing.assert_allclose(np.sort(values, axis=1), np.tile(np.float32([0, 0, 1]), (4000, 1)), atol=1e-6)
    np.testing.assert_allclose(values.mean(axis=0), chances, atol=0.04)


def test_dropout_between_recurrent_layers_acts_in_training_only(backend):
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    layers = [nn.GRU(5, layers=2, rate=rate).build((None, 4, 3), backend=backend.name, seed=0) for rate in (0.0, 0.5)]
    plain, thinned = ([labdl.to_numpy(m.train(t)(backend.tensor(x))[0]) for t in (False, True)] for m in layers)
    np.testing.assert_array_equal(plain[0], plain[1])
    np.testing.assert_allclose(thinned[0], plain[0], rtol=1e-6)
    assert np.abs(thinned[1] - plain[1]).max() > 1e-3


def test_padding_embedding_is_zero_and_not_trained(backend):
    tokens = np.array([[0, 2, 1], [2, 2, 3]])
    layer = nn.Embedding(4, 3, padding_index=2)
    layer.build(Spec((None, 3), "int64"), backend=backend.name, seed=0)
    table = layer.state_dict()["embeddings:0"]
    assert (table[2] == 0).all()
    assert (table[[0, 1, 3]] != 0).all()
    variables = [p.value for p in layer.parameters()]
    _, (gradient,) = backend.gradients(lambda *v: ops.sum(layer(backend.tensor(tokens))), variables)
    np.testing.assert_array_equal(labdl.to_numpy(gradient), np.outer([1, 1, 0, 1], np.ones(3)))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_unpooling_puts_back_what_pooling_found(rank, data_format, backend):
    x = np.random.default_rng(0).permutation(2 * 3 * 4**rank).reshape(2, 3, *(4,) * rank).astype("float32")
    x = x if data_format == "channels_first" else np.moveaxis(x, 1, -1)
    options = {"kernel_size": 2, "data_format": data_format}
    pool = getattr(nn, f"MaxPool{rank}dWithIndices")(**options).build((None, *x.shape[1:]), backend=backend.name)
    values, indices = pool(backend.tensor(x))
    back = labdl.to_numpy(getattr(nn, f"MaxUnpool{rank}d")(**options)(values, indices))
    kept = np.isin(x, labdl.to_numpy(values))
    assert kept.sum() == x.size / 2**rank
    np.testing.assert_array_equal(back, np.where(kept, x, 0))


@pytest.mark.parametrize(
    ("there", "back", "shape"),
    [
        (nn.PixelUnshuffle(2), nn.PixelShuffle(2), (2, 3, 4, 6)),
        (nn.Unfold(2, stride=2), nn.Fold((4, 6), 2, stride=2), (2, 3, 4, 6)),
        (nn.Flatten(1, 2), nn.Unflatten((3, 4)), (2, 3, 4, 6)),
        (nn.Pad((1, (0, 2)), mode="reflect"), nn.Crop((1, (0, 2))), (2, 3, 4, 6)),
        (nn.Permute((0, 2, 3, 1)), nn.Permute((0, 3, 1, 2)), (2, 3, 4, 6)),
        (nn.ExpandDims(-1), nn.Squeeze(-1), (2, 3)),
        (nn.Flip(), nn.Flip(), (2, 3)),
        (nn.Repeat(3), nn.Slice(step=3), (2, 3)),
        (nn.Tile((1, 3)), nn.Slice(stop=3), (2, 3)),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, nn.Module) else "",
)
def test_round_trip(there, back, shape, backend):
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    model = nn.Sequential(there, back).build((None, *shape[1:]), backend=backend.name)
    np.testing.assert_allclose(labdl.to_numpy(model(backend.tensor(x))), x, rtol=1e-6)


def test_a_sequence_after_its_end_does_not_matter(backend):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 5, 3)).astype("float32")
    other = x.copy()
    other[0, 2:] = rng.normal(size=(3, 3))
    layer = nn.LSTM(4, layers=2, bidirectional=True).build(
        (None, 5, 3), Spec((None,), "int64"), backend=backend.name, seed=0
    )
    lengths = backend.tensor(np.array([2, 5]))
    first, second = ([labdl.to_numpy(t) for t in layer(backend.tensor(v), lengths)] for v in (x, other))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (first[0][0, 2:] == 0).all()
    short = [labdl.to_numpy(t) for t in layer(backend.tensor(x[:1, :2]))]
    np.testing.assert_allclose(first[0][:1, :2], short[0], rtol=1e-4, atol=1e-6)
    for whole, alone in zip(first[1:], short[1:], strict=True):
        np.testing.assert_allclose(whole[:, :1], alone, rtol=1e-4, atol=1e-6)


def test_cell_equals_layer(backend):
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    layer = nn.LSTM(5).build((None, 4, 3), backend=backend.name, seed=0)
    cell = nn.LSTMCell(5).build((None, 3), backend=backend.name, seed=1)
    cell.load_state_dict(layer.state_dict())
    states = ()
    for step in range(4):
        states = cell(backend.tensor(x[:, step]), *states)
    _, *last = layer(backend.tensor(x))
    for one, other in zip(states, last, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(one), labdl.to_numpy(other)[0], rtol=1e-5, atol=1e-6)


def test_attention_to_another_sequence(backend):
    rng = np.random.default_rng(0)
    x, context = (rng.normal(size=s).astype("float32") for s in ((2, 3, 4), (2, 5, 4)))
    ours, reference = (
        nn.MultiHeadAttention(2).build((None, 3, 4), (None, 5, 4), backend=b, seed=0) for b in (backend.name, "numpy")
    )
    actual = labdl.to_numpy(ours(backend.tensor(x), backend.tensor(context)))
    np.testing.assert_allclose(actual, reference(x, context), rtol=2e-4, atol=2e-5)
