"""Rotary positions in a config.json: the keys of version 5 of the public library, and those before it."""

from __future__ import annotations

from typing import Any

from labdl.errors import ConfigError
from labdl.models.pretrained.family import Config

KEYS = ("rope_parameters", "rope_theta", "rope_scaling", "rotary_emb_base", "rotary_pct", "partial_rotary_factor")
_LLAMA_3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def rotary_settings(config: Config) -> dict[str, Any]:
    """``base``, ``part`` of the features that is rotated, and ``scaling``, the four numbers of "llama3" or None."""
    inside: dict[str, Any] = {}
    for key in ("rope_parameters", "rope_scaling"):
        value = config.get(key)
        if value is None:
            continue
        if not isinstance(value, dict):
            raise ConfigError(f"config.json: {key} wants a table, received {value!r:.80}")
        inside |= value
    kind = inside.get("rope_type", inside.get("type", "default"))
    if kind not in ("default", "llama3"):
        raise ConfigError(f"config.json: rope_type wants default or llama3, received {kind!r:.80}")
    base = inside.get("rope_theta", config.get("rope_theta", config.get("rotary_emb_base", 10000.0)))
    part = inside.get("partial_rotary_factor", config.get("partial_rotary_factor", config.get("rotary_pct", 1.0)))
    scaling: tuple[Any, ...] | None = None
    if kind == "llama3":
        scaling = tuple(inside.get(name) for name in _LLAMA_3)
    for name, value in (
        ("rope_theta", base),
        ("partial_rotary_factor", part),
        *zip(_LLAMA_3, scaling or (), strict=False),
    ):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
            raise ConfigError(f"config.json: {name} wants a number above 0, received {value!r:.80}")
    return {"base": float(base), "part": float(part), "scaling": scaling and tuple(map(float, scaling))}
