"""The best path through tags, by dynamic programming."""

from __future__ import annotations

import numpy as np

from labdl.errors import DataError


def viterbi_decode(
    potentials: np.ndarray, transitions: np.ndarray, *, include_bos_eos_tag: bool = True
) -> tuple[float, np.ndarray]:
    """Score and tags (steps,) of the path with the largest sum of potentials (steps, tags) and transitions (tags, tags).

    ``transitions[a, b]`` is the score of b after a. With ``include_bos_eos_tag`` the last row
    has the scores of the first tag, and the last row but one those of the last tag. Source: paddle.text.viterbi_decode.
    """
    values = np.asarray(potentials)
    if values.dtype.kind not in "buif":
        raise DataError(f"viterbi_decode wants potentials that are numbers, received values of {values.dtype}")
    scores, moves = values.astype("float64"), np.asarray(transitions, "float64")
    if scores.ndim != 2 or len(scores) == 0 or moves.shape != (scores.shape[1],) * 2:
        raise DataError(
            f"viterbi_decode wants potentials (steps, tags) and transitions (tags, tags), received {scores.shape} and "
            f"{moves.shape}"
        )
    if include_bos_eos_tag and len(moves) < 2:
        raise DataError(f"viterbi_decode with start and end wants at least 2 tags, received {len(moves)}")
    best = scores[0] + (moves[-1] if include_bos_eos_tag else 0)
    before = np.empty(scores.shape, "int64")
    for step in range(1, len(scores)):
        candidates = best[:, None] + moves
        before[step] = candidates.argmax(0)
        best = candidates.max(0) + scores[step]
    if include_bos_eos_tag:
        best = best + moves[-2]
    path = np.empty(len(scores), "int64")
    path[-1] = best.argmax()
    for step in range(len(scores) - 1, 0, -1):
        path[step - 1] = before[step, path[step]]
    return float(best.max()), path
