"""Annex B.7: operations on data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labdl import ops
from labdl.data import Pipeline
from labdl.errors import ArgumentError, ConfigError, suggest_name
from labdl.standard import validation
from labdl.standard.operator_settings import check_settings, tuples


@dataclass(frozen=True)
class DataOperator:
    """An operation on parts of a sample or a batch; created by `construct_operator`.

    A ``function`` is applied to each part that ``on`` names, ``transforms`` to all of these parts together.
    """

    function: Callable | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    on: tuple[str, ...] | None = ("inputs",)
    transforms: Pipeline | None = None
    rng: np.random.Generator | None = None

    def __call__(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Apply the operation to its parts of the data."""
        names = tuple(data) if self.on is None else self.on
        for key in names:
            if key not in data and (self.function or self.transforms):
                raise ConfigError(f"the operator works on {key!r}, the data have {', '.join(data) or 'nothing'}")
        if self.transforms is not None:
            return {**data, **self.transforms({key: data[key] for key in names}, rng=self.rng)}
        if self.function is None:
            return dict(data)
        return {**data, **{key: self.function(data[key], **self.settings) for key in names}}


def construct_operator(op_config: Mapping[str, Any] | None = None) -> DataOperator:
    """An operation on data (B.7.1, table B.17).

    ``op_config`` has the ``name`` of an operator of `labdl.ops`, of a transform of `labdl.data.transforms`, or a function, and
    its settings: ``{"name": "clip", "min": 0.0, "max": 1.0}``, ``{"name": "RandomCrop", "size": 24, "padding": 2}``. ``on``
    has the keys of the data that it applies to. An operator or a function changes each of them by itself, by default
    "inputs". A transform changes all of them together, by default all data: a picture with its boxes; where the data have no
    typed parts, the first array. ``rng`` is the seed of a random transform. ``transforms`` inside of a transform are
    configurations too. Without ``op_config`` the operation is the identity.

    Raises ConfigError for a name or a setting that does not exist.
    """
    if op_config is None:
        return DataOperator()
    config = validation.read(op_config, "op_config", needed=("name",))
    name, on = config.pop("name"), config.pop("on", None)
    keys = _keys(on)
    transform = _find_transform(name)
    if transform is not None:
        rng = config.pop("rng", None)
        if rng is not None and (not isinstance(rng, int) or isinstance(rng, bool) or not 0 <= rng < 1 << 128):
            raise ConfigError(f"op_config: rng wants an integer of at least 0, a seed, received {rng!r:.60}")
        with validation.naming(f"op_config: {name}"[:80], *map(str, config)):
            steps = Pipeline(_create_transform(transform, config))
        return DataOperator(on=keys, transforms=steps, rng=None if rng is None else np.random.default_rng(rng))
    keys = ("inputs",) if keys is None else keys
    if callable(name):
        return DataOperator(name, config, keys)
    if not isinstance(name, str) or name not in ops.OPERATORS:
        raise ConfigError(
            "op_config: name wants an operator of labdl.ops such as 'clip', a transform of labdl.data.transforms such as "
            f"'Resize', or a function, received {name!r:.60}{suggest_name(str(name), _all_names())}"
        )
    own = list(ops.OPERATORS[name].signature.parameters.values())[1:]
    unknown = [key for key in config if key not in [p.name for p in own]]
    missing = [p.name for p in own if p.default is p.empty and p.name not in config]
    if unknown or missing:
        raise ConfigError(
            f"op_config: {name} has the settings {', '.join(p.name for p in own) or '(none)'}, "
            f"{f'received {unknown[0]!r}' if unknown else f'{missing[0]} is missing'}"
        )
    config = tuples(ops.OPERATORS[name], config)
    check_settings(ops.OPERATORS[name], config)
    function = getattr(ops, name)
    places = [config.pop(p.name) for p in own if p.kind is p.POSITIONAL_ONLY]
    return DataOperator((lambda x, **named: function(x, *places, **named)) if places else function, config, keys)


def operate(operator: DataOperator, indata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Apply an operation to data such as ``{"inputs": …, "targets": …}``; ``indata`` is not changed (B.7.2, table B.18)."""
    validation.check_instance(operator, DataOperator, "operate", "construct_operator")
    return operator({} if indata is None else validation.read(indata, "indata"))


def _keys(on: Any) -> tuple[str, ...] | None:
    if on is None or isinstance(on, str):
        return None if on is None else (on,)
    if not isinstance(on, list | tuple) or not all(isinstance(key, str) for key in on):
        raise ConfigError(f"op_config: on wants a key of the data or a list of them, received {on!r:.60}")
    return tuple(on)


# -- in data sets


def as_steps(operator: Any) -> list[Any]:
    """Transforms and functions of a sample for `Dataset.map`, of one operation or a list of them."""
    listed = operator if isinstance(operator, list | tuple | Pipeline) else [operator]
    steps: list[Any] = []
    for one in listed:
        own = construct_operator(one) if isinstance(one, Mapping) else one
        if not isinstance(own, DataOperator):
            steps.append(own)
        elif own.transforms is not None and own.on is None and own.rng is None:
            steps += own.transforms  # their random numbers are those of the sample
        else:
            steps.append(SampleOperator(own))
    return steps


class SampleOperator:
    """An operation on the samples of a data set, of which a tuple is one of inputs and targets."""

    def __init__(self, operator: DataOperator):
        self.operator = operator

    def __call__(self, sample: Any) -> Any:
        if isinstance(sample, Mapping):
            return self.operator(sample)
        values = sample if isinstance(sample, tuple) else (sample,)
        names = ("inputs", "targets", *map(str, range(2, len(values))))
        found = tuple(self.operator(dict(zip(names, values, strict=False))).values())
        return found if isinstance(sample, tuple) else found[0]


def _find_transform(name: Any) -> Any:
    """A transform, or its class; None if it is none."""
    from labdl.data import transforms as T

    if isinstance(name, str):
        return T.TRANSFORMS.get(name)
    return name if isinstance(name, T.Transform) else None


def _create_transform(transform: Any, settings: Mapping[str, Any]) -> Any:
    if not isinstance(transform, type):
        if settings:
            raise ConfigError(f"op_config: a transform has its settings already, received {next(iter(settings))!r:.60}")
        return transform
    try:
        return transform(**{key: _inner(value) for key, value in settings.items()})
    except ArgumentError as error:
        raise ConfigError(f"op_config: {error}") from None


def _inner(value: Any) -> Any:
    """A setting, in which configurations of transforms are transforms."""
    if isinstance(value, Mapping) and "name" in value:
        config = dict(value)
        found = _find_transform(name := config.pop("name"))
        if found is None:
            raise ConfigError(f"op_config: there is no transform {name!r:.60}{suggest_name(str(name), _all_names())}")
        return _create_transform(found, config)
    if isinstance(value, list | tuple):
        return tuple(map(_inner, value))
    return value


def _all_names() -> list[str]:
    from labdl.data import transforms as T

    return [*ops.OPERATORS, *T.TRANSFORMS]
