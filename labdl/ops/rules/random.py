"""Shape rules of random operators."""

from __future__ import annotations

from labdl.spec import Spec, show


def multinomial(x, num_samples, replacement=False) -> Spec:
    if x.ndim not in (1, 2):
        raise ValueError(f"multinomial wants probabilities (classes) or (N, classes), received {show(x.shape)}")
    classes = x.shape[-1]
    if classes == 0 or (classes is not None and num_samples > classes and not replacement):
        raise ValueError(
            f"multinomial wants {num_samples} of {classes} classes: at most that many, or replacement=True"
        )
    return Spec((*x.shape[:-1], num_samples), "int64")
