"""Random numbers have their distributions, by tests of scipy.stats."""

import numpy as np
import pytest
from scipy import stats

import labdl
from labdl import ops

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
