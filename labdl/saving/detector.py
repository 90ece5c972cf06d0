"""The form of a saved detector as plain values."""

from __future__ import annotations

import warnings
from typing import Any

from labdl.errors import LabDLError
from labdl.nn.module import Module


def detector_dict(model: Module) -> dict[str, Any] | None:
    """Plain values of the form of a detector; None for other models."""
    from labdl.models.vision.detector_form import DetectorForm  # imported lazily: other models need no detectors

    form = getattr(model, "detector_form", None)
    return form.to_dict() if isinstance(form, DetectorForm) else None


def read_detector(values: Any, name: str) -> Any:
    """The form of `detector_dict`; None with a warning if it cannot be used here, which is no reason to refuse the weights."""
    from labdl.models.vision.detector_form import DetectorForm

    try:
        return DetectorForm.from_dict(values)
    except LabDLError as error:
        warnings.warn(
            f"{name} has a form of a detector that cannot be used, and is read without: {error}", stacklevel=3
        )
        return None
