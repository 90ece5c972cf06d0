"""CTC decoding against all alignments of short sequences."""

import itertools
import math

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.spec import Spec


def collapsed(path, blank):
    """The labels of an alignment."""
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


def every_sequence(logits, blank):
    """The probability of each label sequence: the sum over all of its alignments."""
    shares = torch.softmax(torch.tensor(logits, dtype=torch.float64), -1).numpy()
    found: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        labels = collapsed(path, blank)
        found[labels] = found.get(labels, 0.0) + math.prod(shares[step, c] for step, c in enumerate(path))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_beam_search_finds_the_sequences_of_all_alignments(seed, blank):
    logits, lengths = np.random.default_rng(seed).normal(size=(5, 3, 3)) * 2, np.array([5, 3, 0])
    ours = ops.ctc_beam_search_decode(logits, lengths, 1000, blank=blank, top_paths=1000)
    for sample, (hypotheses, length) in enumerate(zip(ours, lengths, strict=True)):
        expected = every_sequence(logits[:length, sample], blank)
        assert {tuple(h.labels) for h in hypotheses} == expected.keys()
        assert tuple(hypotheses[0].labels) == next(iter(expected))
        for labels, log_probability in hypotheses:
            np.testing.assert_allclose(log_probability, math.log(expected[tuple(labels)]), rtol=1e-9, atol=1e-12)
        assert [h.log_probability for h in hypotheses] == sorted((h[1] for h in hypotheses), reverse=True)


def test_beam_search_agrees_with_the_loss():
    logits = np.random.default_rng(0).normal(size=(8, 2, 4)).astype("float32")
    for sample, (best,) in enumerate(ops.ctc_beam_search_decode(logits, beam_width=5000)):
        loss = ops.ctc_loss(
            logits[:, sample : sample + 1],
            np.array([best.labels]),
            np.array([8]),
            np.array([len(best.labels)]),
            reduction="sum",
        )
        np.testing.assert_allclose(best.log_probability, -loss, rtol=1e-5)


def test_a_narrow_beam_finds_less_but_never_more():
    logits = np.random.default_rng(1).normal(size=(6, 1, 4))
    full = every_sequence(logits[:, 0], 0)
    for width in (1, 2, 5):
        for labels, log_probability in ops.ctc_beam_search_decode(logits, beam_width=width, top_paths=width)[0]:
            assert log_probability <= math.log(full[tuple(labels)]) + 1e-12


def test_the_most_probable_sequence_is_not_that_of_the_best_alignment():
    logits = np.log([[[0.4, 0.6]], [[0.4, 0.6]]])[..., ::-1]  # blank has 0.6 at each step
    assert ops.ctc_greedy_decode(logits)[1].tolist() == [0]
    assert ops.ctc_beam_search_decode(logits)[0][0].labels == [1]
    assert math.isclose(ops.ctc_beam_search_decode(logits)[0][0].log_probability, math.log(0.64))


@pytest.mark.parametrize("blank", [0, 3])
def test_greedy_as_defined(blank):
    logits, lengths = np.random.default_rng(2).normal(size=(9, 5, 4)), np.array([9, 4, 1, 0, 7])
    labels, counts, scores = ops.ctc_greedy_decode(logits, lengths, blank)
    logs = torch.log_softmax(torch.tensor(logits), -1).numpy()
    for sample, length in enumerate(lengths):
        path = logits[:length, sample].argmax(-1).tolist()
        expected = collapsed(path, blank)
        assert counts[sample] == len(expected)
        assert labels[sample].tolist() == [*expected, *[-1] * (9 - len(expected))]
        np.testing.assert_allclose(scores[sample], logs[range(length), sample, path].sum(), rtol=1e-12, atol=1e-12)
    assert (labels.dtype, counts.dtype, scores.dtype) == ("int64", "int64", "float64")


def test_shapes_and_refusals():
    found = ops.ctc_greedy_decode(Spec((None, 2, 5)), Spec((2,), "int64"))
    assert [s.shape for s in found] == [(2, None), (2,), (2,)]
    logits = np.zeros((3, 2, 4))
    for call, message in (
        (lambda: ops.ctc_greedy_decode(logits, blank=4), "blank from 0"),
        (lambda: ops.ctc_greedy_decode(logits, np.array([3])), "length for each of 2"),
        (lambda: ops.ctc_beam_search_decode(logits[0]), "steps, N, classes"),
        (lambda: ops.ctc_beam_search_decode(logits, beam_width=2, top_paths=3), "top_paths"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_beam_search_finds_no_sequence_without_a_probability(value):
    logits = np.random.default_rng(2).normal(size=(4, 2, 3))
    logits[1, 0] = value
    nothing, found = ops.ctc_beam_search_decode(logits)
    assert nothing == []
    assert found == ops.ctc_beam_search_decode(logits[:, 1:])[0]


def test_beam_search_refuses_counts_that_do_not_fit():
    logits = np.zeros((4, 2, 3))
    for lengths in ([-1, 2], [4, 5]):
        with pytest.raises(ValueError, match="lengths from 0 to 4, received"):
            ops.ctc_beam_search_decode(logits, np.array(lengths))
    for name in ("beam_width", "top_paths"):
        with pytest.raises(TypeError, match=f"an integer for {name}, received 2.5"):
            ops.ctc_beam_search_decode(logits, **{name: 2.5})
    with pytest.raises(ValueError, match="wants top_paths from 1"):
        ops.ctc_beam_search_decode(logits, beam_width=0)
