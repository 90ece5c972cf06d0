"""Shapes and dtypes without data: what shape inference computes with instead of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Size = int | None
Shape = tuple[Size, ...]

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64", "complex64")
_RANK = {name: rank for rank, name in enumerate(DTYPES)}


@dataclass(frozen=True)
class Spec:
    """Shape and dtype of a tensor; a size of ``None`` is unknown until run time (usually the batch)."""

    shape: Shape
    dtype: str = "float32"

    def __post_init__(self):
        sizes = tuple(None if n is None else int(n) for n in self.shape)
        if any(n is not None and n < 0 for n in sizes):
            raise ValueError(f"a shape has sizes of 0 or more, or None for unknown, received {self.shape}")
        object.__setattr__(self, "shape", sizes)
        if self.dtype not in _RANK:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, received {self.dtype!r}")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        """Number of elements, ``None`` when a size is unknown."""
        total = 1
        for n in self.shape:
            if n is None:
                return None
            total *= n
        return total

    def with_shape(self, shape: Sequence[Size]) -> Spec:
        return Spec(tuple(shape), self.dtype)


def as_spec(value, dtype: str = "float32") -> Spec:
    """A Spec from a Spec, a shape such as ``(None, 1, 8, 8)``, or an object with ``shape`` and ``dtype``."""
    if isinstance(value, Spec):
        return value
    if isinstance(value, list | tuple):
        return Spec(tuple(value), dtype)
    return Spec(tuple(value.shape), str(value.dtype).rsplit(".", 1)[-1].lower())


def show(shape: Sequence[Size]) -> str:
    """The shape as people read it: ``(None, 16, 8, 8)``."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def promote(*dtypes: str) -> str:
    """The common dtype of several operands (Python Array API, plus int with float giving the float)."""
    return max(dtypes, key=_RANK.__getitem__)


def broadcast(*shapes: Sequence[Size]) -> Shape:
    """The shape that NumPy's broadcasting rule gives; an unknown size stays unknown unless the other one decides."""
    result: list[Size] = []
    for axis in range(1, max((len(s) for s in shapes), default=0) + 1):
        sizes = {s[-axis] for s in shapes if len(s) >= axis} - {1}
        known = {n for n in sizes if n is not None}
        if len(known) > 1:
            raise ValueError(f"shapes {' and '.join(show(s) for s in shapes)} do not fit together: sizes "
                             f"{' and '.join(str(n) for n in sorted(known))} differ on axis -{axis}")  # fmt: skip
        result.append(known.pop() if known else None if sizes else 1)
    return tuple(reversed(result))


def normal_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes as non-negative numbers; ``None`` means all of them."""
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not -ndim <= a < ndim:
            raise ValueError(f"axis {a} is out of range for {ndim} axes")
    return tuple(a % ndim for a in axes)


def per_axis(value, rank: int, what: str) -> tuple[int, ...]:
    """A size for each spatial axis from one integer or a sequence of ``rank`` integers."""
    if isinstance(value, int):
        return (value,) * rank
    if len(value) != rank:
        raise ValueError(f"{what} wants one integer or {rank} of them, received {value!r}")
    return tuple(value)


def pad_pairs(padding, sizes: Sequence[Size], kernel, stride, dilation) -> tuple[tuple[int, int], ...]:
    """Padding before and after each spatial axis.

    ``"same"`` follows TensorFlow (output size ceil(n / stride), the extra element after), and PyTorch where stride is 1;
    an integer or one integer an axis pads both ends alike; a pair an axis gives both ends.
    """
    rank = len(kernel)
    if padding == "valid":
        return ((0, 0),) * rank
    if padding == "same":
        pairs = []
        for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True):
            reach = d * (k - 1) + 1
            if n is None and s > 1:
                raise ValueError('padding="same" with a stride above 1 needs a known spatial size')
            total = reach - 1 if s == 1 else max((-(-n // s) - 1) * s + reach - n, 0)  # type: ignore[operator]
            pairs.append((total // 2, total - total // 2))
        return tuple(pairs)
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    if len(padding) != rank:
        raise ValueError(f'padding wants "same", "valid", an integer or {rank} of them, received {padding!r}')
    return tuple((p, p) if isinstance(p, int) else (p[0], p[1]) for p in padding)


def window_sizes(sizes, kernel, stride, padding, dilation, ceil_mode: bool = False) -> Shape:
    """Spatial output sizes of a sliding window (PyTorch's formula)."""
    if padding == "same":
        return tuple(None if n is None else -(-n // s) for n, s in zip(sizes, stride, strict=True))
    pairs = pad_pairs(padding, sizes, kernel, stride, dilation)
    result: list[Size] = []
    for n, k, s, d, (before, after) in zip(sizes, kernel, stride, dilation, pairs, strict=True):
        if n is None:
            result.append(None)
            continue
        span = n + before + after - d * (k - 1) - 1
        if span < 0:
            raise ValueError(f"a window of {d * (k - 1) + 1} does not fit into a size of {n + before + after}")
        out = (-(-span // s) if ceil_mode else span // s) + 1
        if ceil_mode and (out - 1) * s >= n + before:
            out -= 1  # PyTorch: a window must start inside the input or its left padding
        result.append(out)
    return tuple(result)
