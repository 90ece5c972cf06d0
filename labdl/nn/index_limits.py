"""Indices that go from an input of a model straight into a table, such as that of an Embedding, and their check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labdl.errors import ConfigError
from labdl.nn.parameter import Parameter
from labdl.nn.signature import given_inputs

if TYPE_CHECKING:
    from labdl.nn.module import Module


class IndexLimit(NamedTuple):
    """A layer that takes indices below ``size``, the value of its setting ``setting``."""

    layer: str
    setting: str
    size: int


def index_limits(model: Module) -> dict[int, IndexLimit]:
    """The limits of the inputs of a built model, by their places; those that pass through other layers first have none.

    Layers declare them by ``index_limit``, the name of the setting with the number of rows of their table.
    """
    changes, limits = model.__dict__.get("_index_limits", (None, {}))
    if changes != Parameter.changes:
        limits = _find_limits(model)
        model.__dict__["_index_limits"] = Parameter.changes, limits
    return limits


def _find_limits(model: Module) -> dict[int, IndexLimit]:
    from labdl.graph import as_graph  # it imports modules

    tables = {name: m for name, m in model.named_modules() if hasattr(m, "index_limit")}
    if not tables or not any("int" in spec.dtype for _, spec in given_inputs(model)):
        return {}
    try:
        graph = as_graph(model)
    except Exception:  # a forward of the user may raise anything when traced: its indices are not checked
        return {}
    places = {node: place for place, node in enumerate(graph.inputs())}
    limits: dict[int, IndexLimit] = {}
    for edge in graph.edges.values():
        layer = tables.get(graph.nodes[edge.target].name)
        if edge.source in places and layer is not None and edge.target_port == "x":
            kind: Any = type(layer)
            place, setting = f"{graph.nodes[edge.target].name} ({kind.__name__})", kind.index_limit
            limit = IndexLimit(place, setting, getattr(layer, setting))
            before = limits.get(places[edge.source])
            limits[places[edge.source]] = limit if before is None or limit.size < before.size else before
    return limits


def check_indices(inputs: Any, limits: dict[int, IndexLimit]) -> None:
    """Raise ConfigError for an index that the table of a layer does not have."""
    arrays = inputs if type(inputs) is tuple else (inputs,)
    for place, limit in limits.items():
        array = arrays[place] if place < len(arrays) else None
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or not array.size:
            continue
        lowest, highest = array.min(), array.max()
        if lowest < 0 or highest >= limit.size:
            advice = f"give it {limit.setting}={highest + 1}" if lowest >= 0 else "number the tokens from 0"
            raise ConfigError(
                f"the inputs are indices from {lowest} to {highest}, the layer {limit.layer} has rows for 0 to "
                f"{limit.size - 1}: {advice}"
            )
