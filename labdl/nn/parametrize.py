"""Weight and spectral normalization of a layer's kernel, as functions of the layer."""

from __future__ import annotations

from typing import TypeVar

from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, fields, is_layer

__all__ = ["spectral_norm", "weight_norm"]
Layer = TypeVar("Layer", bound=Module)


def spectral_norm(layer: Layer, n_power_iterations: int = 1) -> Layer:
    """Set ``spectral_norm`` of a layer that is not built yet, and return the layer (Miyato et al., 2018).

    ``nn.spectral_norm(nn.Conv2d(8))`` is ``nn.Conv2d(8, spectral_norm=1)``. Raises ConfigError for a layer without the setting,
    or one that is built. Semantics: torch.nn.utils.parametrizations.spectral_norm.
    """
    if n_power_iterations is None:
        raise ConfigError("spectral_norm wants a number of power iterations of 1 or more, received None")
    return _replace_setting(layer, "spectral_norm", n_power_iterations)


def weight_norm(layer: Layer, dim: int | None = 0) -> Layer:
    """Set ``weight_norm`` of a layer that is not built yet, and return the layer (Salimans & Kingma, 2016).

    ``nn.weight_norm(nn.Linear(8))`` is ``nn.Linear(8, weight_norm=0)``; ``dim=None`` takes one norm over the whole kernel, as
    does the setting "all". Raises ConfigError for a layer without the setting, or one that is built. Semantics:
    torch.nn.utils.parametrizations.weight_norm.
    """
    return _replace_setting(layer, "weight_norm", "all" if dim is None else dim)


def _replace_setting(layer: Layer, name: str, value: int | str) -> Layer:
    kind = type(layer)
    if not isinstance(layer, Module) or not is_layer(layer) or name not in fields(kind):
        owners = ", ".join(cls.__name__ for cls in LAYERS.values() if name in fields(cls))
        raise ConfigError(f"{name} is a setting of {owners}, received {kind.__name__}")
    if layer._set_up:
        raise ConfigError(f"{kind.__name__} has its parameters already: give {name}={value} when it is created")
    kind(**{**{key: getattr(layer, key) for key in fields(kind)}, name: value})  # checks the value
    setattr(layer, name, value)
    return layer
