"""The decorator that registers a function as an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from labdl.ops.operator.call import make_function
from labdl.ops.operator.definition import OPERATORS, Operator, Precision
from labdl.ops.operator.options import Domain
from labdl.spec import FLOATS

# Families of rules whose conditions frameworks do not share, each of them accepting other calls. Views, reductions and
# element-wise operators are left to the frameworks, which raise errors for the same calls.
CHECKED = frozenset(
    (
        "boxes",
        "convolution",
        "fourier",
        "image",
        "indexing",
        "linalg",
        "loss",
        "matrix_functions",
        "neural",
        "normalization",
        "pooling",
        "positions",
        "recurrence",
        "sorting",
    )
)


def _family(rule: Callable | None) -> str:
    return rule.__module__.rsplit(".", 1)[-1] if rule else ""


def operator(
    rule: Callable | None,
    *samples,
    takes: Sequence[str] = FLOATS,
    differentiable: bool = True,
    composite: bool | None = None,
    random: bool = False,
    checked: bool | None = None,
    options: Mapping[str, Domain] | None = None,
    check_values: Callable | None = None,
    compare: Callable | None = None,
    cost: Callable | int | None = 1,
    precision: Precision | None = None,
    onnx: str | None = None,
    without_onnx: str | None = None,
):
    """Register the decorated function as an operator.

    The function's body defines the operator: for a *primitive* it computes with NumPy and ``rule`` gives the Spec of
    the result; for a *composite* it is written with other operators and runs on every backend. A composite needs no rule
    (``rule=None``) unless its body looks at sizes that may be unknown.

    Args:
        takes: dtypes of the tensors that it computes with (the free samples); any other is a TypeError. The rule gives
            the dtype of the result, regardless of NumPy's.
        random: the result is random.
        checked: the rule accepts a call before a framework computes it, once for the same shapes and options. By default
            for operators with ``options``, and for families of rules (`CHECKED`).
        options: the values of options that mean something of their own in this operator (see `labdl.ops.operator.options`).
        check_values: called with the arguments where Python reads values of tensors without waiting, which is on CPUs and
            not in programs; it raises ValueError for values that kernels would take for others (see `value_checks`).
        compare: maps the results (a list of NumPy arrays) and the positional arguments to values that are equal for
            all correct answers, where signs or an order are unspecified.
        cost: floating-point operations for an element of the result, None for a view, which uses no memory, or a
            function ``cost(result, *args, **kwargs)`` of Specs that returns the total (see `labdl.ops.costs`).
        precision: under mixed precision, "half" computes in half precision and "float32" never does, as torch.autocast
            classifies operators; by default the dtypes of the tensors decide.
        onnx: the ONNX operator of the same inputs and no attributes. Operators that need more have a writer in
            `labdl.saving.onnx.exporter`; composites need none.
        without_onnx: why ONNX has no form of it, at least for some arguments.
    """

    def register(body: Callable):
        name = body.__name__
        if name in OPERATORS:
            raise ValueError(f"an operator named {name!r} exists already")
        entry = OPERATORS[name] = Operator(
            name,
            body,
            rule,
            samples,
            takes=tuple(takes),
            differentiable=differentiable,
            composite=rule is None if composite is None else composite,
            random=random,
            checked=bool(options) or _family(rule) in CHECKED if checked is None else checked,
            own_options=options or {},
            check_values=check_values,
            compare=compare,
            cost=cost,
            precision=precision,
            onnx=onnx,
            without_onnx=without_onnx,
            category=body.__module__.rsplit(".", 1)[-1],
        )
        return make_function(entry)

    return register
