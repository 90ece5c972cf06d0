"""The layer in which a call failed, for its error message."""

from __future__ import annotations

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
    failing = _innermost(error.__traceback__)
    path = next((path for path, module in model.named_modules() if module is failing and path), None)
    if path is not None and failing is not None and not error.args[0].startswith("layer "):
        error.args = (f"layer {path} ({type(failing).__name__}): {error.args[0]}",)


def _innermost(traceback: TracebackType | None) -> Module | None:
    """The module of the innermost frame of a forward."""
    from labdl.nn.module import Module

    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "forward" and isinstance(frame.f_locals.get("self"), Module):
            found = frame.f_locals["self"]
        traceback = traceback.tb_next
    return found
