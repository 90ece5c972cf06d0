"""Random numbers have their distributions, by tests of scipy.stats."""

import numpy as np
import pytest
from scipy import stats

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2, every=4)

COUNT = 20_000
SHARE = 1e-4  # of fair draws that would be refused


@pytest.fixture(autouse=True)
def seeded(backend):
    labdl.seed(5)


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (10, 0.3), (40, 0.98), (1000, 0.5)])
def test_binomial(n, p, backend):
    drawn = ops.random_binomial((COUNT // 100, 100), n, p)
    assert backend.spec_of(drawn) == labdl.Spec((COUNT // 100, 100), "int64")
    values = labdl.to_numpy(drawn).ravel()
    assert 0 <= values.min() <= values.max() <= n
    edges = np.unique(stats.binom.ppf(np.linspace(0, 1, 9)[1:-1], n, p))  # classes of some size
    edges = np.concatenate([[-1], edges[edges < n], [n]])
    wanted = np.diff(stats.binom.cdf(edges, n, p)) * COUNT
    found = np.histogram(values, edges + 0.5)[0]
    assert stats.chisquare(found, wanted).pvalue > SHARE


@pytest.mark.parametrize(("n", "p", "only"), [(0, 0.5, 0), (7, 0.0, 0), (7, 1.0, 7), (1, 1, 1)])
def test_binomial_without_a_choice(n, p, only, backend):
    drawn = ops.random_binomial((50,), n, p, dtype="float32")
    assert backend.spec_of(drawn).dtype == "float32"
    np.testing.assert_array_equal(labdl.to_numpy(drawn), np.full(50, only, "float32"))


@pytest.mark.parametrize(("n", "p"), [(-1, 0.5), (3, 1.5), (3, float("nan"))])
def test_binomial_rejects_invalid_arguments(n, p):
    with pytest.raises(ValueError, match="random_binomial wants n of at least 0 and p from 0 to 1"):
        ops.random_binomial((2,), n, p)


def test_binomial_is_the_same_for_a_seed_and_everywhere_if_portable(backend):
    def drawn(**options):
        labdl.seed(9)
        return labdl.to_numpy(ops.random_binomial((60,), 20, 0.4, **options))

    np.testing.assert_array_equal(drawn(), drawn())
    np.testing.assert_array_equal(drawn(portable=True), drawn(backend="numpy"))


@pytest.mark.parametrize(("mean", "std", "low", "high"), [(0.0, 1.0, -2.0, 2.0), (3.0, 0.5, -1.0, 4.0)])
def test_truncated_normal(mean, std, low, high, backend):
    values = labdl.to_numpy(ops.random_truncated_normal((COUNT,), mean, std, low, high))
    assert stats.kstest(values, stats.truncnorm(low, high, mean, std).cdf).pvalue > SHARE


@pytest.mark.parametrize("rate", [0.5, 4.0])
def test_exponential(rate, backend):
    values = labdl.to_numpy(ops.random_exponential((COUNT,), rate))
    assert values.dtype == "float32"
    assert stats.kstest(values, stats.expon(scale=1 / rate).cdf).pvalue > SHARE


@pytest.mark.parametrize(("concentration", "rate"), [(0.1, 1.0), (0.7, 3.0), (1.0, 1.0), (4.5, 0.5), (300.0, 2.0)])
def test_gamma(concentration, rate, backend):
    drawn = ops.random_gamma((COUNT // 100, 100), concentration, rate, dtype="float64")
    assert backend.spec_of(drawn) == labdl.Spec((COUNT // 100, 100), "float64")
    values = labdl.to_numpy(drawn).ravel()
    assert stats.kstest(values, stats.gamma(concentration, scale=1 / rate).cdf).pvalue > SHARE


@pytest.mark.parametrize(("one", "other"), [(0.5, 0.5), (2.0, 5.0), (1.0, 1.0), (80.0, 3.0)])
def test_beta(one, other, backend):
    values = labdl.to_numpy(ops.random_beta((COUNT,), one, other, dtype="float64"))
    assert stats.kstest(values, stats.beta(one, other).cdf).pvalue > SHARE


@pytest.mark.parametrize("rate", [0.3, 4.0, 9.99, 10.0, 37.5, 2000.0])
def test_poisson(rate, backend):
    drawn = ops.random_poisson((COUNT,), rate)
    assert backend.spec_of(drawn).dtype == "int64"
    assert chance_of_counts(labdl.to_numpy(drawn), stats.poisson(rate)) > SHARE


def chance_of_counts(values, distribution):
    """The p-value of whole numbers, in classes of some size."""
    edges = np.unique(distribution.ppf(np.linspace(0, 1, 9)[1:-1]))
    edges = np.concatenate([[-1], edges, [max(values.max(), edges[-1]) + 1]])
    wanted = np.diff(distribution.cdf(edges))
    return stats.chisquare(np.histogram(values, edges + 0.5)[0], wanted / wanted.sum() * len(values)).pvalue


@pytest.mark.parametrize("portable", [False, True])
def test_tensors_of_parameters_have_their_own_distributions(portable, backend):
    labdl.seed(3, portable)
    try:
        parameters = np.array([[0.4], [3.0], [25.0]])
        tensor = labdl.tensor(np.broadcast_to(parameters, (3, COUNT)).copy(), "float64")
        gamma, poisson = (labdl.to_numpy(f(tensor)) for f in (ops.standard_gamma, ops.poisson))
        for row, (parameter,) in enumerate(parameters):
            assert stats.kstest(gamma[row], stats.gamma(parameter).cdf).pvalue > SHARE
            assert chance_of_counts(poisson[row], stats.poisson(parameter)) > SHARE
    finally:
        labdl.seed(0)


def test_poisson_of_rate_zero_is_zero(backend):
    np.testing.assert_array_equal(labdl.to_numpy(ops.poisson(labdl.tensor(np.zeros(9, "float32")))), np.zeros(9))


@pytest.mark.parametrize("portable", [False, True])
def test_multinomial_with_replacement(portable, backend):
    labdl.seed(3, portable)
    try:
        weights = np.array([[0.0, 1.0, 3.0, 0.0, 6.0], [5.0, 0.0, 0.0, 5.0, 0.0]], "float32")
        drawn = labdl.to_numpy(ops.multinomial(labdl.tensor(weights), COUNT, replacement=True))
        assert (drawn.shape, drawn.dtype) == ((2, COUNT), "int64")
        alone = labdl.to_numpy(ops.multinomial(labdl.tensor(weights[0]), COUNT, True))
        for row, share in ((drawn[0], weights[0]), (drawn[1], weights[1]), (alone, weights[0])):
            counts = np.bincount(row, minlength=5)
            assert (counts[share == 0] == 0).all()
            wanted = share[share > 0] / share.sum() * COUNT
            assert stats.chisquare(counts[share > 0], wanted).pvalue > SHARE
    finally:
        labdl.seed(0)


@pytest.mark.parametrize("portable", [False, True])
def test_multinomial_without_replacement(portable, backend):
    """The first of two has the probabilities, the pair those of drawing one after the other."""
    labdl.seed(3, portable)
    try:
        weights = np.array([1.0, 2.0, 5.0], "float32")
        drawn = labdl.to_numpy(ops.multinomial(labdl.tensor(np.tile(weights, (COUNT, 1))), 2))
        assert (drawn[:, 0] != drawn[:, 1]).all()
        share = weights / weights.sum()
        wanted = {(i, j): share[i] * share[j] / (1 - share[i]) for i in range(3) for j in range(3) if i != j}
        counts = [(drawn == pair).all(1).sum() for pair in wanted]
        assert stats.chisquare(counts, np.array([*wanted.values()]) * COUNT).pvalue > SHARE
        few = labdl.to_numpy(ops.multinomial(labdl.tensor(np.array([0.0, 1.0, 0.0, 2.0], "float32")), 2))
        assert sorted(few.tolist()) == [1, 3]
    finally:
        labdl.seed(0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: ops.random_gamma((2,), 0.0), "random_gamma wants numbers above 0"),
        (lambda: ops.random_beta((2,), 1.0, -1.0), "random_beta wants numbers above 0"),
        (lambda: ops.random_exponential((2,), float("nan")), "random_exponential wants numbers above 0"),
        (lambda: ops.random_poisson((2,), -1.0), "random_poisson wants a rate of 0 or more"),
        (lambda: ops.multinomial(labdl.tensor(np.ones((2, 3), "float32")), 4), "replacement=True"),
    ],
)
def test_distributions_reject_invalid_arguments(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


@pytest.mark.parametrize(
    "draw",
    [
        lambda **o: ops.random_gamma((30,), 0.6, **o),
        lambda **o: ops.random_beta((30,), 2.0, 0.6, **o),
        lambda **o: ops.random_exponential((30,), **o),
        lambda **o: ops.random_poisson((30,), 20.0, **o),
    ],
    ids=["gamma", "beta", "exponential", "poisson"],
)
def test_distributions_are_the_same_for_a_seed_and_everywhere_if_portable(draw, backend):
    def drawn(**options):
        labdl.seed(9)
        return labdl.to_numpy(draw(**options))

    np.testing.assert_array_equal(drawn(), drawn())
    np.testing.assert_allclose(drawn(portable=True), drawn(backend="numpy"), rtol=1e-6)


def test_invalid_parameters_give_nan(backend):
    parameters = labdl.tensor(np.array([-1.0, 2.0, np.nan], "float32"))
    for draw in (ops.poisson, ops.standard_gamma):
        assert np.isnan(labdl.to_numpy(draw(parameters))).tolist() == [True, False, True]


def test_gradient_of_gamma_where_the_framework_has_one(backend):
    """The mean is the concentration, so the gradients of the numbers have the mean 1; elsewhere they are constants."""
    concentration = labdl.tensor(np.full(COUNT, 2.5, "float32"))
    gradient = labdl.to_numpy(backend.gradients(lambda x: ops.sum(ops.standard_gamma(x)), [concentration])[1][0])
    expected = 1.0 if backend.name in ("torch", "tensorflow") else 0.0
    assert abs(gradient.mean() - expected) < 0.03
