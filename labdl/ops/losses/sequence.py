"""Losses of sequences whose alignment is unknown: connectionist temporal classification and RNN transducers.

Both add up the probabilities of all alignments, in log space and for all labels and samples at once, one step after the
other. They take logits, and log-probabilities alike: log_softmax changes nothing about those.
``reduction`` is "mean", "sum" or "none".
"""

import numpy as np

from labdl.ops import rules
from labdl.ops.array.shape import (
    astype,
    concat,
    expand_dims,
    ones_like,
    pad,
    permute_dims,
    reshape,
    squeeze,
    stack,
    take_along_axis,
    zeros_like,
)
from labdl.ops.losses.regression import _reduce
from labdl.ops.math.arithmetic import divide, maximum, multiply, negative
from labdl.ops.math.comparison import equal, greater, less, logical_and, logical_or, not_equal, where
from labdl.ops.math.reduction import cumulative_sum, logsumexp
from labdl.ops.math.reduction import sum as total
from labdl.ops.neural.activation import log_softmax
from labdl.ops.operator import case, floats, ints, operator
from labdl.ops.operator.value_checks import refuse_outside, values_of
from labdl.ops.precision.float32 import _narrow, _wide

# log-probability of impossible alignments: finite, because the difference of two infinities is NaN, also in gradients
_NEVER = -1e30


def _places(x):
    """The position of each element on the last axis."""
    return cumulative_sum(ones_like(x), axis=-1) - 1


def _at(length, shift=0):
    """Lengths as a column, for comparison with positions."""
    return expand_dims(astype(length, "int64") + shift, -1)


def _either(*logs):
    """The logarithm of the sum of probabilities given by their logarithms."""
    return logsumexp(stack(logs, axis=0), axis=0)


def _infinite(losses):
    """Infinity where no alignment is possible."""
    return where(greater(losses, -_NEVER / 2), float("inf"), losses)


def _safe_targets(targets, lengths, blank):
    """Labels as int64, padding replaced by the blank."""
    targets = astype(targets, "int64")
    return where(less(_places(targets), _at(lengths)), targets, blank)


def _check_sequences(name, steps_axis, fewest):
    """The check of the labels of sequences and of their lengths; what is beyond a length is padding."""

    def check_values(logits, targets, input_lengths, target_lengths, blank=0, **options):
        classes = logits.shape[-1]
        refuse_outside(f"{name} wants input_lengths", input_lengths, fewest, logits.shape[steps_axis])
        refuse_outside(f"{name} wants target_lengths", target_lengths, 0, targets.shape[1])
        if blank >= classes:
            raise ValueError(f"{name} wants blank below the number of classes, {classes}, received {blank}")
        labels, lengths = values_of(targets), values_of(target_lengths)
        refuse_outside(f"{name} wants labels", labels[np.arange(labels.shape[1]) < lengths[:, None]], 0, classes - 1)

    return check_values


@operator(
    rules.ctc_loss,
    case(floats(5, 2, 4), ints(2, 2, low=1, high=4), ints(2, low=5, high=6), ints(2, low=1, high=3)),
    case(floats(6, 3, 4), ints(3, 2, high=3), ints(3, low=5, high=7), ints(3, high=3), blank=3, reduction="none"),
    case(
        floats(3, 2, 3),
        ints(2, 3, low=1, high=3),
        ints(2, low=1, high=4),
        ints(2, low=2, high=4),
        reduction="sum",
        zero_infinity=True,
    ),
    composite=True,
    check_values=_check_sequences("ctc_loss", 0, 0),
    precision="float32",
)
def ctc_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean", zero_infinity=False):
    """Minus the log-probability of label sequences, over all alignments (Graves et al., 2006).

    Logits (steps, N, classes) or log-probabilities; targets (N, labels) without blanks, padded with anything; lengths (N).
    ``blank`` is the class of "no label". The mean is that of the losses divided by the target lengths (at least 1).
    If a target does not fit into its steps, the loss is infinite, or 0 with ``zero_infinity``.
    Semantics: torch.nn.functional.ctc_loss, which takes log-probabilities only.
    """
    steps = logits.shape[0]
    labels = targets.shape[1]
    if steps is None or labels is None:
        raise ValueError("ctc_loss wants a known number of steps and labels: pad to fixed sizes, the lengths count")
    logs = maximum(log_softmax(_wide(logits)), _NEVER)
    last = expand_dims(zeros_like(astype(target_lengths, "int64")), -1) + blank
    states = last
    if labels:
        targets = _safe_targets(targets, target_lengths, blank)
        states = concat(
            [reshape(stack([zeros_like(targets) + blank, targets], axis=-1), (-1, 2 * labels)), last], axis=-1
        )
    place = _places(states)
    # a label may follow the label before it without a blank, unless it is the same
    before = pad(states, ((0, 0), (2, 0)), value=-1)[:, : 2 * labels + 1]
    skips = logical_and(not_equal(states, blank), not_equal(states, before))
    reached = multiply(astype(not_equal(place, 0), "float32"), _NEVER)
    for step in range(steps):
        seen = take_along_axis(logs[step], states, axis=-1)
        one = pad(reached, ((0, 0), (1, 0)), value=_NEVER)[:, : 2 * labels + 1]
        two = where(skips, pad(reached, ((0, 0), (2, 0)), value=_NEVER)[:, : 2 * labels + 1], _NEVER)
        reached = where(greater(_at(input_lengths), step), _either(reached, one, two) + seen, reached)
    ends = logical_or(equal(place, 2 * _at(target_lengths)), equal(place, 2 * _at(target_lengths) - 1))
    losses = _infinite(negative(logsumexp(where(ends, reached, _NEVER), axis=-1)))
    if zero_infinity:
        losses = where(equal(losses, float("inf")), 0.0, losses)
    if reduction == "mean":
        losses = divide(losses, astype(maximum(target_lengths, 1), "float32"))
    return _narrow(_reduce(losses, reduction), logits)


def _skew(grid, width, steps):
    """A grid (N, steps, width) read along its diagonals: (N, steps + width - 1, width) with row d - u, column u at (d, u)."""
    rows = pad(permute_dims(grid, (0, 2, 1)), ((0, 0), (0, 0), (0, width)), value=_NEVER)
    flat = reshape(rows, (-1, width * (steps + width)))[:, : width * (steps + width - 1)]
    return permute_dims(reshape(flat, (-1, width, steps + width - 1)), (0, 2, 1))


@operator(
    rules.rnnt_loss,
    case(floats(2, 4, 3, 4), ints(2, 2, low=1, high=4), ints(2, low=4, high=5), ints(2, low=2, high=3)),
    case(floats(3, 4, 3, 3), ints(3, 2, high=2), ints(3, low=2, high=5), ints(3, high=3), blank=2, reduction="none"),
    case(floats(2, 1, 1, 3), ints(2, 0), ints(2, low=1, high=2), ints(2, high=1), reduction="sum"),
    composite=True,
    check_values=_check_sequences("rnnt_loss", 1, 1),
    precision="float32",
)
def rnnt_loss(logits, targets, input_lengths, target_lengths, blank=0, *, reduction="mean"):
    """Minus the log-probability of label sequences under an RNN transducer, over all alignments (Graves, 2012).

    Logits (N, steps, labels + 1, classes) or log-probabilities: at each step, after each number of labels, what comes next.
    Targets (N, labels) without blanks, padded with anything; lengths (N), of at least one step.
    ``blank`` is the class of "next step". The mean is that over the batch. Semantics: torchaudio.functional.rnnt_loss.
    """
    _, steps, width, _ = logits.shape
    if steps is None or width is None:
        raise ValueError("rnnt_loss wants a known number of steps and labels: pad to fixed sizes, the lengths count")
    logs = maximum(log_softmax(_wide(logits)), _NEVER)
    waits = _skew(logs[:, :, :, blank], width, steps)
    if width > 1:
        labels = expand_dims(expand_dims(_safe_targets(targets, target_lengths, blank), 1), -1)
        wanted = labels + zeros_like(logs[:, :, :-1, :1], dtype="int64")  # for every step
        speaks = squeeze(take_along_axis(logs[:, :, :-1], wanted, axis=-1), -1)
        speaks = _skew(pad(speaks, ((0, 0), (0, 0), (0, 1)), value=_NEVER), width, steps)
    place = _places(zeros_like(waits[:, 0]))
    goal = _at(input_lengths, -1) + _at(target_lengths)
    reached = where(equal(place, 0), zeros_like(waits[:, 0]), _NEVER)
    result = zeros_like(reached)
    for diagonal in range(steps + width - 1):
        if diagonal:
            stayed = reached + waits[:, diagonal - 1]
            if width > 1:
                spoke = pad(reached + speaks[:, diagonal - 1], ((0, 0), (1, 0)), value=_NEVER)[:, :width]
                reached = _either(stayed, spoke)
            else:
                reached = stayed
        done = logical_and(equal(goal, diagonal), equal(place, _at(target_lengths)))
        result = where(done, reached + waits[:, diagonal], result)
    losses = _infinite(negative(total(result, axis=-1)))
    return _narrow(_reduce(losses, reduction), logits)
