"""The layer in which a call failed, for its error message."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.nn.module import Module


def name_failing_layer(model: Module, error: Exception) -> None:
    """Put the path and the class of the innermost layer whose forward raised before the message of a ValueError or TypeError.

    Example: a call of a Sequential with (2, 5) in place of (2, 4) says "layer 0 (Linear): linear: matmul of (2, 5) and …".
    Errors of other classes, and those of the model's own forward, stay as they are.
    """
    if type(error) not in (ValueError, TypeError) or len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    paths = {id(module): path for path, module in model.named_modules()}
    layer = _innermost(error.__traceback__, paths)
    if layer is not None and layer is not model and not error.args[0].startswith("layer "):
        error.args = (f"layer {paths[id(layer)]} ({type(layer).__name__}): {error.args[0]}",)


def _innermost(traceback: TracebackType | None, paths: Mapping[int, str]) -> Module | None:
    """The module with a path in the innermost frame of a forward."""
    layer = None
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "forward" and id(frame.f_locals.get("self")) in paths:
            layer = frame.f_locals["self"]
        traceback = traceback.tb_next
    return layer
