"""Whether Python can read the values of tensors: not of shapes alone, nor while a program is recorded or compiled."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

recording: ContextVar[Any] = ContextVar("recording", default=None)  # the interpreter of the recording being made


def only_shapes(owner) -> bool:
    """Whether the tensors of ``owner`` have no values that a condition could read: shape inference and its relatives."""
    return getattr(owner, "only_shapes", False)


def values_are_at_hand(owner) -> bool:
    """Whether reading values of the tensors of ``owner`` waits for no device, and no program is being recorded."""
    if only_shapes(owner) or hasattr(owner, "refuse_control_flow") or recording.get() is not None:
        return False
    own = getattr(owner, "control_flow", None)
    return (own is None or not own.values_are_unknown()) and owner.current_device() == "cpu"
