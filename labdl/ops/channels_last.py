"""Channels-last computation of operators on logical (N, C, ...) tensors, for backends with ``layout``.

A backend with kernels for one layout only has a ``layout`` (see `labdl.backends`): its tensors may refer to a channels-last
original from which they were transposed. Whether an operator can compute on the original, and how its arguments change,
follows from its shape rule and the parameters ``axis``, ``keepdims`` and ``data_format``. Sequences of such operators
transpose at their ends only; every other operator uses the logical tensor, which always exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from labdl import dispatch
from labdl.spec import Spec, normal_axes

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator

Change = tuple[dict[str, Any], bool]  # changed arguments, and whether the result is channels-last


def follow_layout(entry: Operator, compute: Callable, backend) -> Callable:
    """Wrap ``compute``, the implementation of an operator, to use the layout of its tensors."""
    change_of = strategy(entry, hasattr(backend.operators, entry.name))
    if change_of is None:
        return compute
    parameters, side = entry.signature.parameters, backend.layout

    def run(*args, **kwargs):
        given = dict(zip(parameters, args, strict=False)) | kwargs
        change = None
        if len(args) <= len(parameters) and (change_of is _permute or [v for v in _leaves(given) if side.lies_last(v)]):
            for name, parameter in parameters.items():
                if name in ("axis", "keepdims", "data_format"):
                    given.setdefault(name, parameter.default)
            change = None if entry.random and dispatch.portable() else change_of(given, side)
        if change is None:
            return compute(*args, **kwargs)
        changed, last = change
        args = [changed.pop(name, v) for name, v in zip(parameters, args, strict=False)]
        result = compute(*args, **{**kwargs, **changed})
        if not last:
            return result
        return tuple(map(side.channels_first, result)) if isinstance(result, tuple) else side.channels_first(result)

    return run


def strategy(entry: Operator, own: bool) -> Callable[[dict, Any], Change | None] | None:
    """The change of arguments for the layout, None if the operator does not support it; composites rely on their parts."""
    names, layout = entry.signature.parameters, getattr(entry.rule, "layout", None)
    if "data_format" in names:
        return _set_data_format
    if layout == "axis":
        return _move_axis
    if entry.composite and not own:
        return None
    if "keepdims" in names:
        return _index_reduce if layout == "index_reduction" else _reduce
    if layout == "elementwise" or (entry.rule is None and _is_elementwise(entry)):
        return _elementwise
    return _BY_RULE.get(layout or "")


def _leaves(given: dict) -> Iterator:
    for value in given.values():
        yield from value if isinstance(value, list | tuple) else (value,)


def _moved_axis(axis: int, rank: int) -> int:
    """The position of an axis of (N, C, ...) in (N, ..., C)."""
    return axis if axis == 0 else rank - 1 if axis == 1 else axis - 1


def _reorder(per_axis, rank: int) -> tuple:
    """Reorder values per axis to (N, ..., C)."""
    first, second, *rest = per_axis
    return (first, *rest, second)


def _set_data_format(given, side) -> Change | None:
    x = next(iter(given))
    if given["data_format"] != "channels_first":
        return None
    return {x: side.channels_last(given[x]), "data_format": "channels_last"}, True


def _move_axis(given, side) -> Change | None:
    name, value = next(iter(given.items()))
    many = isinstance(value, list | tuple)
    ranks = {len(v.shape) for v in (value if many else [value])}
    if given["axis"] is None or len(ranks) > 1:
        return None
    [rank] = ranks
    axes = [_moved_axis(a, rank) for a in normal_axes(given["axis"], rank)]
    last = [side.channels_last(v) for v in value] if many else side.channels_last(value)
    return {name: last, "axis": axes[0] if isinstance(given["axis"], int) else tuple(axes)}, True


def _index_reduce(given, side) -> Change | None:
    """A position among all elements depends on their order."""
    return None if given["axis"] is None else _reduce(given, side)


def _reduce(given, side) -> Change | None:
    name, x = next(iter(given.items()))
    axis, rank = given["axis"], len(x.shape)
    if not isinstance(given.get("q", 0.0), float | int):  # several quantiles: one more axis
        return None
    if axis is None:
        return {name: side.channels_last(x)}, False
    axes = [_moved_axis(a, rank) for a in normal_axes(axis, rank)]
    kept = [place for a in range(rank) if (place := _moved_axis(a, rank)) not in axes]
    if not given["keepdims"] and kept != sorted(kept):
        return None
    return {name: side.channels_last(x), "axis": axes[0] if isinstance(axis, int) else tuple(axes)}, given["keepdims"]


def _elementwise(given, side) -> Change | None:
    ranks = {name: len(v.shape) for name, v in given.items() if hasattr(v, "shape")}
    rank = max(ranks.values())
    if [v for v in given.values() if isinstance(v, list)] or not [
        name for name, r in ranks.items() if r == rank and side.lies_last(given[name])
    ]:
        return None
    return {name: side.channels_last(given[name], rank) for name, r in ranks.items() if r}, True


def _pad(given, side) -> Change | None:
    rank = len(given["x"].shape)
    return {"x": side.channels_last(given["x"]), "padding": _reorder(given["padding"], rank)}, True


def _slice(given, side) -> Change | None:
    """Slices alone keep the number and the order of the axes."""
    x, index = given["x"], given["index"]
    rank, parts = len(x.shape), index if isinstance(index, tuple) else (index,)
    if [p for p in parts if not isinstance(p, slice) and p is not Ellipsis] or parts.count(Ellipsis) > 1:
        return None
    at = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
    before, after = parts[:at], parts[at + 1 :]
    missing = rank - len(before) - len(after)
    if missing < 0:
        return None
    return {"x": side.channels_last(x), "index": _reorder((*before, *(slice(None),) * missing, *after), rank)}, True


def _take(given, side) -> Change | None:
    x, rank = given["x"], len(given["x"].shape)
    if len(getattr(given["indices"], "shape", ())) != 1:
        return None
    return {"x": side.channels_last(x), "axis": _moved_axis(normal_axes(given["axis"], rank)[0], rank)}, True


def _permute(given, side) -> Change | None:
    """A permutation between the two layouts: to channels-first the tensor stays channels-last, back it already is."""
    x, rank = given["x"], len(given["axes"])
    axes = normal_axes(given["axes"], rank)
    if rank < 3 or len(x.shape) != rank:
        return None
    if axes == (0, rank - 1, *range(1, rank - 1)):
        return {"x": x, "axes": tuple(range(rank))}, True
    if axes == (0, *range(2, rank), 1) and side.lies_last(x):
        return {"x": side.channels_last(x), "axes": tuple(range(rank))}, False
    return None


_BY_RULE = {"pad": _pad, "getitem": _slice, "take": _take, "permute_dims": _permute}


class _Probe(Spec):
    """A tensor that only elementwise operators accept."""


class _NotElementwiseError(Exception):
    """An operator that is not elementwise."""


class _Prober:
    name = "probe"
    precedence = 5
    only_shapes = True

    def implementation(self, entry: Operator) -> Callable:
        def probe(*args, **kwargs):
            if entry.composite and entry.rule is None:
                return entry.body(*args, **kwargs)
            if getattr(entry.rule, "layout", None) != "elementwise":
                raise _NotElementwiseError
            found = entry.infer(args, kwargs)
            return _Probe(found.shape, found.dtype)

        return probe

    def spec_of(self, value: _Probe) -> Spec:
        return value


dispatch.claim(_Probe, _Prober())


def _is_elementwise(entry: Operator) -> bool:
    """True when a composite without a rule consists of elementwise operators only."""
    args, kwargs = entry.samples[0]
    try:
        entry.body(*(_Probe(a.shape, a.dtype) if hasattr(a, "draw") else a for a in args), **kwargs)
    except _NotElementwiseError:
        return False
    return True
