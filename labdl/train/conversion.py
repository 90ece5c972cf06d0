"""Conversion of data sets and batches to what the model and the loss of a training take (see `labdl.data.conversion`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.data.conversion import TargetRule, fit_input, fit_target, is_text, native_order
from labdl.errors import ModelError
from labdl.nn.index_limits import IndexLimit, check_indices, index_limits
from labdl.nn.loss.classification import BinaryCrossEntropyLoss, FocalLoss
from labdl.nn.loss.target_values import check_target_values, declaring_layer
from labdl.nn.module import Module
from labdl.nn.signature import given_inputs
from labdl.spec import Spec
from labdl.train.broadcasting import aligned_ranks
from labdl.train.data_adapter import NestedDataset, flatten, map_structure
from labdl.train.output_losses import OutputLosses
from labdl.train.weighted_loss import plain_loss, weighs_samples

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_LARGEST = 1 << 30  # bytes: larger arrays are converted batch by batch
_VALUES = ("regression", "binary classification")  # tasks whose targets are numbers in the shape of the output


class Conversion:
    """Converts inputs and targets, of a batch or of all samples, for a built model and its loss.

    Without a standard forward (see `TrainContext`) nothing is known of the model's inputs and outputs: only float64,
    NumPy's default, becomes float32.
    """

    def __init__(self, context: TrainContext):
        self.model = context.model
        self._weighs_samples = weighs_samples(context.loss_function)
        self.inputs: tuple[Spec | None, ...] | None = None
        self._limits: dict[int, IndexLimit] = {}
        self.rule = TargetRule(loss=context.loss_name)
        self._fits: Any = None  # dtypes and shapes of the last batch that needed no conversion
        self.checked = False  # the targets of the coming batches are those of a data set that was checked as a whole
        if not context.overridden & {"forward", "phases"} and context.model._input_specs is not None:
            self.inputs = tuple(spec for _, spec in given_inputs(context.model))
            self.rule = _target_rule(context)
            self._limits = index_limits(context.model)
        self._check_targets = _accept if "loss" in context.overridden else _target_check(context, self.rule)
        self._width = next((s.dtype for s in self.inputs or () if s is not None and s.dtype == "float64"), "float32")

    def __call__(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Convert inputs and targets: arrays, or tuples, lists and dictionaries of them. Raises ConfigError."""
        if self._weighs_samples and type(y) is tuple and len(y) == 2:
            x, target = self(x, y[0])
            return x, (target, self._narrow(y[1]))
        if type(x) is not np.ndarray or type(y) is not np.ndarray:
            return self._inputs(x), map_structure(self._target if type(y) is np.ndarray else self._narrow, y)
        key = x.dtype, y.dtype, x.shape[1:], y.shape[1:]
        if key == self._fits:
            return x, y
        converted = self._inputs(x), self._target(y)
        if converted[0] is x and converted[1] is y:
            self._fits = key
        return converted

    def dataset(self, data: Any) -> Any:
        """The data set with converted arrays; itself if nothing is to be converted, or if it is read sample by sample.

        Raises ConfigError for targets that the loss does not take.
        """
        if isinstance(data, NestedDataset):
            x, y = data.values
        elif isinstance(data, ArrayDataset) and len(data.arrays) > 1:
            count = len(data.arrays) - 1 if self.inputs is None else sum(spec is not None for spec in self.inputs)
            first, rest = data.arrays[:count], data.arrays[count:]
            x, y = first[0] if count == 1 else first, rest[0] if len(rest) == 1 else rest or None
        else:
            return data
        before = flatten((x, y))[0]
        text = any(is_text(a) for a in before)
        if not text and not self.covers(data):
            return data
        x, y = self(x, y)
        self.check(x, y)
        after = flatten((x, y))[0]
        if all(a is b for a, b in zip(before, after, strict=True)):
            return data
        if isinstance(data, NestedDataset):
            return NestedDataset((x, y))
        classes = self.model.class_names if text else data.classes
        return ArrayDataset(*after, name=data.name, classes=classes)

    def covers(self, data: Any) -> bool:
        """Whether `dataset` converts and checks all samples of a data set at once."""
        if not isinstance(data, ArrayDataset | NestedDataset):
            return False
        arrays = data.arrays if isinstance(data, ArrayDataset) else flatten(data.values)[0]
        return 4 * sum(a.size for a in arrays) <= _LARGEST

    @property
    def key(self) -> Any:
        """Equal for two conversions with the same results."""
        return self.inputs, self.rule, self._weighs_samples

    def check(self, x: Any, y: Any) -> None:
        """Raise ConfigError for targets that the loss does not take, and for indices beyond the table of a layer."""
        self._check_targets(y)
        if self._limits:
            check_indices(x, self._limits)

    # -- inside

    def _inputs(self, x: Any) -> Any:
        specs = self.inputs
        if specs is not None and type(x) is np.ndarray and len(specs) == 1:
            return fit_input(x, specs[0])
        if specs is not None and type(x) is tuple and len(x) == len(specs):
            return tuple(fit_input(a, s) if isinstance(a, np.ndarray) else a for a, s in zip(x, specs, strict=True))
        return map_structure(self._narrow, x)

    def _target(self, y: np.ndarray) -> np.ndarray:
        return fit_target(y, self.rule, self.model.class_names)

    def _narrow(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return (
            value.astype("float32") if value.dtype == np.float64 and self._width == "float32" else native_order(value)
        )


def _target_rule(context: TrainContext) -> TargetRule:
    loss = plain_loss(context.loss_function)
    try:
        output = context.model.output_specs
    except (ModelError, TypeError, ValueError):  # it was built with inputs by name, which a data set does not give
        output = None
    spec = output if isinstance(output, Spec) else None
    if "loss" in context.overridden:
        return TargetRule("any", spec, "of the trainer's loss()", labels=True)
    return loss_rule(loss, spec, context.loss_name)


def loss_rule(loss: Any, output: Spec | None, name: str) -> TargetRule:
    """The rule for targets of a loss, for an output."""
    if not isinstance(loss, Module):
        ranks = frozenset() if output is None else aligned_ranks(loss, output)
        return TargetRule("any", output, name, labels=True, aligned=ranks)
    task = getattr(loss, "layer_task", None)
    return TargetRule(
        "classes" if task == "classification" else "values" if task in _VALUES else "any",
        _move_classes_last(loss, output),
        name,
        labels=task == "classification" or isinstance(loss, BinaryCrossEntropyLoss | FocalLoss),
    )


def _move_classes_last(loss: Module, output: Spec | None) -> Spec | None:
    """The output of a loss whose classes are on another axis, with them on the last one."""
    axis = getattr(loss, "axis", -1)
    if axis == -1 or output is None or not -output.ndim <= axis < output.ndim:
        return output
    shape = list(output.shape)
    return output.with_shape([*shape[: axis % output.ndim], *shape[axis % output.ndim + 1 :], shape[axis]])


def _target_check(context: TrainContext, rule: TargetRule) -> Callable[[Any], None]:
    """A function that raises ConfigError for targets that the loss of a training, or that of an output, does not take."""
    loss, output, weighed = plain_loss(context.loss_function), rule.output, weighs_samples(context.loss_function)
    if isinstance(loss, OutputLosses):
        return loss.check_targets
    if not hasattr(declaring_layer(loss), "target_values"):
        return _accept
    classes = None if output is None else output.shape[-1]

    def check(targets: Any) -> None:
        check_target_values(
            targets[0] if weighed and type(targets) is tuple else targets, loss, classes, context.loss_name
        )

    return check


def _accept(targets: Any) -> None:
    """Any targets will do."""


def warn_unscaled(data: Any, conversion: Conversion) -> None:
    """Warn of pictures of 0 to 255 that a model takes as numbers, with which it learns badly."""
    x = data.arrays[0] if isinstance(data, ArrayDataset) else None
    spec = next(iter(conversion.inputs or ()), None)
    if x is None or spec is None or x.dtype != np.uint8 or spec.dtype == "uint8" or x.ndim < 3:
        return
    if x[:64].size and x[:64].max() > 1:
        warnings.warn(
            f"the inputs are uint8 and become {spec.dtype} as they are, from 0 to 255: a model learns better from values of "
            f"about 1, such as x.astype({spec.dtype!r}) / 255",
            stacklevel=2,
        )
