"""Alignment of labels to the steps of an output for CTC."""

from __future__ import annotations

import numpy as np


def align_labels(logs: np.ndarray, labels: np.ndarray, blank: int) -> np.ndarray:
    """The first step (k) of each label in the most probable alignment (Viterbi) of labels (k) to log-probabilities.

    ``logs`` are (steps, classes). The labels fit into the steps, as those of `ops.ctc_beam_search_decode` do.
    """
    count = len(labels)
    if not count:
        return np.zeros(0, "int64")
    states = np.full(2 * count + 1, blank)
    states[1::2] = labels
    # a label may follow the label before it without a blank, unless it is the same
    skips = np.zeros(len(states), bool)
    skips[3::2] = labels[1:] != labels[:-1]
    scores = np.full(len(states), -np.inf)
    scores[:2] = logs[0, states[:2]]
    came_from = np.zeros((len(logs), len(states)), "int64")
    for step in range(1, len(logs)):
        one = np.concatenate([[-np.inf], scores[:-1]])
        two = np.where(skips, np.concatenate([[-np.inf, -np.inf], scores[:-2]]), -np.inf)
        ways = np.stack([scores, one, two])
        came_from[step] = ways.argmax(0)
        scores = ways.max(0) + logs[step, states]
    state = len(states) - 1 if scores[-1] > scores[-2] else len(states) - 2
    starts = np.zeros(count, "int64")
    for step in range(len(logs) - 1, -1, -1):
        if state % 2:
            starts[state // 2] = step
        state -= came_from[step, state]
    return starts
