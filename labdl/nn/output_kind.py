"""The kind of a model's outputs, logits or probabilities: from the operator that computes them, and from the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from labdl import dispatch
from labdl.errors import ModelError
from labdl.nn.loss.classification import (
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    FocalLoss,
    MultilabelSoftMarginLoss,
    NLLLoss,
)
from labdl.nn.loss.detection import DiceLoss, JaccardLoss, TverskyLoss
from labdl.nn.module import Module
from labdl.ops.infix import neutral
from labdl.ops.operator import Operator
from labdl.spec import Spec

OutputKind = Literal["logits", "probabilities"]
EVEN_ODDS: dict[OutputKind, float] = {
    "logits": 0.0,
    "probabilities": 0.5,
}  # the score of a class that is as likely as not

_PROBABILITIES = ("sigmoid", "hardsigmoid", "softmax", "softmin", "sparsemax", "gumbel_softmax")
# operators that leave the values of their first argument as they are
_PASSING = (
    "astype",
    "clip",
    "dropout",
    "dropout_channels",
    "expand_dims",
    "flatten",
    "getitem",
    "moveaxis",
    "permute_dims",
    "reshape",
    "squeeze",
    "stop_gradient",
    "swapaxes",
)


class _Advice(NamedTuple):
    does: str  # what the loss does with its outputs
    write: str


_LEAVE_OUT = "leave the last activation out"
_OF_LOGITS: dict[type[Module], _Advice] = {
    BinaryCrossEntropyLoss: _Advice(
        "applies a sigmoid to them", f"{_LEAVE_OUT}, or write loss=nn.BinaryCrossEntropyLoss(from_logits=False)"
    ),
    CrossEntropyLoss: _Advice("applies a softmax to them", _LEAVE_OUT),
    FocalLoss: _Advice("applies a sigmoid to them", _LEAVE_OUT),
    MultilabelSoftMarginLoss: _Advice("applies a sigmoid to them", _LEAVE_OUT),
    NLLLoss: _Advice("takes them as logarithms", "end the model with nn.LogSoftmax()"),
}


def output_kind(model: Module | None, loss: Any = None) -> OutputKind:
    """Probabilities if the loss takes these, or if the model ends in a sigmoid or softmax; else logits, as which all other
    scores count.
    """
    if takes_probabilities(loss) or (model is not None and last_operator(model) in _PROBABILITIES):
        return "probabilities"
    return "logits"


def takes_probabilities(loss: Any) -> bool:
    """Whether a loss takes probabilities."""
    return isinstance(loss, DiceLoss | JaccardLoss | TverskyLoss) or (
        isinstance(loss, BinaryCrossEntropyLoss) and not loss.from_logits
    )


def explain_mismatch(model: Module, loss: Any) -> str | None:
    """A sentence that says what to write if the outputs are probabilities and the loss takes logits; None if they agree."""
    advice = None if takes_probabilities(loss) else _OF_LOGITS.get(type(loss))
    last = last_operator(model) if advice else None
    if advice is None or last not in _PROBABILITIES:
        return None
    return (
        f"the outputs of the model are probabilities already (it ends in {last}), and the loss {type(loss).__name__} "
        f"{advice.does}: {advice.write}"
    )


def last_operator(model: Module) -> str | None:
    """Name of the operator that computes the output of a built model, before changes of its shape.

    None for an unbuilt model, for several outputs, and for one that is no operator's.
    """
    if not model.built:
        return None
    inputs = [s if s is None else _OperatorSpec(s, "") for s in model.input_specs]
    options = {k: _OperatorSpec(v, "") if isinstance(v, Spec) else v for k, v in model._input_options.items()}
    try:
        output = neutral(model.forward)(*inputs, **options)
    except (ModelError, TypeError, ValueError):  # a forward that needs values
        return None
    return (output.operator or None) if isinstance(output, _OperatorSpec) else None


class _OperatorSpec(Spec):
    """A Spec with the name of the operator that computed it; a forward on such Specs changes nothing in the model."""

    operator: str

    def __init__(self, spec: Spec, operator: str):
        super().__init__(spec.shape, spec.dtype)
        object.__setattr__(self, "operator", operator)


class _OperatorSpecBackend:
    name = "operator spec"
    precedence = 4
    only_shapes = True

    def implementation(self, entry: Operator) -> Callable:
        def compute(*args, **kwargs):
            found = entry.infer(_plain(args), {name: _plain(v) for name, v in kwargs.items()})
            sources = args[1:3] if entry.name == "where" else args[: entry.name in _PASSING]
            before = {getattr(value, "operator", "") for value in sources}
            return _with_operator(found, before.pop() if len(before) == 1 else entry.name)

        return compute

    def spec_of(self, value: _OperatorSpec) -> Spec:
        return _plain(value)


def _with_operator(value: Any, operator: str) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_with_operator(v, operator) for v in value)
    return _OperatorSpec(value, operator) if isinstance(value, Spec) else value


def _plain(value: Any) -> Any:
    if isinstance(value, _OperatorSpec):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


dispatch.claim(_OperatorSpec, _OperatorSpecBackend())
