"""Shape rules of operators that change shape and order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from labdl.ops.rules.elementwise import common_dtype, operand, promoting
from labdl.ops.rules.traits import layout
from labdl.spec import COMPLEX, Size, Spec, broadcast, normal_axes, show

_PARTS = 65_536  # tensors that one call gives


def one_axis(axis: int, ndim: int) -> int:
    """An axis as a non-negative number."""
    if not isinstance(axis, int):
        raise TypeError(f"axis wants an integer, received {axis!r}")
    return normal_axes(axis, ndim)[0]


def replace_axis(x: Spec, axis: int, *sizes: Size) -> Spec:
    """The Spec with one axis replaced by other sizes (any number of them)."""
    return x.with_shape((*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


def _total(sizes: Sequence[Size]) -> Size:
    return None if None in sizes else math.prod(sizes)  # type: ignore[arg-type]


def reshape(x, shape) -> Spec:
    return Spec(infer_reshape(x.shape, shape), x.dtype)


def infer_reshape(old, shape) -> tuple:
    """The shape after a reshape; ``-1`` is inferred from the other sizes, ``0`` is not special."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n is not None and n < -1 for n in shape):
        raise ValueError(f"a new shape has sizes of 0 or more, or one -1, received {show(shape)}")
    if shape.count(-1) + shape.count(None) > 1:
        raise ValueError(f"a new shape may leave one size unknown, received {shape}")
    known_old = math.prod(n for n in old if n is not None)
    known_new = math.prod(n for n in shape if n not in (-1, None))
    unknown = sum(n is None for n in old)
    if -1 in shape or None in shape:
        if unknown == 0:
            if known_new == 0 or known_old % known_new:
                raise ValueError(f"{show(old)} with {known_old} elements cannot be reshaped to {show(shape)}")
            size = known_old // known_new
        else:
            # one unknown size on both sides stays unknown
            size = None
        return tuple(size if n in (-1, None) else n for n in shape)
    if unknown == 0 and known_old != known_new:
        raise ValueError(f"{show(old)} with {known_old} elements cannot be reshaped to {show(shape)} with {known_new}")
    return shape


def reshape_with(xs, shape) -> Spec:
    specs = [operand(x) for x in xs]
    return Spec(reshape_sizes(specs, shape), specs[0].dtype)


def reshape_sizes(specs: Sequence[Spec], shape) -> tuple:
    """The shape after a `reshape_with`: pairs (tensor, axis) are replaced by sizes, -1 by a known one where possible."""
    if not specs:
        raise ValueError("reshape_with wants at least one tensor")
    old, sizes, own, elsewhere = specs[0].shape, [], [], False
    for item in shape:
        if isinstance(item, int):
            if item < -1:
                raise ValueError(f"a new shape has sizes of 0 or more, or one -1, received {item}")
            sizes.append(item)
            continue
        at, axis = item
        if not 0 <= at < len(specs):
            raise ValueError(f"the shape names tensor {at}, and there are {len(specs)}")
        axis = one_axis(axis, specs[at].ndim)
        sizes.append(specs[at].shape[axis])
        if sizes[-1] is None:
            own += [axis] if at == 0 else []
            elsewhere = elsewhere or at != 0
    if sizes.count(-1) > 1:
        raise ValueError(f"a new shape may have one -1, received {tuple(shape)}")
    # unknown sizes that are taken over as they are leave the rest known
    taken = not elsewhere and sorted(own) == [a for a, n in enumerate(old) if n is None]
    known_old, known_new = (math.prod(n for n in part if n not in (None, -1)) for part in (old, sizes))
    rest = known_old // known_new if taken and known_new and known_old % known_new == 0 else None
    if taken and (rest is None or (-1 not in sizes and rest != 1)) and 0 not in (known_old, known_new):
        raise ValueError(f"{show(old)} cannot be reshaped to {show(tuple(None if n == -1 else n for n in sizes))}")
    return tuple(rest if n == -1 else n for n in sizes)


def flatten_shape(shape, start_axis: int, end_axis: int) -> tuple:
    """The shape with the axes from ``start_axis`` to ``end_axis`` as one; an unknown size stays None."""
    if not shape:
        return (1,)
    first, last = one_axis(start_axis, len(shape)), one_axis(end_axis, len(shape))
    if first > last:
        raise ValueError(f"flatten wants start_axis before end_axis, received {start_axis} and {end_axis}")
    return (*shape[:first], _total(shape[first : last + 1]), *shape[last + 1 :])


def flatten(x, start_axis=0, end_axis=-1) -> Spec:
    return x.with_shape(flatten_shape(x.shape, start_axis, end_axis))


@layout("permute_dims")
def permute_dims(x, axes) -> Spec:
    order = normal_axes(axes, x.ndim)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes must name each of the {x.ndim} axes once, received {axes}")
    return x.with_shape([x.shape[a] for a in order])


def moveaxis_order(ndim: int, source, destination) -> tuple[int, ...]:
    """The order of axes for `permute_dims` that moves some of them."""
    start, end = normal_axes(source, ndim), normal_axes(destination, ndim)
    if len(start) != len(end) or len(set(start)) != len(start) or len(set(end)) != len(end):
        raise ValueError(f"moveaxis wants as many different places as axes, received {source} and {destination}")
    rest = iter([a for a in range(ndim) if a not in start])
    places = dict(zip(end, start, strict=True))
    return tuple(places[a] if a in places else next(rest) for a in range(ndim))


def expand(x, axis=0) -> Spec:
    at = one_axis(axis, x.ndim + 1)
    return x.with_shape([*x.shape[:at], 1, *x.shape[at:]])


def squeeze(x, axis) -> Spec:
    axes = normal_axes(axis, x.ndim)
    for a in axes:
        if x.shape[a] not in (1, None):
            raise ValueError(f"squeeze wants a size of 1 on axis {a}, received {show(x.shape)}")
    return x.with_shape([n for a, n in enumerate(x.shape) if a not in axes])


@promoting
@layout("axis")
def concat(xs, axis=0) -> Spec:
    if not xs:
        raise ValueError("concat wants at least one tensor")
    specs = [operand(x) for x in xs]
    if axis is None:
        specs, axis = [x.with_shape([x.element_count]) for x in specs], 0
    first = specs[0]
    at = one_axis(axis, first.ndim)
    total: Size = 0
    for s in specs:
        if s.ndim != first.ndim:
            raise ValueError(f"concat wants tensors of equal rank, received {show(first.shape)} and {show(s.shape)}")
        for a, (n, m) in enumerate(zip(first.shape, s.shape, strict=True)):
            if a != at and n is not None and m is not None and n != m:
                raise ValueError(f"concat along axis {at}: {show(first.shape)} and {show(s.shape)} differ on axis {a}")
        size = s.shape[at]
        total = None if total is None or size is None else total + size
    sizes = [
        total if a == at else next((s.shape[a] for s in specs if s.shape[a] is not None), None)
        for a in range(first.ndim)
    ]
    return Spec(tuple(sizes), common_dtype(*specs))


@promoting
def stack(xs, axis=0) -> Spec:
    if not xs:
        raise ValueError("stack wants at least one tensor")
    specs = [operand(x) for x in xs]
    if len({s.ndim for s in specs}) > 1:
        raise ValueError(f"stack wants tensors of one shape, received {' and '.join(show(s.shape) for s in specs)}")
    return concat([expand(s, axis) for s in specs], axis)


@layout("axis")
def split(x, sections, axis=0) -> tuple[Spec, ...]:
    at = one_axis(axis, x.ndim)
    size = x.shape[at]
    if isinstance(sections, int):
        if sections < 1:
            raise ValueError(f"split wants at least one part, received {sections}")
        if size is not None and size % sections:
            raise ValueError(f"axis {at} of size {size} cannot be split into {sections} equal parts")
        _check_parts("split", sections)
        sizes = [None if size is None else size // sections] * sections
    else:
        sizes = list(sections)
        if size is not None and sum(sizes) != size:
            raise ValueError(f"sizes {sizes} do not add up to {size} on axis {at}")
    _check_parts("split", len(sizes))
    parts = {n: replace_axis(x, at, n) for n in set(sizes)}
    return tuple(parts[n] for n in sizes)


def _check_parts(name: str, count: int) -> None:
    if count > _PARTS:
        raise ValueError(f"{name} gives at most {_PARTS:,} tensors, received an axis for {count:,}")


def unstack(x, axis=0) -> tuple[Spec, ...]:
    at = one_axis(axis, x.ndim)
    count = x.shape[at]
    if count is None:
        raise ValueError(f"unstack wants a known size on axis {at}, received {show(x.shape)}")
    _check_parts("unstack", count)
    return (replace_axis(x, at),) * count


def tile(x, repetitions) -> Spec:
    times = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    rank = max(x.ndim, len(times))
    shape, times = (1,) * (rank - x.ndim) + x.shape, (1,) * (rank - len(times)) + times
    return x.with_shape([None if n is None else n * t for n, t in zip(shape, times, strict=True)])


def repeat(x, repeats, axis=None) -> Spec:
    if axis is None:
        x, axis = x.with_shape([x.element_count]), 0
    at = one_axis(axis, x.ndim)
    size = x.shape[at]
    if isinstance(repeats, int):
        if repeats < 0:
            raise ValueError(f"repeat wants a number of 0 or more, received {repeats}")
        return replace_axis(x, at, None if size is None else size * repeats)
    counts = operand(repeats).shape
    if len(counts) > 1 or (counts and None not in (counts[0], size) and counts[0] not in (1, size)):
        raise ValueError(
            f"repeat wants one number for each of the {size} elements on axis {at}, received {show(counts)}"
        )
    return replace_axis(x, at, None)


def broadcast_to(x, shape) -> Spec:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    together = broadcast(x.shape, shape)
    if len(together) != len(shape) or any(None not in (n, m) and n != m for n, m in zip(together, shape, strict=True)):
        raise ValueError(f"{show(x.shape)} cannot be broadcast to {show(shape)}")
    return x.with_shape([m if n is None else n for n, m in zip(shape, together, strict=True)])


def broadcast_arrays(*arrays) -> tuple[Spec, ...]:
    if not arrays:
        raise ValueError("broadcast_arrays wants at least one tensor")
    specs = [operand(x) for x in arrays]
    shape = broadcast(*(x.shape for x in specs))
    return tuple(x.with_shape(shape) for x in specs)


@layout("axis")
def flip(x, axis=None) -> Spec:
    normal_axes(axis, x.ndim)
    return x


def roll(x, shift, axis=None) -> Spec:
    normal_axes(axis, x.ndim)
    if isinstance(shift, list | tuple) and (not isinstance(axis, list | tuple) or len(shift) != len(axis)):
        raise ValueError(f"roll wants one axis for each shift, received {shift} and {axis}")
    return x


@layout("pad")
def pad(x, padding, mode="constant", value=0.0) -> Spec:
    if len(padding) != x.ndim or any(len(pair) != 2 for pair in padding):
        raise ValueError(f"pad wants a pair (before, after) for each of the {x.ndim} axes, received {padding}")
    for a, (n, pair) in enumerate(zip(x.shape, padding, strict=True)):
        if min(pair) < 0:
            raise ValueError(f"pad wants numbers of 0 or more, received {tuple(pair)}: cut with an index")
        most = {"reflect": -1, "circular": 0}.get(mode)
        if n is not None and most is not None and max(pair) > max(n + most, 0):
            raise ValueError(
                f"pad by {mode!r} of a size of {n} adds at most {max(n + most, 0)}, received {tuple(pair)} on axis {a}"
            )
        if n == 0 and mode == "replicate" and max(pair):
            raise ValueError(f"pad by 'replicate' has no element to repeat on axis {a} of size 0")
    return x.with_shape([None if n is None else n + b + a for n, (b, a) in zip(x.shape, padding, strict=True)])


def matrices(x, *args, **options) -> Spec:
    """Same shape, same dtype, of at least two axes."""
    if x.ndim < 2:
        raise ValueError(f"a matrix has at least 2 axes, received {show(x.shape)}")
    return x


def two_axes(axes, ndim: int) -> tuple[int, int]:
    pair = normal_axes(axes, ndim)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"axes wants two different axes, received {axes}")
    return pair[0], pair[1]


def diagonal(x, *, offset=0, axes=(-2, -1)) -> Spec:
    first, second = two_axes(axes, matrices(x).ndim)
    rows, columns = x.shape[first], x.shape[second]
    size = (
        None
        if rows is None or columns is None
        else max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    )
    return x.with_shape([*(n for a, n in enumerate(x.shape) if a not in (first, second)), size])


def diag(x, *, offset=0) -> Spec:
    if x.ndim < 1:
        raise ValueError("diag wants at least one axis: the diagonal")
    size = None if x.shape[-1] is None else x.shape[-1] + abs(offset)
    return x.with_shape([*x.shape[:-1], size, size])


@layout("elementwise")
def like(x, value=0, *, dtype=None) -> Spec:
    """Same shape, and the same dtype unless one is given."""
    return Spec(x.shape, dtype or x.dtype)


@layout("elementwise")
def astype(x, dtype) -> Spec:
    if dtype == "string" or (x.dtype in COMPLEX and dtype not in (*COMPLEX, "bool")):
        raise TypeError(f"astype cannot convert {x.dtype} to {dtype}" + ": use ops.real first" * (dtype != "string"))
    return Spec(x.shape, dtype)


def one_hot(x, classes, *, axis=-1, dtype="float32") -> Spec:
    at = one_axis(axis, x.ndim + 1)
    return Spec((*x.shape[:at], classes, *x.shape[at:]), dtype)
