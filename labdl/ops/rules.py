"""The shape rules that operators name: each takes the operator's arguments, tensors as Specs, and gives the result's Spec."""

from __future__ import annotations

import math

from labdl.spec import (
    Spec,
    as_spec,
    broadcast,
    normal_axes,
    pad_pairs,
    per_axis,
    promote,
    show,
    window_sizes,
)  # fmt: skip


def _operand(value, other: Spec | None = None) -> Spec:
    if isinstance(value, Spec):
        return value
    if isinstance(value, bool):
        return Spec((), "bool")
    if isinstance(value, int):
        return Spec((), other.dtype if other is not None else "int64")
    if isinstance(value, float):
        return Spec((), other.dtype if other is not None and "float" in other.dtype else "float32")
    return as_spec(value)


def _pair(x, y) -> tuple[Spec, Spec]:
    first = _operand(x, y if isinstance(y, Spec) else None)
    return first, _operand(y, first)


def elementwise(x, *args, **kwargs) -> Spec:
    """Same shape, same dtype."""
    return x


def floating(x, *args, **kwargs) -> Spec:
    """Same shape, a floating-point result."""
    return Spec(x.shape, x.dtype if "float" in x.dtype or "complex" in x.dtype else "float32")


def boolean(x, *args, **kwargs) -> Spec:
    return Spec(x.shape, "bool")


def binary(x, y) -> Spec:
    a, b = _pair(x, y)
    return Spec(broadcast(a.shape, b.shape), promote(a.dtype, b.dtype))


def division(x, y) -> Spec:
    return floating(binary(x, y))


def comparison(x, y) -> Spec:
    a, b = _pair(x, y)
    return Spec(broadcast(a.shape, b.shape), "bool")


def selection(condition, x, y) -> Spec:
    a, b = _pair(x, y)
    return Spec(broadcast(condition.shape, a.shape, b.shape), promote(a.dtype, b.dtype))


def reduction(x, axis=None, keepdims=False, **options) -> Spec:
    axes = normal_axes(axis, x.ndim)
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes]
    return Spec(tuple(shape), x.dtype)


def index_reduction(x, axis=None, keepdims=False) -> Spec:
    return Spec(reduction(x, axis, keepdims).shape, "int64")


def boolean_reduction(x, axis=None, keepdims=False) -> Spec:
    return Spec(reduction(x, axis, keepdims).shape, "bool")


def reshape(x, shape) -> Spec:
    return Spec(reshaped(x.shape, shape), x.dtype)


def reshaped(old, shape) -> tuple:
    """The shape after a reshape: ``-1`` is found from the rest, ``0`` is not special."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if shape.count(-1) + shape.count(None) > 1:
        raise ValueError(f"a new shape may leave one size open, received {shape}")
    known_old = math.prod(n for n in old if n is not None)
    known_new = math.prod(n for n in shape if n not in (-1, None))
    unknown = sum(n is None for n in old)
    if -1 in shape or None in shape:
        if unknown == 0:
            if known_new == 0 or known_old % known_new:
                raise ValueError(f"{show(old)} with {known_old} elements cannot be reshaped to {show(shape)}")
            size = known_old // known_new
        else:
            # one unknown size on both sides: it stays unknown
            size = None
        return tuple(size if n in (-1, None) else n for n in shape)
    if unknown == 0 and known_old != known_new:
        raise ValueError(f"{show(old)} with {known_old} elements cannot be reshaped to {show(shape)} with {known_new}")
    return shape


def permute(x, axes) -> Spec:
    order = normal_axes(axes, x.ndim)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes must name each of the {x.ndim} axes once, received {axes}")
    return x.with_shape([x.shape[a] for a in order])


def expand(x, axis=0) -> Spec:
    at = normal_axes(axis, x.ndim + 1)[0]
    return x.with_shape([*x.shape[:at], 1, *x.shape[at:]])


def squeeze(x, axis) -> Spec:
    axes = normal_axes(axis, x.ndim)
    for a in axes:
        if x.shape[a] not in (1, None):
            raise ValueError(f"squeeze wants a size of 1 on axis {a}, received {show(x.shape)}")
    return x.with_shape([n for a, n in enumerate(x.shape) if a not in axes])


def concat(xs, axis=0) -> Spec:
    if not xs:
        raise ValueError("concat wants at least one tensor")
    specs = [_operand(x) for x in xs]
    first = specs[0]
    at = normal_axes(axis, first.ndim)[0]
    total: int | None = 0
    for s in specs:
        size = s.shape[at]
        if s.ndim != first.ndim:
            raise ValueError(f"concat wants tensors of equal rank, received {show(first.shape)} and {show(s.shape)}")
        for a, (n, m) in enumerate(zip(first.shape, s.shape, strict=True)):
            if a != at and n is not None and m is not None and n != m:
                raise ValueError(f"concat along axis {at}: {show(first.shape)} and {show(s.shape)} differ on axis {a}")
        total = None if total is None or size is None else total + size
    sizes = [total if a == at else next((s.shape[a] for s in specs if s.shape[a] is not None), None)
             for a in range(first.ndim)]  # fmt: skip
    return Spec(tuple(sizes), promote(*(s.dtype for s in specs)))


def stack(xs, axis=0) -> Spec:
    return concat([expand(_operand(x), axis) for x in xs], axis)


def split(x, sections, axis=0) -> tuple[Spec, ...]:
    at = normal_axes(axis, x.ndim)[0]
    size = x.shape[at]
    if isinstance(sections, int):
        if sections < 1:
            raise ValueError(f"split wants at least one part, received {sections}")
        if size is not None and size % sections:
            raise ValueError(f"axis {at} of size {size} cannot be split into {sections} equal parts")
        sizes = [None if size is None else size // sections] * sections
    else:
        sizes = list(sections)
        if size is not None and sum(sizes) != size:
            raise ValueError(f"sizes {sizes} do not add up to {size} on axis {at}")
    return tuple(x.with_shape([*x.shape[:at], n, *x.shape[at + 1 :]]) for n in sizes)


def tile(x, repeats) -> Spec:
    if len(repeats) != x.ndim:
        raise ValueError(f"tile wants one repeat for each of the {x.ndim} axes, received {repeats}")
    return x.with_shape([None if n is None else n * r for n, r in zip(x.shape, repeats, strict=True)])


def broadcast_to(x, shape) -> Spec:
    broadcast(x.shape, shape)
    return x.with_shape(shape)


def pad(x, padding, value=0.0) -> Spec:
    if len(padding) != x.ndim:
        raise ValueError(f"pad wants a pair (before, after) for each of the {x.ndim} axes, received {padding}")
    return x.with_shape([None if n is None else n + b + a for n, (b, a) in zip(x.shape, padding, strict=True)])


def take(x, indices, axis=0) -> Spec:
    at = normal_axes(axis, x.ndim)[0]
    chosen = _operand(indices).shape
    return x.with_shape([*x.shape[:at], *chosen, *x.shape[at + 1 :]])


def getitem(x, index) -> Spec:
    items = index if isinstance(index, tuple) else (index,)
    if Ellipsis in items:
        at = items.index(Ellipsis)
        whole = x.ndim - sum(i is not None for i in items) + 1
        items = (*items[:at], *(slice(None),) * whole, *items[at + 1 :])
    shape, axis = [], 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        if axis >= x.ndim:
            raise ValueError(f"too many indices for {show(x.shape)}")
        n = x.shape[axis]
        if isinstance(item, slice):
            shape.append(len(range(*item.indices(n))) if n is not None else None if item != slice(None) else n)
        elif isinstance(item, int):
            if n is not None and not -n <= item < n:
                raise ValueError(f"index {item} is out of range for axis {axis} of size {n}")
        else:
            raise TypeError(f"an index is an integer, a slice, None or ..., received {type(item).__name__}")
        axis += 1
    return x.with_shape([*shape, *x.shape[axis:]])


def astype(x, dtype) -> Spec:
    return Spec(x.shape, dtype)


def one_hot(x, classes) -> Spec:
    return Spec((*x.shape, classes), "float32")


def matmul(x, y) -> Spec:
    a, b = _pair(x, y)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul wants tensors of at least one axis")
    left, right = a.shape if a.ndim > 1 else (1, *a.shape), b.shape if b.ndim > 1 else (*b.shape, 1)
    if left[-1] is not None and right[-2] is not None and left[-1] != right[-2]:
        raise ValueError(
            f"matmul of {show(a.shape)} and {show(b.shape)}: inner sizes {left[-1]} and {right[-2]} differ"
        )
    rows, columns = left[-2:-1] if a.ndim > 1 else (), right[-1:] if b.ndim > 1 else ()
    return Spec((*broadcast(left[:-2], right[:-2]), *rows, *columns), promote(a.dtype, b.dtype))


def linear(x, kernel, bias=None) -> Spec:
    return matmul(x, kernel)


def einsum(equation, *operands) -> Spec:
    inputs, _, output = equation.replace(" ", "").partition("->")
    sizes: dict[str, int | None] = {}
    for letters, x in zip(inputs.split(","), operands, strict=True):
        if len(letters) != x.ndim:
            raise ValueError(f"einsum {equation!r}: {letters!r} names {len(letters)} axes, received {show(x.shape)}")
        for letter, n in zip(letters, x.shape, strict=True):
            if None not in (n, sizes.get(letter)) and sizes[letter] != n:
                raise ValueError(f"einsum {equation!r}: axis {letter!r} is both {sizes[letter]} and {n}")
            sizes[letter] = n if n is not None else sizes.get(letter)
    return Spec(tuple(sizes[c] for c in output), promote(*(x.dtype for x in operands)))


def _spatial(x, rank: int, data_format: str, what: str):
    names = "NCDHW"[:2] + "DHW"[3 - rank :] if data_format == "channels_first" else "N" + "DHW"[3 - rank :] + "C"
    if x.ndim != rank + 2:
        raise ValueError(f"{what} wants {rank + 2} axes ({', '.join(names)}), received {show(x.shape)}")
    channels, sizes = (x.shape[1], x.shape[2:]) if data_format == "channels_first" else (x.shape[-1], x.shape[1:-1])
    return channels, sizes


def _assemble(x, channels, sizes, data_format: str) -> Spec:
    inner = (channels, *sizes) if data_format == "channels_first" else (*sizes, channels)
    return x.with_shape([x.shape[0], *inner])


def conv(rank: int):
    def rule(x, kernel, bias=None, *, stride=1, padding=0, dilation=1, groups=1, data_format="channels_first"):
        channels, sizes = _spatial(x, rank, data_format, f"conv{rank}d")
        out, per_group, *window = kernel.shape
        if channels is not None and channels != per_group * groups:
            raise ValueError(f"conv{rank}d with {groups} group(s) and a kernel for {per_group} channels each wants "
                             f"{per_group * groups} input channels, received {channels}")  # fmt: skip
        strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
        return _assemble(x, out, window_sizes(sizes, window, strides, padding, dilations), data_format)

    return rule


def pool(rank: int, name: str):
    def rule(x, kernel_size, *, stride=None, padding=0, ceil_mode=False, data_format="channels_first", **options):
        channels, sizes = _spatial(x, rank, data_format, f"{name}{rank}d")
        window = per_axis(kernel_size, rank, "kernel_size")
        strides = window if stride is None else per_axis(stride, rank, "stride")
        if padding not in ("same", "valid"):
            for (before, after), k in zip(pad_pairs(padding, sizes, window, strides, (1,) * rank), window, strict=True):
                if max(before, after) > k // 2:
                    raise ValueError(f"padding of a pooling window may be at most half of it, received {padding!r}")
        return _assemble(
            x, channels, window_sizes(sizes, window, strides, padding, (1,) * rank, ceil_mode), data_format
        )

    return rule


def batch_norm(x, scale, offset, mean, variance, **options) -> Spec:
    return x


def embedding(indices, table) -> Spec:
    return Spec((*indices.shape, table.shape[-1]), table.dtype)


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None) -> tuple[Spec, Spec, Spec]:
    if x.ndim != 3:
        raise ValueError(f"lstm wants 3 axes (N, steps, features), received {show(x.shape)}")
    matmul(x, kernel)
    size = recurrent_kernel.shape[0]
    state = x.with_shape([x.shape[0], size])
    return x.with_shape([*x.shape[:2], size]), state, state


def cross_entropy(logits, target, *args, **options) -> Spec:
    if target.ndim not in (logits.ndim - 1, logits.ndim):
        raise ValueError(f"cross_entropy of logits {show(logits.shape)} wants class numbers of one axis less, or "
                         f"probabilities of the same shape, received {show(target.shape)}")  # fmt: skip
    return Spec((), logits.dtype)


def paired_loss(prediction, target, *args, **options) -> Spec:
    if len(prediction.shape) != len(target.shape):
        raise ValueError(
            f"prediction {show(prediction.shape)} and target {show(target.shape)} must have the same shape"
        )
    broadcast(prediction.shape, target.shape)
    return Spec((), prediction.dtype)
