"""Lookup of losses and metrics by name in the registries of layers and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from labdl.errors import ConfigError, suggest_name
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, fields, input_ports
from labdl.settings import create
from labdl.train.aliases import LOSS_HINTS, LOSSES, METRIC_HINTS, advise, find_name
from labdl.train.aliases import METRICS as METRIC_ALIASES
from labdl.train.config import refuse_class, resolve
from labdl.train.metrics import METRICS, Metric
from labdl.train.metrics.metric import check_number, snake_case
from labdl.train.output_losses import OutputLosses, OutputMetric, is_by_output


def losses() -> dict[str, type[Module]]:
    """Losses of an output and a target by name: layers of the category "loss", including those of the user."""
    return {name: cls for name, cls in _all_losses().items() if len(_required_inputs(cls)) == 2}


def _all_losses() -> dict[str, type[Module]]:
    return {snake_case(cls, "Loss"): cls for cls in LAYERS.values() if getattr(cls, "layer_category", None) == "loss"}


def _required_inputs(cls: type[Module]) -> list[str]:
    return [port.name for port in input_ports(cls) if not port.optional]


def loss(value: str | Callable, **settings) -> Callable:
    """A loss (output, target) -> scalar tensor: by name, or a short one such as "mse", with settings, a layer, or a function.

    Raises ConfigError that lists the names, or the settings.
    """
    if isinstance(value, str):
        everything, value = _all_losses(), full_name(value)
        if value not in everything:
            raise ConfigError(
                f"loss wants one of {', '.join(losses())}, a layer such as nn.CrossEntropyLoss(), or a function "
                f"(output, target), received {value!r}{advise(value, LOSS_HINTS) or suggest_name(value, everything)}"
            )
        value = _with_settings(everything[value], value, settings)
    refuse_class(value, "loss")
    if not callable(value):
        raise ConfigError(f"loss wants a name, a layer or a function (output, target), received {value!r}")
    if isinstance(value, Module):
        wanted = _required_inputs(type(value))
        if len(wanted) != 2:
            raise ConfigError(
                f"{loss_name(value)} takes {', '.join(wanted)}, training gives output and target: call it in "
                "a Trainer of your own that overrides loss(output, target)"
            )
        if getattr(value, "reduction", None) == "none":
            raise ConfigError(
                f"{type(value).__name__}: reduction='none' gives a loss for each sample, training wants one "
                "number: give reduction='mean' or 'sum'"
            )
    return value


def losses_of(value: Any) -> Callable:
    """The loss of a training from what a trainer is given: one, or a dictionary or list with one for each output."""
    if not is_by_output(value):
        return resolve(value, loss, "loss")
    named = value.items() if isinstance(value, Mapping) else enumerate(value)
    found = {}
    for name, given in named:
        try:
            found[str(name)] = resolve(given, loss, "loss")
        except ConfigError as error:
            raise ConfigError(f"the loss of the output {name}: {error}") from None
    return OutputLosses(found if isinstance(value, Mapping) else [*found.values()])


def full_name(name: str) -> str:
    """The name of a loss for itself, its short name, or its name as a class of PyTorch or Keras where that is the same."""
    return name if advise(name, LOSS_HINTS) else find_name(name, _all_losses(), LOSSES) or name


def _with_settings(cls: type[Module], name: str, settings: dict[str, Any]) -> Module:
    for key in settings:
        if key not in fields(cls):
            raise ConfigError(f"{name} has the settings {', '.join(fields(cls)) or '(none)'}, received {key!r}")
    return cls(**settings)


def loss_name(value: Callable) -> str:
    """Name of a loss in curves and recordings."""
    if isinstance(value, OutputLosses):
        return " + ".join(map(loss_name, value.losses.values()))
    return snake_case(type(value), "Loss") if isinstance(value, Module) else getattr(value, "__name__", "loss")


class FunctionMetric(Metric):
    """A function (output, target) -> number as a metric: the mean over batches, weighted by their number of samples."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.name = getattr(function, "__name__", "metric")  # type: ignore[misc]

    def statistics(self, output, target):
        samples = len(target)
        return check_number(self.name, self.function(output, target)) * samples, samples

    def value(self, total, samples):
        return total / samples


def metrics(values: Iterable[str | Metric | Callable | Mapping[str, Any]] | None) -> dict[str, Metric]:
    """Create metrics by name from names, short ones such as "mae", metrics, functions, and names with settings:
    ``{"name": "top_k_accuracy", "k": 5}``.

    A dictionary without a name has metrics by output: ``{"label": ["accuracy"], "mask": "dice"}``. Raises ConfigError that
    lists the names.
    """
    by_name: dict[str, Metric] = {}
    if isinstance(values, Mapping) and is_by_output(values):
        found = [OutputMetric(str(name), m) for name, of in values.items() for m in metrics(of).values()]
        return metrics(found)
    single = isinstance(values, str | Mapping | Metric) or callable(values)
    listed: Iterable[Any] = () if values is None else [values] if single else values
    if not isinstance(listed, Iterable):
        raise ConfigError(
            f"metrics wants a list of names, of objects such as TopKAccuracy(k=5), or of functions (output, target), "
            f"received {values!r:.60}"
        )
    for given in listed:
        value: Any = given
        settings: dict[str, Any] = {}
        if isinstance(given, Mapping):
            settings = {str(key): v for key, v in given.items() if key != "name"}
            value = given.get("name")
            if not isinstance(value, str):
                raise ConfigError(
                    f"metrics has the dictionary {given!r:.80}, which wants the name of a metric, "
                    '{"name": "top_k_accuracy", "k": 5}; metrics of a model with several outputs are one dictionary, '
                    'metrics={"label": ["accuracy"]}'
                )
        refuse_class(value, "metrics")
        if isinstance(value, str) and not advise(value, METRIC_HINTS):
            value = find_name(value, METRICS, METRIC_ALIASES) or value
        if isinstance(value, str) and value in METRICS:
            entry = create(METRICS[value], settings)
        elif isinstance(value, Metric):
            entry = value.fresh()
        elif callable(value):
            entry = FunctionMetric(value)
        else:
            raise ConfigError(
                f"metrics wants any of {', '.join(METRICS)}, objects such as TopKAccuracy(k=5), or functions "
                f"(output, target), received {value!r}{advise(value, METRIC_HINTS) or suggest_name(value, METRICS)}"
            )
        if not entry.scalar:
            raise ConfigError(
                f"{type(entry).__name__} gives several numbers, a curve wants one: give it another average, or "
                "call it with the outputs of labdl.predict"
            )
        _check_name(entry.name)
        name, n = entry.name, 2
        while name in by_name:
            name, n = f"{entry.name}_{n}", n + 1
        by_name[name] = entry
    return by_name


_LONGEST_NAME = 200  # characters; a name is the title of a chart


def _check_name(name: Any) -> None:
    """Raise ConfigError for the name of a metric that stands for another value of the training."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        raise ConfigError(
            f"the name of a metric wants 1 to {_LONGEST_NAME} characters, received {name!r:.80}: give the function or the "
            "class another name"
        )
    if name in ("loss", "gradient_norm") or name.startswith(("loss_", "val_")):
        meaning = "values of the validation data" if name.startswith("val_") else "the loss and its gradients"
        raise ConfigError(
            f"a metric is called {name!r}, which names {meaning}: give the function or the class another name"
        )
