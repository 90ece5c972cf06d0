"""The ONNX form of each operator: its ``onnx=`` attribute, a writer, or the parts of a composite.

An operator whose inputs are those of an ONNX operator names it (``onnx=`` of `labdl.ops.operator`). Any other has a writer
here, or is a composite and is written as its parts, or is listed in `UNSUPPORTED` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from labdl.ops import rules
from labdl.ops.operator import Operator

WRITERS: dict[str, Callable] = {}

# Operators without an ONNX form, at least for some arguments, and why.
UNSUPPORTED: dict[str, str] = {}


def writes(*operators: str) -> Callable[[Callable], Callable]:
    """Decorator that registers the writer of some operators.

    A writer is called with an `Emit` and all arguments of the operator in order: tensors as `Value`, promoted operands in
    their common dtype. It returns the name of its result or a `Value`, a list of them for several, or NotImplemented for
    arguments that only the composite's body can do.
    """

    def register(writer: Callable) -> Callable:
        WRITERS.update(dict.fromkeys(operators, writer))
        return writer

    return register


def mark_unsupported(operators: Iterable[str], reason: str) -> None:
    """State why ONNX cannot express some operators, at least for some arguments."""
    UNSUPPORTED.update(dict.fromkeys(operators, reason))


def direct(kind: str, **attributes) -> Callable:
    """A writer of one ONNX operator of the same inputs, with these attributes."""
    return lambda e, *inputs: e(kind, *inputs, **attributes)


def writer_of(entry: Operator) -> Callable | None:
    """The writer of an operator, None if there is none."""
    if entry.onnx is None:
        return WRITERS.get(entry.name)
    kind = entry.onnx
    if entry.rule in (rules.floating, rules.division):  # ONNX's take floats only
        return lambda e, *inputs: e(kind, *(e.cast(x, e.spec.dtype) for x in inputs))
    return direct(kind)


mark_unsupported(["complex", "polar", "imag", "angle", "astype"], "complex numbers")
mark_unsupported(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn"], "complex numbers")
mark_unsupported(["fft2", "ifft2", "rfftn", "irfftn", "stft", "istft"], "complex numbers")
mark_unsupported(
    ["cholesky", "slogdet", "inv", "solve", "triangular_solve", "qr", "svd"], "no factorizations of matrices"
)
mark_unsupported(["svdvals", "eigh", "eigvalsh", "eig", "eigvals", "pinv"], "no factorizations of matrices")
mark_unsupported(["matrix_rank", "lstsq", "matrix_power", "matrix_norm"], "no factorizations of matrices")
mark_unsupported(["bitwise_left_shift", "bitwise_right_shift"], "shifts of unsigned integers only")
mark_unsupported(["gcd", "lcm", "nextafter", "erfinv", "lgamma", "digamma"], "no such function")
mark_unsupported(["cumulative_prod", "cumulative_max", "cumulative_min", "logcumsumexp"], "running sums only")
mark_unsupported(["quantile", "median"], "no interpolation between ranks")
mark_unsupported(["searchsorted", "bincount", "histogram"], "no counting into a size that is unknown")
mark_unsupported(
    ["unique_all", "unique_values", "unique_counts", "unique_inverse"], "no counting into a size that is unknown"
)
mark_unsupported(["nms", "batched_nms"], "computed on the host")
mark_unsupported(["setitem"], "no scattering of whole slices")
mark_unsupported(["repeat"], "repeats must be known")
mark_unsupported(["batch_norm"], "statistics that change in training")
