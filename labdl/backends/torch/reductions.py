"""PyTorch implementations of reductions, running totals, sorting and sets."""

import builtins
import math

import torch

from labdl.backends.torch.arithmetic import promote_operands
from labdl.backends.torch.tensors import checking_values
from labdl.backends.torch.tensors import dtype as native_dtype
from labdl.spec import refuse_beyond_memory


def _all_axes(x, axis):
    return tuple(range(x.ndim)) if axis is None else axis


def _kind(name):
    return None if name is None else native_dtype(name)


def sum(x, axis=None, keepdims=False, *, dtype=None):
    """To torch no axes mean all."""
    if axis == ():
        return x.to(_kind(dtype) or (x.dtype if x.is_floating_point() or x.is_complex() else torch.int64))
    return torch.sum(x, dim=_all_axes(x, axis), keepdim=keepdims, dtype=_kind(dtype))


def _float(x):
    return x if x.is_floating_point() or x.is_complex() else x.float()


def mean(x, axis=None, keepdims=False):
    return _float(x).clone() if axis == () else torch.mean(_float(x), dim=_all_axes(x, axis), keepdim=keepdims)


def _extreme(function):
    def call(x, axis=None, keepdims=False):
        axis = _all_axes(x, axis)
        return x.clone() if axis == () else function(x, dim=axis, keepdim=keepdims)

    return call


max, min = _extreme(torch.amax), _extreme(torch.amin)


def logsumexp(x, axis=None, keepdims=False):
    axis = _all_axes(x, axis)
    return x.clone() if axis == () else torch.logsumexp(x, dim=axis, keepdim=keepdims)


def _axis_by_axis(function):
    """For functions that reduce one axis at a time."""

    def call(x, axis=None, keepdims=False, **options):
        axes = (axis,) if isinstance(axis, int) else _all_axes(x, axis)
        for a in sorted((a % x.ndim for a in axes), reverse=True):
            x = function(x, dim=a, keepdim=keepdims, **options)
        return x

    return call


_any, _all, _prod = map(_axis_by_axis, (torch.any, torch.all, torch.prod))


def any(x, axis=None, keepdims=False):
    return _any(x.bool(), axis, keepdims)  # of uint8 torch gives uint8


def all(x, axis=None, keepdims=False):
    return _all(x.bool(), axis, keepdims)


def prod(x, axis=None, keepdims=False, *, dtype=None):
    kind = _kind(dtype) or (x.dtype if x.is_floating_point() or x.is_complex() else torch.int64)
    return _prod(x.to(kind), axis, keepdims, dtype=kind)


def _position(function):
    def call(x, axis=None, keepdims=False):
        x = x.to(torch.uint8) if x.dtype is torch.bool else x
        if axis is not None:
            return function(x, dim=axis, keepdim=keepdims)
        result = function(x.reshape(-1), dim=0)
        return result.reshape((1,) * x.ndim) if keepdims else result

    return call


argmax, argmin = _position(torch.argmax), _position(torch.argmin)


def _spread(function):
    def call(x, axis=None, keepdims=False, correction=0):
        """To torch no axes mean all."""
        if axis == ():
            x = _float(x)
            return function(x.unsqueeze(-1), dim=-1, correction=correction)
        return function(_float(x), dim=_all_axes(x, axis), keepdim=keepdims, correction=correction)

    return call


var, std = _spread(torch.var), _spread(torch.std)


def quantile(x, q, axis=None, keepdims=False, *, method="linear"):
    """torch's own takes neither half precision, nor empty tensors, nor more than 16 million elements."""
    flat = _float(x).reshape(-1) if axis is None else _float(x).movedim(axis, -1)
    ordered = torch.sort(flat, dim=-1).values  # NaN comes last
    last = ordered[..., -1]
    results = []
    for share in q if isinstance(q, list | tuple) else [q]:
        place = share * (ordered.shape[-1] - 1)
        low, high = math.floor(place), math.ceil(place)
        weight = {
            "linear": place - low,
            "lower": 0,
            "higher": high - low,
            "midpoint": (high - low) / 2,
            "nearest": builtins.round(place) - low,
        }[method]
        mixed = ordered[..., high if weight == 1 else low]
        if 0 < weight < 1:
            mixed = (1 - weight) * mixed + weight * ordered[..., high]
        result = torch.where(torch.isnan(last), last, mixed)
        if keepdims:
            result = result.reshape((1,) * x.ndim) if axis is None else result.unsqueeze(axis)
        results.append(result)
    return torch.stack(results) if isinstance(q, list | tuple) else results[0]


def _running(function, start):
    def call(x, axis=None, *, dtype=None, include_initial=False):
        axis = 0 if axis is None else axis
        result = function(x, axis, dtype=_kind(dtype))
        if include_initial:
            first = torch.full_like(result.narrow(axis, 0, 1) if result.shape[axis] else _one(result, axis), start)
            result = torch.cat((first, result), axis)
        return result

    return call


def _one(x, axis):
    shape = list(x.shape)
    shape[axis] = 1
    return x.new_empty(shape)


cumulative_sum, cumulative_prod = _running(torch.cumsum, 0), _running(torch.cumprod, 1)


def cumulative_max(x, axis=None):
    return torch.cummax(x, 0 if axis is None else axis).values


def cumulative_min(x, axis=None):
    return torch.cummin(x, 0 if axis is None else axis).values


def logcumsumexp(x, axis=None):
    return torch.logcumsumexp(x, 0 if axis is None else axis)


def sort(x, axis=-1, *, descending=False, stable=True):
    return x[argsort(x, axis)] if x.ndim == 0 else _order(x, axis, descending).values


def argsort(x, axis=-1, *, descending=False, stable=True):
    return _order(x, axis, descending).indices


def _order(x, axis, descending):
    """torch puts NaN first in descending order."""
    if not descending:
        return torch.sort(x, dim=axis, stable=True)
    if not x.is_floating_point():
        return torch.sort(x, dim=axis, descending=True, stable=True)
    order = torch.sort(torch.where(torch.isnan(x), -torch.inf, x), dim=axis, descending=True, stable=True).indices
    # -inf and NaN are equal so far: a stable sort by being NaN takes them apart
    late = torch.sort(torch.isnan(torch.gather(x, axis, order)).to(torch.uint8), dim=axis, stable=True).indices
    order = torch.gather(order, axis, late)
    return torch.return_types.sort((torch.gather(x, axis, order), order))


def topk(x, k, axis=-1, *, largest=True):
    """torch counts NaN as the largest."""
    if not x.is_floating_point():
        return tuple(torch.topk(x, k, dim=axis, largest=largest))
    order = _order(x, axis, largest).indices.narrow(axis, 0, k)
    return torch.gather(x, axis, order), order


def unique_values(x):
    return NotImplemented if x.is_complex() else torch.unique(x)


def unique_all(x):
    """torch gives no first positions."""
    if x.is_complex():
        return NotImplemented
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    flat = inverse.reshape(-1)
    places = torch.arange(flat.numel(), device=x.device)
    first = places.new_full(values.shape, flat.numel()).scatter_reduce(0, flat, places, "amin")
    return values, first, inverse, counts


def searchsorted(x1, x2, *, side="left", sorter=None):
    """torch lets values pass NaN, which stands at the end."""
    x1, x2 = promote_operands(x1, x2)
    sorter = None if sorter is None else sorter.long()
    if not x1.is_floating_point():
        return torch.searchsorted(x1, x2, side=side, sorter=sorter)
    numbers = x1.numel() - torch.isnan(x1).sum()
    x1 = torch.nan_to_num(x1, torch.inf, torch.inf, -torch.inf)
    found = torch.searchsorted(x1, x2, side=side, sorter=sorter).clamp(max=numbers)
    return torch.where(torch.isnan(x2), x1.numel() if side == "right" else numbers, found)


def nonzero(x):
    """torch gives a tuple of nothing for a tensor without axes."""
    if not x.ndim:
        raise ValueError("nonzero wants a tensor with at least one axis")
    return torch.nonzero(x, as_tuple=True)


def isin(x1, x2, *, invert=False):
    x1, x2 = (v.to(torch.uint8) if v.dtype is torch.bool else v for v in promote_operands(x1, x2))
    return torch.isin(x1, x2, invert=invert)


def bincount(x, weights=None, *, minlength=0):
    x = x.long()
    if x.numel() and not torch.compiler.is_compiling():
        with checking_values():
            count = builtins.max(minlength, int(x.max()) + 1)
        refuse_beyond_memory(f"bincount would give {count} counts", 8 * count)
    counts = torch.bincount(x, weights, minlength)
    return counts if weights is None else counts.to(weights.dtype)  # of nothing torch gives int64


def histogram(x, bins=10, *, range=None, density=False):
    """torch.histogram does not support integers and counts nothing in some compiled forms: places by the edges, then counts."""
    x = x.reshape(-1)
    wide = x.double()  # the edges are exact before they are rounded
    low, high = range if range is not None else (wide.min(), wide.max())
    low, high = (torch.as_tensor(v, dtype=wide.dtype, device=x.device) for v in (low, high))
    same = low == high
    low, high = torch.where(same, low - 0.5, low), torch.where(same, high + 0.5, high)
    edges = low + (high - low) * torch.arange(bins + 1, dtype=wide.dtype, device=x.device) / bins
    place = torch.searchsorted(edges, wide, side="right") - 1
    place = torch.where(wide == edges[-1], bins - 1, place)
    inside = (place >= 0) & (place < bins)
    counts = torch.zeros(bins, dtype=torch.int64, device=x.device).scatter_add(
        0, place.clamp(0, bins - 1), inside.long()
    )
    if density:
        counts = counts / counts.sum() / torch.diff(edges)
    kind = _float(x).dtype
    return counts.to(kind) if density else counts, edges.to(kind)
