"""Builds the trainer of a trial from its parameters."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from labdl.errors import ConfigError, suggest_name
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.train import config
from labdl.train.aliases import SETTINGS
from labdl.train.trainer import Trainer

_TRAINING = (
    "epochs",
    "batch_size",
    "shuffle",
    "steps_per_epoch",
    "validation_steps",
    "validation_freq",
    "validation_batch_size",
    "health",
    "callbacks",
    "class_weight",
    "sample_weight",
    "validation_split",
    "validation_from",
)  # arguments of `Trainer.events`
PER_TRIAL = ("checkpoint", "output_dir", "resume", "save_to", "train_dataset", "val_dataset", "group", "params")


class TrialBuilder:
    """Builds the trainers of a sweep from ``build``, a function or a graph, and the ``options`` of all trials.

    Raises ConfigError for unknown names.
    """

    def __init__(
        self, build: Callable[..., Any] | Graph, space: Mapping[str, Any], options: Mapping[str, Any], seed: int
    ):
        if isinstance(build, Module):
            raise ConfigError(
                "sweep: build wants a function that returns a new model or Trainer for each trial, received a model: "
                "write lambda: Net()"
            )
        if not isinstance(build, Graph) and not callable(build):
            raise ConfigError(
                f"sweep: build wants a function that returns a Trainer or a model, or a Graph, received {build!r:.80}"
            )
        self.build, self.seed = build, seed
        self.parameters = _parameter_names(build, space)
        rest = [*(name for name in space if name not in self.parameters), *options]
        trainers = [*config.names(), *SETTINGS]
        for name in rest:
            if name in PER_TRIAL:
                raise ConfigError(f"sweep: each trial has its own {name}: leave it out")
            if name not in _TRAINING and name not in trainers:
                raise ConfigError(
                    f"sweep: {name!r} is neither a parameter of build ({', '.join(self.parameters) or 'none'}) nor a "
                    f"setting of a Trainer ({', '.join(trainers)})"
                    f"{suggest_name(name, [*self.parameters, *trainers, *_TRAINING, 'validation'])}"
                )
        self.options = {name: value for name, value in options.items() if name in _TRAINING}
        self.settings = {name: value for name, value in options.items() if name not in _TRAINING}

    def __call__(self, params: Mapping[str, Any]) -> tuple[Trainer, dict[str, Any]]:
        """Build the trainer of a trial; returns it with the options of its training."""
        own = {name: value for name, value in params.items() if name in self.parameters}
        built = self.build if isinstance(self.build, Graph) else self.build(**own)
        rest = {name: value for name, value in params.items() if name not in self.parameters}
        options = {**self.options, **{name: value for name, value in rest.items() if name in _TRAINING}}
        settings = {**self.settings, **{name: value for name, value in rest.items() if name not in _TRAINING}}
        if isinstance(built, Trainer):
            if settings:
                raise ConfigError(
                    f"build returned a Trainer, to which {', '.join(settings)} cannot be applied: make them parameters of build"
                )
            return built, options
        if not isinstance(built, Module | Graph):
            raise ConfigError(
                f"build wants to return a Trainer, a Module or a Graph, it returned {type(built).__name__}"
            )
        copies = {name: copy.deepcopy(value) for name, value in settings.items()}  # objects with state are not shared
        own_settings: dict[str, Any] = {"seed": self.seed, **copies}
        return Trainer(built, **own_settings), options


def _parameter_names(build: Any, space: Mapping[str, Any]) -> list[str]:
    """Names of the search space that the builder function accepts: its parameters, or all if it takes ``**kwargs``."""
    if isinstance(build, Graph):
        return []
    try:
        parameters = inspect.signature(build).parameters.values()
    except (TypeError, ValueError):
        raise ConfigError(
            f"sweep: the parameters of {build!r:.80} cannot be inspected: give a function of the parameters"
        ) from None
    kinds = inspect.Parameter
    missing = [
        p.name
        for p in parameters
        if p.default is kinds.empty
        and p.name not in space
        and p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY, kinds.POSITIONAL_ONLY)
    ]
    if missing:
        raise ConfigError(
            f"sweep: build wants {', '.join(missing)}, which are not in the space: it has {', '.join(space)}"
        )
    if any(p.kind is kinds.VAR_KEYWORD for p in parameters):
        return list(space)
    return [p.name for p in parameters if p.name in space]
