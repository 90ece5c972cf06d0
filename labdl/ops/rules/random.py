"""Shape rules of random operators."""

from __future__ import annotations

from labdl.ops.rules.elementwise import operand
from labdl.ops.rules.traits import layout
from labdl.spec import Spec, show


@layout("elementwise")
def random_uniform_like(x, low=0.0, high=1.0) -> Spec:
    _refuse_reversed("random_uniform_like", "low", low, "high", high)
    return operand(x)


@layout("elementwise")
def rrelu(x, lower=1 / 8, upper=1 / 3, *, training=False) -> Spec:
    _refuse_reversed("rrelu", "lower", lower, "upper", upper)
    return operand(x)


def _refuse_reversed(what: str, first: str, low, last: str, high) -> None:
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        raise ValueError(f"{what} wants {first} of at most {last}, received {low} and {high}")


def multinomial(x, num_samples, replacement=False) -> Spec:
    if x.ndim not in (1, 2):
        raise ValueError(f"multinomial wants probabilities (classes) or (N, classes), received {show(x.shape)}")
    classes = x.shape[-1]
    if classes == 0 or (classes is not None and num_samples > classes and not replacement):
        raise ValueError(
            f"multinomial wants {num_samples} of {classes} classes: at most that many, or replacement=True"
        )
    return Spec((*x.shape[:-1], num_samples), "int64")
