"""Shape rule of the decoding of connectionist temporal classification."""

from __future__ import annotations

from labdl.spec import Spec, show


def ctc_greedy_decode(logits, lengths=None, blank=0) -> tuple[Spec, Spec, Spec]:
    if logits.ndim != 3:
        raise ValueError(f"CTC decoding wants logits (steps, N, classes), received {show(logits.shape)}")
    steps, count, classes = logits.shape
    if blank < 0 or (classes is not None and blank >= classes):
        raise ValueError(f"CTC decoding wants a blank from 0 to {classes} - 1, received {blank}")
    if lengths is not None and (
        lengths.ndim != 1 or (None not in (count, *lengths.shape) and lengths.shape[0] != count)
    ):
        raise ValueError(f"CTC decoding wants a length for each of {count} samples, received {show(lengths.shape)}")
    return Spec((count, steps), "int64"), Spec((count,), "int64"), Spec((count,), logits.dtype)
