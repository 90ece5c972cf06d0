"""Which modules and parameters are trained: `Module.trainable`, `Module.freeze` and `Module.unfreeze`.

A parameter's own flag decides. A module keeps one besides, for the parameters that it will create at build, and for layers
without learned parameters whose training behavior depends on it (a batch normalization without gamma and beta).
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.nn.parameter import Parameter

if TYPE_CHECKING:
    from labdl.nn.module import Module

Model = TypeVar("Model", bound="Module")

_LISTED = 12  # patterns in a message


def is_trainable(module: Module) -> bool:
    """See `Module.trainable`."""
    parts = list(module.modules()) if module._modules else [module]
    learned = [p.trainable for part in parts for p in part._parameters.values() if p.learnable]
    if module._ready:
        return any(learned) if learned else module._trainable
    return any(learned) or any(part._trainable for part in parts if not part._parameters)


def set_trainable(module: Module, value: Any) -> None:
    """See `Module.trainable`."""
    if not isinstance(value, bool | np.bool_):
        raise ConfigError(f"{type(module).__name__}.trainable is True or False, received {value!r:.80}")
    for part in module.modules():
        part.__dict__.update(_trainable=bool(value), _frozen_later=())
        for parameter in part._parameters.values():
            if parameter.learnable:
                parameter.trainable = bool(value)
    Parameter.changes += 1  # also where no parameter has changed: statistics move, or no longer


def switch(model: Module, names: str, trainable: bool) -> None:
    """See `Module.freeze`: all of a model, or what matches a pattern, now or at its build."""
    if names == "*" and (model.unbuilt or not any(p.learnable for p in model.parameters())):
        set_trainable(model, trainable)
    elif model.unbuilt:
        _switch_matches(model, names, trainable)
        model.__dict__["_frozen_later"] = (*model._frozen_later, (names, trainable))
    elif not _switch_matches(model, names, trainable):
        raise ModelError(_without_match(type(model).__name__, model, names))


def switch_at_build(model: Module) -> None:
    """Apply patterns that were given before the parameters had their names. Raises ModelError where nothing matches."""
    for path, module in model.named_modules():
        for names, trainable in module._frozen_later:
            if not _switch_matches(module, names, trainable):
                where = f"{path} of {type(model).__name__}" if path else type(model).__name__
                raise ModelError(_without_match(where, module, names))
        module.__dict__["_frozen_later"] = ()


def _without_match(where: str, model: Module, names: str) -> str:
    """The message of a pattern that matches no parameter, with patterns for those that there are."""
    paths = [name.partition("/") for name, _ in model.named_parameters()]
    patterns = [*dict.fromkeys(f"{part}/*" if rest else part for part, _, rest in paths)]
    if not patterns:
        message = f"{where} has no parameter that matches {names!r}"
        return message
    listed = f"{', '.join(patterns[:_LISTED])}{' …' if len(patterns) > _LISTED else ''}"
    message = f"{where} has no parameter that matches {names!r}: there are {listed}"
    return message


def _switch_matches(model: Module, names: str, trainable: bool) -> bool:
    matched = {name: fnmatchcase(name, names) for name, _ in model.named_parameters()}
    any_match = False
    for name, parameter in model.named_parameters():
        if matched[name] and parameter.learnable:
            parameter.trainable, any_match = trainable, True
    for path, module in model.named_modules():
        inside = [match for name, match in matched.items() if not path or name.startswith(f"{path}/")]
        if inside and all(inside):
            module.__dict__["_trainable"], any_match = trainable, True
            Parameter.changes += 1
    return any_match


def frozen_patterns(model: Module) -> list[str]:
    """Patterns for `Module.freeze` that freeze a model of the same names where this one is frozen."""
    names = [name for name, p in model.named_parameters() if p.learnable and not p.trainable]
    fixed = [
        f"{path}/*"
        for path, module in model.named_modules()
        if path and module._parameters and not any(p.learnable for p in module.parameters()) and not module.trainable
    ]
    return names + fixed


def freeze_named(model: Model, frozen: Iterable[str]) -> Model:
    """Freeze what `frozen_patterns` of another model lists; a name that is missing is of a layer that was removed since."""
    names = frozenset(frozen)
    for name, parameter in model.named_parameters():
        if name in names and parameter.learnable:
            parameter.trainable = False
    for path, module in model.named_modules():
        if f"{path}/*" in names:
            module.trainable = False
    return model
