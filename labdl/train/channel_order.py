"""Pictures with the channels last, given to a model whose convolutions take them first."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import numpy as np

from labdl.errors import ConfigError
from labdl.graph.analysis.hints import CHANNELS
from labdl.nn.module import Module
from labdl.spec import Spec


def check_channel_order(model: Module, inputs: Any) -> None:
    """Raise ConfigError for a model that is not built and pictures (N, height, width, channels) of which it takes the height
    for the channels.

    They are recognized by a last axis of 1, 3 or 4 beside two that are larger, and by the first layer with a ``data_format``,
    whose kernel would have as many channels as the pictures have rows. A model that was built before, or a layer with
    ``data_format="channels_last"``, is taken as it is.
    """
    if not isinstance(inputs, np.ndarray) or inputs.ndim != 4 or inputs.shape[-1] not in CHANNELS:
        return
    _, height, width, channels = inputs.shape
    if min(height, width) <= max(CHANNELS):
        return
    convolution = _first_convolution(model, inputs)
    if convolution is None:
        return
    name, layer = convolution
    kernel = layer.kernel.shape  # (out, in / groups, window...)
    if layer.data_format == "channels_first" and kernel[1] * layer.groups == height:
        raise ConfigError(
            f"the inputs (N, {height}, {width}, {channels}) look like pictures with the channels last, and the layer {name} "
            f"({type(layer).__name__}) takes the channels first: give x.transpose(0, 3, 1, 2), or the layers "
            f"data_format='channels_last'; if {height} are the channels, call model.build((None, {height}, {width}, "
            f"{channels})) first"
        )


def _first_convolution(model: Module, inputs: np.ndarray) -> tuple[str, Any] | None:
    """The first layer with a ``data_format`` and a kernel, after shape inference of a copy; None without one."""
    try:
        tried = copy.deepcopy(model)
    except Exception:  # of an attribute of the user that cannot be copied
        return None
    with contextlib.suppress(Exception):  # a forward of the user may raise anything; the build says what
        tried.infer(Spec((None, *inputs.shape[1:]), "float32"))
    layers = ((name, m) for name, m in tried.named_modules() if hasattr(m, "data_format") and hasattr(m, "groups"))
    return next(((name, m) for name, m in layers if getattr(m, "kernel", None) is not None), None)
