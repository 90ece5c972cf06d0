"""Wrong numbers that were reported for other libraries, tried on each backend: values and gradients.

| source | subject | here |
|---|---|---|
| pytorch/pytorch#4320, keras-team/keras#2960 | gradient of the deviation of equal numbers is NaN | 0 |
| pytorch/pytorch#5410, BVLC/caffe#3963 | batch norm of a constant is not 0 | test_constant_columns_are_the_offset |
| pytorch/pytorch#27134, tensorflow/tfjs#346 | gradient of 0 ** b for b is NaN | 0 |
| ml-explore/mlx#505, roystgnr/MetaPhysicL#49 | gradient of x ** 2 at 0 is NaN | 0 |
| pytorch/pytorch#36493, #37154 | gradient of distances between equal vectors is NaN | 0; finite for pairwise_distance |
| huggingface/sentence-transformers#4033 | gradient of a Euclidean distance of 0 is NaN | 0 |
| HKUDS/LightRAG#3421, deeplearning4j/deeplearning4j#8957 | cosine similarity with zeros is NaN | 0, gradient finite |
| tensorflow/tensorflow#11692, rusty1s/pytorch_scatter#369 | logsumexp of -inf is NaN | -inf |
| scipy/scipy#8872 | logsumexp with inf is NaN | inf |
| tinygrad/tinygrad#17853 | logcumsumexp that begins with -inf is NaN | -inf, then the sums |
| jax-ml/jax#40409 | gradient of log_softmax of 2^16 numbers in float16 is NaN | finite |
| FluxML/NNlib.jl#68 | gradient of cross entropy of far logits is NaN | that of softmax |
| tensorflow/tensorflow#10142, uTensor/uTensor#175 | softmax of large logits overflows | exact |
| tracel-ai/burn#1992, FluxML/Flux.jl#2096 | gradient of a layer norm of zeros is NaN | 0 |
| pyg-team/pytorch_geometric#2917 | the same, of one constant row among others | 0 for that row |
| numpy/numpy#12841, jax-ml/jax#40028 | sign of a zero of remainder | test_a_remainder_of_zero_has_the_sign_of_the_divisor |
| RustPython/RustPython#7722 | divmod(0, -1.0) is (-1, -1) | (0, 0) |
| exaloop/codon#775 | remainder of negative numbers has the sign of the dividend | that of the divisor |
| pytorch/pytorch#1810, #16762 | topk leaves NaN out, sort does not | NaN comes last in both |
| Oneflow-Inc/oneflow#7606, openvinotoolkit/openvino#33626 | argmax of NaN alone is not 0 | 0 |
| pytorch/pytorch#38018 | median with NaN is random | NaN |
| flagos-ai/FlagGems#4383 | nanmedian counts NaN | leaves it out |
| pytorch/pytorch#517 | the backward direction reads the padding of a short sequence | begins at its end |
| elixir-nx/axon#646 | gradients of a recurrence differ from finite differences | equal |
"""

import numpy as np
import pytest

import labdl
from labdl import nn, ops

pytestmark = pytest.mark.sample(backends=2)

NAN, INF = float("nan"), float("inf")


def value(backend, function, *arrays):
    return labdl.to_numpy(function(*[backend.tensor(np.asarray(a, "float32")) for a in arrays]))


def slope(backend, function, *arrays, dtype="float32"):
    """The gradients of the sum of a function's results."""
    tensors = [backend.tensor(np.asarray(a, dtype)) for a in arrays]
    _, gradients = backend.gradients(lambda *xs: ops.sum(function(*xs)), tensors)
    return [labdl.to_numpy(g) for g in gradients]


def close(found, expected, **options):
    np.testing.assert_allclose(found, expected, **{"rtol": 1e-5, "atol": 1e-6, **options})


def deviation(backend):
    close(slope(backend, ops.std, [2.0, 2.0, 2.0])[0], [0, 0, 0])


def powers(backend):
    close(slope(backend, ops.pow, [0.0, 2.0], [1.0, 1.0])[1], [0, 2 * np.log(2)])
    close(slope(backend, lambda x: ops.pow(x, 2.0), [0.0, 3.0])[0], [0, 6])


def distances(backend):
    for gradient in slope(backend, ops.cdist, [[1.0, 2.0]], [[1.0, 2.0]]):
        close(gradient, [[0, 0]])
    for gradient in slope(backend, ops.pairwise_distance, [[1.0, 2.0]], [[1.0, 2.0]]):
        assert np.isfinite(gradient).all()
    close(slope(backend, ops.vector_norm, [0.0, 0.0])[0], [0, 0])


def cosines(backend):
    zeros, ones = np.zeros((1, 3)), np.ones((1, 3))
    close(value(backend, ops.cosine_similarity, zeros, ones), [0])
    for gradient in slope(backend, ops.cosine_similarity, zeros, ones):
        assert np.isfinite(gradient).all()


def logarithms_of_sums(backend):
    close(value(backend, ops.logsumexp, [-INF, -INF]), -INF)
    close(value(backend, ops.logsumexp, [INF, 0.0]), INF)
    close(value(backend, ops.logsumexp, [INF, -INF]), INF)
    close(value(backend, ops.logcumsumexp, [-INF, -INF, 0.0, 0.0]), [-INF, -INF, 0, np.log(2)])


def large_logits(backend):
    logits = [[-1047.0, -981.0, 1891.0]]
    close(value(backend, ops.softmax, logits), [[0, 0, 1]])
    far = np.array([[-431.0, 279.0, 427.0]], "float32")
    target = backend.tensor(np.array([0]))
    close(slope(backend, lambda x: ops.cross_entropy(x, target), far)[0], [[-1, 0, 1]])


def many_halves(backend):
    x = np.random.default_rng(0).normal(size=2**16).astype("float16")
    (gradient,) = slope(backend, ops.log_softmax, x, dtype="float16")
    assert np.isfinite(gradient).all()
    wide = np.exp(x.astype("float64") - x.astype("float64").max())
    close(gradient, 1 - len(x) * wide / wide.sum(), rtol=0.02, atol=0.1)


def layer_norms(backend):
    x = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
    ones, zeros = np.ones(3), np.zeros(3)
    weights = backend.tensor(np.array([[1.0, 2.0, 3.0]], "float32"))
    gradients = slope(backend, lambda x, s, o: ops.multiply(ops.layer_norm(x, s, o), weights), x, ones, zeros)
    assert all(np.isfinite(g).all() for g in gradients)
    close(gradients[0][0], (np.array([1, 2, 3]) - 2) / np.sqrt(1e-5), rtol=1e-3)


def remainders(backend):
    close(value(backend, ops.floor_divide, [0.0, -0.0], [-1.0, -1.0]), [0, 0])
    close(value(backend, ops.remainder, [0.0, -0.0], [-1.0, -1.0]), [0, 0])
    close(value(backend, ops.remainder, [-1.0, 1.0, -7.5], [3.0, -3.0, 2.0]), [2, -2, 0.5])


def not_numbers(backend):
    x = [-1.0, NAN, 2.0, INF]
    values, places = ops.topk(backend.tensor(np.array(x, "float32")), 2)
    close(labdl.to_numpy(values), [INF, 2])
    assert labdl.to_numpy(places).tolist() == [3, 2]
    close(value(backend, ops.sort, x), [-1, 2, INF, NAN])
    assert int(value(backend, ops.argmax, [NAN, NAN])) == 0
    assert np.isnan(value(backend, ops.median, [1.0, NAN, 1.1]))
    close(value(backend, ops.nanmedian, [1.0, NAN, 3.0, NAN, 2.0]), 2)


def short_sequences(backend):
    rng = np.random.default_rng(0)
    for layer in (nn.LSTM, nn.GRU):
        model = layer(3, bidirectional=True).build((None, None, 2), backend=backend.name, seed=0)
        x, lengths = rng.normal(size=(2, 4, 2)).astype("float32"), np.array([4, 2])
        padded = labdl.to_numpy(model(backend.tensor(x), backend.tensor(lengths))[0])
        alone = labdl.to_numpy(model(backend.tensor(x[1:, :2]))[0])
        close(padded[1:, :2], alone)


def recurrences(backend):
    model = nn.GRU(2).build((None, None, 2), backend=backend.name, seed=0)
    x = np.random.default_rng(0).normal(size=(1, 5, 2))
    (gradient,) = slope(backend, lambda t: model(t)[0], x)
    for place in ((0, 0, 0), (0, 3, 1)):
        ends = []
        for step in (1e-2, -1e-2):
            moved = x.copy()
            moved[place] += step
            ends.append(float(value(backend, lambda t: model(t)[0], moved).astype("float64").sum()))
        close(gradient[place], (ends[0] - ends[1]) / 2e-2, rtol=2e-2, atol=1e-3)


REPORTS = (
    deviation,
    powers,
    distances,
    cosines,
    logarithms_of_sums,
    large_logits,
    many_halves,
    layer_norms,
    remainders,
    not_numbers,
    short_sequences,
    recurrences,
)


def test_reports_of_numerics(backend, run_cases):
    run_cases([(report.__name__, report) for report in REPORTS], lambda report: report(backend))
