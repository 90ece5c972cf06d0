"""Building a trainer's model and binding optimizers and averages to its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch, framework_info
from labdl.data import Loader
from labdl.errors import ConfigError, ModelError
from labdl.nn.input_arrays import build_for
from labdl.nn.module import Module
from labdl.nn.named_inputs import describe_inputs, place_named, takes_by_name
from labdl.nn.output_kind import OutputKind, output_kind
from labdl.nn.parameter import Parameter
from labdl.spec import Spec
from labdl.train.channel_order import check_channel_order
from labdl.train.conversion import Conversion
from labdl.train.data_adapter import map_structure
from labdl.train.device_prefetch import prefetch_for
from labdl.train.loaders import first_batch
from labdl.train.optimizers import BoundOptimizer
from labdl.train.output_losses import OutputLosses, OutputMetric
from labdl.train.phases import Phase, check_phases
from labdl.train.precision import LossScaler
from labdl.train.state import PhaseState
from labdl.train.swa import averages_of
from labdl.train.weighted_loss import plain_loss, targets_of

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState


def binding_key() -> tuple[int, bool]:
    """Key of the state that optimizers and compiled steps are bound to: the parameters and the random number generator."""
    return Parameter.changes, dispatch.portable()


def is_prepared(state: TrainState) -> bool:
    """Return True if `prepare` has nothing to do."""
    return bool(state.phases) and state.bound_to == binding_key()


def prepare_for(context: TrainContext, state: TrainState, dataset: Any) -> None:
    """`prepare` with the first sample of a data set."""
    if not is_prepared(state):
        prepare(context, state, *context.methods.preprocess(first_batch(dataset)))


def convert_dataset(context: TrainContext, state: TrainState, data: Any, *, keep: bool = False) -> Any:
    """The data set with arrays as the bound model and loss take them; ``keep`` returns the same one for the same data later.

    A trainer that overrides `preprocess` gets the data as they are, and its result is converted batch by batch.
    """
    if isinstance(data, Loader):
        inner = convert_dataset(context, state, data.dataset, keep=keep)
        return data if inner is data.dataset else data.replace(inner)
    conversion = state.conversion
    if data is None or conversion is None or "preprocess" in context.overridden:
        return data
    for source, result, key in state.converted:
        if (data is source or data is result) and key == conversion.key:
            return result
    result = conversion.dataset(data)
    if keep and result is not data:
        state.converted = [*state.converted[-1:], (data, result, conversion.key)]
    return result


def prepare(context: TrainContext, state: TrainState, x: Any, y: Any = None) -> None:
    """Build the model and the loss for a batch, and bind optimizers to the trainable parameters.

    It is called before each step if necessary, because a model may change during a training: parameters are frozen, layers
    replaced, the model is moved to another backend.
    """
    model = context.model
    if is_prepared(state):
        return
    if model.unbuilt:
        inputs = x if type(x) is tuple or takes_by_name(model, x) else (x,)
        if not all(isinstance(a, np.ndarray) for a in (inputs.values() if isinstance(inputs, Mapping) else inputs)):
            raise ModelError(
                f"the model is not built, and its inputs cannot be derived from {describe_inputs(model, x)}: call "
                "model.build((None, ...)) first"
            )
        check_channel_order(model, x)
        build_for(model, inputs, backend=context.backend, seed=context.seed)
    backend, parts = state.backend, state.compiled_parts
    bind(context, state)
    modules = [part for root in context.modules for part in root.modules()]
    # a frozen batch normalization computes something else
    state.compiled_parts = [dispatch.portable(), *modules, *(module.trainable for module in modules)]
    if parts != state.compiled_parts:
        state.evaluations.clear()
        state.clear_steps()
    state.conversion = Conversion(context)
    kind = kind_of_outputs(context)
    for metric in context.metrics.values():
        metric.outputs = kind  # type: ignore[misc]
        of_output = isinstance(metric, OutputMetric)
        (metric.metric if of_output else metric).ignored = ignored_target(context, metric.output if of_output else None)  # type: ignore[misc]
    if state.backend is not backend or not state.loss_built:
        state.evaluations.clear()
        _build_loss(context, state, targets_of(context.loss_function, state.conversion(x, y)[1]))
    state.bound_to = binding_key()


def ignored_target(context: TrainContext, output: str | None = None) -> int | None:
    """The number of targets that the loss ignores, of an output for a model of several; None without one."""
    loss = None if context.overridden & {"loss", "phases"} else plain_loss(context.loss_function)
    if output is not None:
        loss = loss.losses.get(output) if isinstance(loss, OutputLosses) else None
    return getattr(loss, "ignore_index", None)


def kind_of_outputs(context: TrainContext) -> OutputKind:
    """The kind of the outputs that metrics get; those of a `postprocess` of the user count as logits."""
    if "postprocess" in context.overridden:
        return "logits"
    own = bool(context.overridden & {"forward", "phases"})
    return output_kind(
        None if own else context.model, None if "loss" in context.overridden else plain_loss(context.loss_function)
    )


def convert(context: TrainContext, state: TrainState, x: Any, y: Any) -> tuple[Any, Any]:
    """The inputs and targets of a batch as the model and the loss take them, see `labdl.data.conversion`.

    Raises ConfigError for targets that the loss does not take.
    """
    if state.bound_to != binding_key():
        prepare(context, state, x, y)
    if type(x) is dict and not context.overridden & {"forward", "phases"}:
        if not takes_by_name(context.model, x):
            raise ConfigError(f"the inputs are {describe_inputs(context.model, x)}: name the entries so")
        x = place_named(context.model, x)
    conversion: Conversion = state.conversion  # type: ignore[assignment]
    x, y = conversion(x, y)
    if not conversion.checked:
        conversion.check(x, y)
    return x, y


def bind(context: TrainContext, state: TrainState) -> list[PhaseState]:
    """Bind the optimizer of each phase and the averages to the parameters of the built model."""
    model = context.model
    model._need_build()
    if not state.phases and context.backend not in (None, model.backend):
        model.to(context.backend)  # type: ignore[arg-type]
    backend = dispatch.get(model.backend)
    if not state.phases:
        for pattern in context.settings.freeze:
            model.freeze(pattern)
        state.phases = [_bind_phase(context, phase, backend) for phase in check_phases(context.methods.phases())]
    for phase in state.phases:
        trainable = _trainable_parameters(model, phase.phase)
        if [id(p.value) for p in trainable.values()] != [id(v) for v in phase.optimizer.variables]:
            phase.optimizer.rebind(trainable, backend)
        if backend is not state.backend:
            phase.steps.clear()
    rule = context.settings.average
    if rule is not None:
        trainable = {name: p for phase in state.phases for name, p in phase.optimizer.parameters.items()}
        if state.averages is None:
            state.averages = averages_of(rule, trainable)
        elif [id(p.value) for p in trainable.values()] != [id(v) for v in state.averages.variables]:
            state.averages.rebind(trainable)
    if backend is not state.backend:
        state.prefetch = prefetch_for(backend)
    state.backend = backend
    return state.phases


def set_batch_size(state: TrainState, size: int) -> None:
    """Set the expected batch size, and discard steps that were compiled for another one."""
    if size != state.batch_size:
        state.batch_size = size
        state.clear_steps()


def _bind_phase(context: TrainContext, phase: Phase, backend: Any) -> PhaseState:
    scaler = LossScaler() if context.settings.precision == "float16" else None
    rule = phase.optimizer or context.optimizer
    known = [name for name, p in context.model.named_parameters() if p.learnable]
    return PhaseState(phase, BoundOptimizer(rule, backend, _trainable_parameters(context.model, phase), known), scaler)  # type: ignore[arg-type]


def _trainable_parameters(model: Module, phase: Phase) -> dict[str, Parameter]:
    """The parameters of a phase that are not frozen, by standard name. Raises ModelError if there are none."""
    parameters = {
        name: p
        for name, p in model.named_parameters()
        if p.trainable and any(fnmatchcase(name, pattern) for pattern in phase.parameters)
    }
    if not parameters:
        if phase.parameters == ("*",):
            raise ModelError("the model has no trainable parameters")
        raise ModelError(
            f"the phase {phase.name!r} has no trainable parameters: none matches "
            f"{' or '.join(map(repr, phase.parameters))}"
        )
    return parameters


def _build_loss(context: TrainContext, state: TrainState, y: Any) -> None:
    """Build the loss, because its class weights must be on the backend before it is compiled."""
    state.loss_built, loss, model = True, context.loss_function, context.model
    _check_framework(loss, state.backend.name)
    if isinstance(loss, OutputLosses) and context.standard_loss and y is not None:
        specs = map_structure(lambda array: _spec_of(state.backend, array), y)
        loss.build(model.output_specs, specs, state.backend.name)
    elif (
        context.standard_loss
        and isinstance(y, np.ndarray)
        and isinstance(loss, Module)
        and isinstance(model.output_specs, Spec)
    ):
        loss.build(model.output_specs, _spec_of(state.backend, y), backend=state.backend.name)


def _check_framework(loss: Any, backend: str) -> None:
    """Raise ConfigError for a loss that is a layer of another framework than the model's, as torch.nn.CrossEntropyLoss()."""
    losses = loss.losses.values() if isinstance(loss, OutputLosses) else [plain_loss(loss)]
    for single in losses:
        framework = type(single).__module__.partition(".")[0]
        if framework in framework_info.TRAINING and framework != backend:
            raise ConfigError(
                f"the loss {type(single).__name__} is one of {framework}, and the model trains on {backend}: write a loss of "
                "labdl.nn, which computes on every backend"
            )


def _spec_of(backend: Any, array: Any) -> Spec:
    """The Spec of the backend's tensor of a batch of any size."""
    spec = dispatch.spec_of(backend.tensor(array))
    return Spec((None, *spec.shape[1:]), spec.dtype)
