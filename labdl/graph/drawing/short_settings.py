"""Settings of a layer in the few words that its box has room for: ``64 · 3×3 · /2``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labdl.graph.drawing.text_metrics import clean, setting
from labdl.nn.schema import LAYERS, fields

SEPARATOR = " · "
# a field whose value says enough by itself, or with a mark, everywhere; others have their name before the value
FORMS = {
    "out_features": "→ {}",
    "out_channels": "{}",
    "features": "{}",
    "hidden_size": "{}",
    "output_size": "→ {}",
    "shape": "{}",
    "size": "{}",
    "kernel_size": "{}",
    "stride": "/{}",
    "padding": "pad {}",
    "rate": "{}",
    "p": "{}",
    "heads": "{} heads",
    "layers": "{} layers",
    "groups": "{} groups",
    "dtype": "{}",
    "data_format": "{}",
    "reduction": "{}",
    "mode": "{}",
    "activation": "{}",
}
SPATIAL = (
    "kernel_size"  # one number of it stands for all axes, which the name of the layer counts; shown also as the default
)
_AXES = re.compile(r"([123])d$")
_MOST = 20


def short_settings(kind: str, params: Mapping[str, Any]) -> str:
    """The kernel and the settings that are not the layer's defaults, in the order in which the layer declares them."""
    declarations = fields(LAYERS[kind]) if kind in LAYERS else {}
    declared = list(declarations)
    settings = dict(params)
    if SPATIAL in declarations and isinstance(declarations[SPATIAL].default, int | tuple):
        settings.setdefault(SPATIAL, declarations[SPATIAL].default)
    names = sorted(settings, key=lambda name: declared.index(name) if name in declared else len(declared))
    return SEPARATOR.join(short_setting(kind, name, settings[name]) for name in names[:_MOST])


def short_setting(kind: str, name: str, value: Any) -> str:
    """One setting, such as ``3×3``, ``/2``, ``no bias`` or ``epsilon 0.001``."""
    word = clean(name.replace("_", " "))
    if isinstance(value, bool):
        word = word.removeprefix("use ")
        return word if value else f"no {word}"
    if name == SPATIAL and isinstance(value, int) and (axes := _AXES.search(kind)):
        value = (value,) * int(axes[1])
    text = _text(name, value)
    form = FORMS.get(name)
    if form is None or value is None:
        return f"{word} {text}"
    return text if form.startswith("pad") and isinstance(value, str) else form.replace("{}", text)


def _text(name: str, value: Any) -> str:
    if value is None:
        return "auto"
    if isinstance(value, list | tuple) and value and all(item is None or isinstance(item, int) for item in value):
        unknown = ["N" if name == "shape" and at == 0 else "?" for at in range(len(value))]
        sizes = [mark if item is None else str(item) for item, mark in zip(value, unknown, strict=True)]
        return "×".join([*sizes[:6], "…"] if len(sizes) > 6 else sizes)
    return setting(value)
