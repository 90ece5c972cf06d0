"""Label sequences from the outputs of connectionist temporal classification (Graves et al., 2006); see `ctc_loss`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.creation import to_numpy
from labdl.ops.array.shape import astype, expand_dims, ones_like, pad, permute_dims, take_along_axis
from labdl.ops.array.sorting import argsort
from labdl.ops.math.comparison import less, logical_and, not_equal, where
from labdl.ops.math.reduction import argmax, cumulative_sum, sum
from labdl.ops.math.reduction import max as largest
from labdl.ops.neural.activation import log_softmax
from labdl.ops.operator import case, floats, ints, operator
from labdl.ops.operator.value_checks import refuse_outside
from labdl.ops.precision.float32 import _narrow, _wide


def _check_lengths(logits, lengths=None, **options):
    refuse_outside("ctc_greedy_decode wants lengths", lengths, 0, logits.shape[0])


@operator(
    rules.ctc_greedy_decode,
    case(floats(7, 2, 3)),
    case(floats(6, 3, 4), ints(3, low=0, high=7), blank=3),
    differentiable=False,
    composite=True,
    checked=True,
    check_values=_check_lengths,
    precision="float32",
)
def ctc_greedy_decode(logits, lengths=None, blank=0):
    """The labels of the most probable alignment: repetitions merged, blanks left out.

    Logits (steps, N, classes) or log-probabilities, ``lengths`` (N) of their steps (default: all), as for `ctc_loss`. Returns
    the labels (N, steps), padded with -1, their number (N), both int64, and the log-probability of the alignment (N).
    `ctc_beam_search_decode` adds up the probabilities of all alignments of a sequence.
    """
    logs = log_softmax(_wide(logits))
    best, scores = (permute_dims(v, (1, 0)) for v in (argmax(_wide(logits), axis=-1), largest(logs, axis=-1)))
    place = cumulative_sum(ones_like(best), axis=-1) - 1
    kept = not_equal(best, blank)
    if spec_of(logits).shape[0] != 1:
        kept = logical_and(kept, not_equal(best, pad(best[:, :-1], ((0, 0), (1, 0)), value=-1)))
    if lengths is not None:
        inside = less(place, expand_dims(astype(lengths, "int64"), -1))
        kept, scores = logical_and(kept, inside), where(inside, scores, 0.0)
    count = sum(astype(kept, "int64"), axis=-1)
    last = sum(ones_like(best), axis=-1, keepdims=True)
    order = argsort(where(kept, place, place + last), axis=-1)
    labels = where(less(place, expand_dims(count, -1)), take_along_axis(best, order, axis=-1), -1)
    return labels, count, _narrow(sum(scores, axis=-1), logits)


class CtcHypothesis(NamedTuple):
    """A label sequence that `ctc_beam_search_decode` found, and its log-probability over the alignments it kept."""

    labels: list[int]
    log_probability: float


def ctc_beam_search_decode(
    logits, lengths=None, beam_width: int = 50, *, blank: int = 0, top_paths: int = 1
) -> list[list[CtcHypothesis]]:
    """The most probable label sequences of each sample, the best first: prefix beam search (Hannun et al., 2014).

    Logits (steps, N, classes) or log-probabilities of any backend, ``lengths`` (N) of their steps, as for `ctc_loss`. It runs
    on the CPU, on NumPy arrays. Of all beginnings the ``beam_width`` most probable are kept after each step; if they are
    all, the log-probabilities are exact: minus those that `ctc_loss` gives. At most ``top_paths`` are returned for each sample,
    without those of probability 0: none where no sequence has a probability, such as that of NaN.

    Raises ValueError for lengths below 0 or above the steps and for a ``beam_width`` or ``top_paths`` below 1, TypeError if
    these are no integers.

    >>> ctc_beam_search_decode(np.log([[[0.4, 0.6]], [[0.4, 0.6]]]), blank=0)[0][0].labels
    [1]
    """
    rules.ctc_greedy_decode(spec_of(logits), None if lengths is None else spec_of(lengths), blank)
    for name, number in (("beam_width", beam_width), ("top_paths", top_paths)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise TypeError(f"ctc_beam_search_decode wants an integer for {name}, received {number!r:.60}")
    if not 1 <= top_paths <= beam_width:
        raise ValueError(f"ctc_beam_search_decode wants top_paths from 1 to {beam_width=}, received {top_paths}")
    values = np.moveaxis(np.asarray(to_numpy(logits), "float64"), 1, 0)
    steps = np.full(len(values), values.shape[1]) if lengths is None else np.asarray(to_numpy(lengths))
    if steps.size and not 0 <= steps.min() <= steps.max() <= values.shape[1]:
        raise ValueError(
            f"ctc_beam_search_decode wants lengths from 0 to {values.shape[1]}, received {steps.min()} to {steps.max()}"
        )
    return [
        _search(_log_probabilities(sample[: int(n)]), beam_width, blank)[:top_paths]
        for sample, n in zip(values, steps, strict=True)
    ]


def _log_probabilities(logits: np.ndarray) -> np.ndarray:
    top = logits.max(-1, keepdims=True)
    top = np.where(np.isinf(top), 0.0, top)  # of a step without a probability
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logs = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return np.where(np.isnan(logs), -np.inf, logs)


def _search(logs: np.ndarray, beam_width: int, blank: int) -> list[CtcHypothesis]:
    """Each prefix has two probabilities: that of the alignments that end in a blank, and of those that end in its label."""
    prefixes: list[tuple[int, ...]] = [()]
    in_blank, in_label = np.zeros(1), np.full(1, -np.inf)
    classes = logs.shape[-1]
    for step in logs:
        ends = np.array([p[-1] if p else blank for p in prefixes])
        both = np.logaddexp(in_blank, in_label)
        stay_blank, stay_label = both + step[blank], in_label + step[ends]
        longer = both[:, None] + step
        rows = np.arange(len(prefixes))
        longer[rows, ends] = in_blank + step[ends]  # a repetition of the last label needs a blank before it
        longer[:, blank] = -np.inf
        at = {prefix: row for row, prefix in enumerate(prefixes)}
        for row, prefix in enumerate(prefixes):
            parent = at.get(prefix[:-1]) if prefix else None
            if parent is not None:
                stay_label[row] = np.logaddexp(stay_label[row], longer[parent, prefix[-1]])
                longer[parent, prefix[-1]] = -np.inf
        scores = np.concatenate([np.logaddexp(stay_blank, stay_label), longer.reshape(-1)])
        order = np.argsort(-scores, kind="stable")[:beam_width]
        order = order[scores[order] > -np.inf]
        if not len(order):
            return []
        count = len(prefixes)
        prefixes = [
            prefixes[i] if i < count else (*prefixes[(i - count) // classes], int((i - count) % classes)) for i in order
        ]
        stays = order < count
        kept = np.where(stays, order, 0)
        in_blank = np.where(stays, stay_blank[kept], -np.inf)
        in_label = np.where(stays, stay_label[kept], scores[order])
    final = np.logaddexp(in_blank, in_label)
    return [CtcHypothesis(list(prefixes[i]), float(final[i])) for i in np.argsort(-final, kind="stable")]
