"""Directions of the values that early stopping, checkpoints and schedules monitor, and whether a training has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from labdl.errors import ConfigError, suggest_name
from labdl.nn.module import Module
from labdl.train.metrics.metric import METRICS, Metric
from labdl.train.output_losses import OutputLosses
from labdl.train.weighted_loss import plain_loss

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

Mode = Literal["auto", "min", "max"]
Direction = Literal["min", "max"]


def monitored_value(owner: object, name: str, values: Mapping[str, float]) -> float:
    """Value of a monitored metric of an epoch; without validation that of the training data."""
    for candidate in (name, name.removeprefix("val_")):
        if candidate in values:
            return values[candidate]
    raise ConfigError(f"{type(owner).__name__} monitors {name!r}, the epoch has {', '.join(values)}")


class Monitor(NamedTuple):
    """A value that a part of a training monitors; ``owner`` is the name of its class, for errors."""

    owner: str
    name: str
    mode: str


def find_direction(
    monitor: Monitor, metrics: Mapping[str, Metric] | None = None, known: Iterable[str] = ()
) -> Direction:
    """Whether a monitored value is to be small or large: with the mode "auto" a loss is to be small, and a metric says it.

    ``metrics`` are those of the training, ``known`` the names of its values for suggestions. Example:
    ``find_direction(Monitor("EarlyStopping", "val_accuracy", "auto"))`` is "max". Raises ConfigError for a value whose
    direction is unknown. Semantics: mode="auto" of the callbacks of Keras, which guesses by the name.
    """
    if monitor.mode in ("min", "max"):
        return monitor.mode  # type: ignore[return-value]
    base = monitor.name.removeprefix("val_")
    if base == "loss" or base.startswith("loss_"):
        return "min"
    metric = (metrics or {}).get(base, METRICS.get(base))
    higher = getattr(metric, "higher_is_better", None)
    if higher is None:
        values = list(known)
        absent = f" is not among the values of the training, {', '.join(values)}" if values and metric is None else ""
        similar = suggest_name(base, {"loss", *METRICS, *(name.removeprefix("val_") for name in values)})
        raise ConfigError(
            f"{monitor.owner} monitors {monitor.name!r}, which{absent or ' does not say whether higher is better'}"
            f'{"" if metric else similar}; write mode="min" or mode="max" for a value of your own'
        )
    return "max" if higher else "min"


def known_values(context: TrainContext) -> list[str]:
    """The names of the values of an epoch that are known before the first step, those of a validation at the end."""
    parts = getattr(plain_loss(context.loss_function), "losses", {})
    norm = ["gradient_norm"] if context.settings.gradient_norm else []
    validated = ["loss", *(f"loss_{name}" for name in parts), *context.metrics]
    return [*validated, *norm, *(f"val_{name}" for name in validated)]


def check_monitors(context: TrainContext, parts: Iterable[Any], *, callbacks: bool) -> None:
    """Raise ConfigError for a monitored value that a training will not have, or whose direction is unknown.

    ``parts`` are its early stopping, checkpoints and schedule, or None. ``callbacks`` says whether it has callbacks, which may
    log further values.
    """
    values = known_values(context)
    logs = callbacks or _may_log(context)
    for part in parts:
        monitor = None if part is None else part.monitoring
        if monitor is None:
            continue
        find_direction(monitor, context.metrics, values)
        if not logs and not {monitor.name, monitor.name.removeprefix("val_")} & {*values}:
            raise ConfigError(
                f"{monitor.owner} monitors {monitor.name!r}, the epoch has {', '.join(values)}"
                f"{suggest_name(monitor.name, values)}"
            )


def _may_log(context: TrainContext) -> bool:
    """Whether code of one's own runs in a step: it may log values, and its loss may have parts by name."""
    own = not type(context.methods).__module__.startswith("labdl.")
    return own or not isinstance(plain_loss(context.loss_function), Module | OutputLosses)
