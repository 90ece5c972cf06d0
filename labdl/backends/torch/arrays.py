"""PyTorch implementations of operators that arrange, read and write elements."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from labdl.backends.torch.arithmetic import promote_operands
from labdl.backends.torch.tensors import checking_values
from labdl.backends.torch.tensors import dtype as native_dtype
from labdl.spec import refuse_beyond_memory

_Tensor = torch.Tensor


def _positions(indices, like):
    """Positions as a tensor of int64."""
    return torch.as_tensor(indices, device=like.device).long()


def _counted_from_start(indices, size):
    return torch.where(indices < 0, indices + size, indices)


def reshape(x, shape):
    return x.reshape((shape,) if isinstance(shape, int) else [-1 if n is None else n for n in shape])


def permute_dims(x, axes):
    return x.permute(axes)


def expand_dims(x, axis=0):
    return x.unsqueeze(axis)


def squeeze(x, axis):
    """torch leaves an axis of another size than 1 as it is."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze wants a size of 1 on axis {a}, received {tuple(x.shape)}")
    return x.squeeze(axes)


def concat(xs, axis=0):
    xs = promote_operands(*xs)
    return torch.cat([x.reshape(-1) for x in xs], 0) if axis is None else torch.cat(xs, axis)


def stack(xs, axis=0):
    return torch.stack(promote_operands(*xs), axis)


def split(x, sections, axis=0):
    if isinstance(sections, int):
        size = x.shape[axis]
        if size % sections:
            raise ValueError(f"axis {axis} of size {size} cannot be split into {sections} equal parts")
        sections = [size // sections] * sections
    return torch.split(x, list(sections), axis)


def tile(x, repetitions):
    return torch.tile(x, (repetitions,) if isinstance(repetitions, int) else tuple(repetitions))


def repeat(x, repeats, *, axis=None):
    if not isinstance(repeats, int):
        repeats = _positions(repeats, x)
        if not torch.compiler.is_compiling():
            with checking_values():
                _check_counts(x, repeats, axis)
    return torch.repeat_interleave(x.reshape(-1) if axis is None else x, repeats, 0 if axis is None else axis)


def _check_counts(x, repeats, axis):
    """torch would fill memory that the machine does not have, and the process would be killed."""
    size = x.numel() if axis is None else x.shape[axis]
    total = float(repeats.double().sum()) * (size if repeats.numel() == 1 else 1)
    width = 8 + x.numel() // (size or 1) * x.element_size()  # a position and a slice
    refuse_beyond_memory(f"repeat would give {total:.1e} slices", total * width)


def broadcast_arrays(*arrays):
    return torch.broadcast_tensors(*arrays)


def flip(x, axis=None):
    return torch.flip(x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis))


def roll(x, shift, axis: Any = None):
    if isinstance(axis, list | tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return torch.roll(x, shift, axis)


_EXACT = 2**53  # torch's pad takes a float


def pad(x, padding, mode="constant", value=0.0):
    """Axis by axis: torch's other modes need leading axes that are not padded."""
    if mode == "constant":
        if value.__class__ is int and abs(value) > _EXACT:
            inside = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, padding, strict=True))
            result = x.new_full(
                [n + before + after for n, (before, after) in zip(x.shape, padding, strict=True)], value
            )
            result[inside] = x
            return result
        return F.pad(x, [n for pair in reversed(padding) for n in pair], value=value)
    for axis, (before, after) in enumerate(padding):
        if before or after:
            x = torch.index_select(x, axis, _border(x.shape[axis], before, after, mode, x.device))
    return x


def _border(size, before, after, mode, device):
    """Positions of a padded axis in the axis itself."""
    at = torch.arange(-before, size + after, device=device)
    if mode == "replicate":
        return at.clamp(0, size - 1)
    if mode == "circular":
        return at % size
    period = max(2 * size - 2, 1)
    at = at % period
    return torch.where(at < size, at, period - at)


def tril(x, *, k=0):
    return torch.tril(x, k)


def triu(x, *, k=0):
    return torch.triu(x, k)


def diagonal(x, *, offset=0, axes=(-2, -1)):
    return torch.diagonal(x, offset, *axes)


def diag(x, *, offset=0):
    return torch.diag_embed(x, offset)


def astype(x, dtype):
    """torch drops imaginary parts with only a warning."""
    if x.is_complex() and not dtype.startswith("complex"):
        if dtype != "bool":
            raise TypeError(f"complex numbers cannot be converted to {dtype}")
        return x != 0
    return x.to(native_dtype(dtype))


def _kind(x, dtype):
    return x.dtype if dtype is None else native_dtype(dtype)


def zeros_like(x, *, dtype=None):
    return torch.zeros_like(x, dtype=_kind(x, dtype))


def ones_like(x, *, dtype=None):
    return torch.ones_like(x, dtype=_kind(x, dtype))


def full_like(x, value, *, dtype=None):
    return torch.full_like(x, value, dtype=_kind(x, dtype))


def take(x, indices, axis=0):
    axis = axis % x.ndim
    indices = _positions(indices, x)
    flat = _counted_from_start(indices.reshape(-1), x.shape[axis])
    flat = torch.index_select(x, axis, flat)
    return flat.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _along(x, indices, axis):
    """Positions along an axis, broadcast over the others."""
    indices = _counted_from_start(_positions(indices, x), x.shape[axis])
    shape = list(x.shape)
    shape[axis] = indices.shape[axis]
    return indices.expand(shape)


def take_along_axis(x, indices, axis=-1):
    return torch.gather(x, axis, _along(x, indices, axis))


_REDUCTIONS = {"add": "sum", "multiply": "prod", "max": "amax", "min": "amin"}


def scatter(x, indices, updates, axis=-1, *, reduce=None):
    """torch.scatter neither broadcasts nor supports negative positions."""
    indices = _along(x, indices, axis)
    updates = torch.as_tensor(updates, dtype=x.dtype, device=x.device).expand(indices.shape)
    if reduce is None:
        return torch.scatter(x, axis, indices, updates)
    if reduce == "add" and x.is_complex():  # scatter_reduce has no complex gradient
        return torch.scatter_add(x, axis, indices, updates)
    if (
        reduce == "multiply"
        and x.is_complex()
        and torch.is_grad_enabled()
        and (x.requires_grad or updates.requires_grad)
    ):
        return _multiply_in_turn(x, axis, indices, updates)
    return torch.scatter_reduce(x, axis, indices, updates, _REDUCTIONS[reduce])


def _multiply_in_turn(x, axis, indices, updates):
    """torch has no gradient of complex products: one position after the other, slow."""
    for at, factor in zip(indices.split(1, axis), updates.split(1, axis), strict=True):
        x = x.scatter(axis, at, x.gather(axis, at) * factor)
    return x


def gather_nd(x, indices):
    return x[tuple(_positions(indices, x).movedim(-1, 0))]


def scatter_nd(indices, updates, shape):
    at = tuple(_positions(indices, updates).movedim(-1, 0))
    return updates.new_zeros(tuple(shape)).index_put(at, updates, accumulate=True)


def _index(index, x) -> tuple:
    """Convert an index for torch; reversed slices are handled by `getitem`."""
    items = index if isinstance(index, tuple) else (index,)
    found = []
    for item in items:
        if isinstance(item, bool | list):
            raise TypeError("an index has no lists and no single bools")  # torch interprets them in ways of its own
        if isinstance(item, np.ndarray):
            item = torch.as_tensor(item, device=x.device)
        if isinstance(item, _Tensor) and (item.is_floating_point() or item.is_complex()):
            raise TypeError("an index has integers and masks")
        if isinstance(item, _Tensor) and item.dtype not in (torch.bool, torch.uint8):
            item = item.long()
        elif isinstance(item, _Tensor) and item.dtype is torch.uint8:
            item = item.long()  # torch interprets uint8 as a mask
        found.append(item)
    _check_adjacent(found)
    return tuple(found)


def _check_adjacent(items) -> None:
    """Raise for tensors apart, where torch and NumPy order the axes differently, and for a mask beside a tensor."""
    chosen = [i for i in items if isinstance(i, _Tensor)]
    if not chosen:
        return
    places = [a for a, i in enumerate(items) if isinstance(i, int | _Tensor)]
    if places[-1] - places[0] >= len(places) or (len(chosen) > 1 and any(i.dtype is torch.bool for i in chosen)):
        raise ValueError("tensors of an index must be adjacent, and have one mask at most")


def _is_empty_mask(item, shape) -> bool:
    """A mask whose axes have no element, or the size of the tensor's: torch accepts only the latter."""
    mask = isinstance(item, _Tensor) and item.dtype is torch.bool and 0 in item.shape and item.ndim <= len(shape)
    return mask and all(m in (0, n) for m, n in zip(item.shape, shape, strict=False))


_PLAIN = (int, slice, type(None))


def getitem(x, index):
    """torch supports neither negative steps nor each mask without elements."""
    if index.__class__ in _PLAIN and getattr(index, "step", None) is None:
        return x[index]
    items = _index(index, x)
    if not any(isinstance(i, slice) and i.step is not None and i.step < 0 for i in items):
        try:
            return x[items]
        except IndexError:
            if len(items) == 1 and _is_empty_mask(items[0], x.shape):
                return x.new_empty((0, *x.shape[items[0].ndim :]))
            raise
    forward, flips, axis = [], [], 0
    whole = x.ndim - sum(i is not None and i is not Ellipsis for i in items)
    at = 0
    for item in items:
        if item is Ellipsis:
            at += whole
            axis += whole
        elif isinstance(item, slice) and item.step is not None and item.step < 0:
            places = range(*item.indices(x.shape[at]))
            item = slice(places[-1], places[0] + 1, -item.step) if len(places) else slice(0, 0)
            flips.append(axis)
        forward.append(item)
        if item is not Ellipsis:
            at += item is not None
            axis += not isinstance(item, int)
    return torch.flip(x[tuple(forward)], flips)


def setitem(x, index, value):
    result = x.clone()
    value = torch.as_tensor(value, device=x.device).to(x.dtype)
    items = _index(index, x)
    if any(isinstance(i, slice) and i.step is not None and i.step < 0 for i in items):
        places = torch.arange(x.numel(), device=x.device).reshape(x.shape)
        at = getitem(places, index)
        return result.reshape(-1).index_put((at.reshape(-1),), value.expand(at.shape).reshape(-1)).reshape(x.shape)
    try:
        result[items] = value
    except IndexError:
        if len(items) != 1 or not _is_empty_mask(items[0], x.shape):
            raise
    return result


def stop_gradient(x):
    return x.detach()
