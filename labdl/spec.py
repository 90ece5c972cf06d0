"""Specs: shapes and dtypes without data, for shape inference."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import OutOfRangeError
from labdl.symbolic import SymbolicTensor

Size = int | None
Shape = tuple[Size, ...]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REALS = (*INTEGERS, *FLOATS)
NUMBERS = (*REALS, *COMPLEX)
AXES, LARGEST = 64, 2**63  # axes of a shape, and the first size that is too large, as in NumPy
_LARGE = 2**28  # bytes of a result whose size is compared with the memory
DTYPES = ("bool", *NUMBERS, "string")


_DTYPES = frozenset(DTYPES)


def _is_size(n) -> bool:
    return n is None or (n.__class__ is int and 0 <= n < LARGEST)


@dataclass(frozen=True, eq=False)
class Spec(SymbolicTensor):
    """Shape and dtype of a tensor; a size of ``None`` is unknown until run time (usually the batch).

    In a forward a Spec stands for a tensor: ``x == y`` is `labdl.ops.equal`, as every infix operator. Outside of it ``==``
    compares two Specs as `equals` does anywhere. It has no values: what would read them raises UnknownValueError.
    """

    shape: Shape
    dtype: str = "float32"

    def __post_init__(self):
        shape = self.shape
        if self.dtype in _DTYPES and type(shape) is tuple and len(shape) <= AXES and all(map(_is_size, shape)):
            return  # nearly always; the checks below take longer
        sizes = tuple(None if n is None else int(n) for n in shape)
        if any(n is not None and n < 0 for n in sizes):
            raise ValueError(f"a shape has sizes of 0 or more, or None for unknown, received {self.shape}")
        if len(sizes) > AXES or any(n is not None and n >= LARGEST for n in sizes):
            raise ValueError(f"a shape has at most {AXES} axes with sizes of less than 2^63, received {sizes!s:.200}")
        object.__setattr__(self, "shape", sizes)
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, received {self.dtype!r}")

    def equals(self, other: object) -> bool:
        """Whether another Spec has the same shape and dtype."""
        return isinstance(other, Spec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __eq__(self, other: object) -> Any:
        return self.equals(other) if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype)) if type(self) is Spec else id(self)  # others are tensors only

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        """Number of elements, ``None`` when a size is unknown; in a forward, `labdl.ops.infix` refuses it."""
        return self.element_count

    @property
    def element_count(self) -> Size:
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
    return Spec(tuple(value.shape), dtype_name(value.dtype))


def show(shape: Sequence[Size]) -> str:
    """Format a shape for messages: ``(None, 16, 8, 8)``."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


# NumPy writes the names of its dtypes slowly
_NAMES = {np.dtype(n): n for n in DTYPES if n not in ("bfloat16", "string")}
_NUMPY_DTYPES = frozenset(map(type, _NAMES))


def dtype_name(dtype) -> str:
    """LabDL's name of a NumPy dtype (or of one with the same string form); text of any length is "string"."""
    known = _NAMES.get(dtype) if dtype.__class__ in _NUMPY_DTYPES else None
    if known is not None:
        return known
    return (
        "string"
        if getattr(dtype, "kind", "") in "OSU" and hasattr(dtype, "kind")
        else str(dtype).rsplit(".", 1)[-1].lower()
    )


def _kind(dtype: str) -> int:
    return 0 if dtype == "bool" else 1 if dtype in INTEGERS else 2 if dtype in FLOATS else 3 if dtype in COMPLEX else 4


_WIDTH = {
    "uint8": 0,
    "int8": 1,
    "int16": 2,
    "int32": 3,
    "int64": 4,
    "float16": 0,
    "bfloat16": 0,
    "float32": 1,
    "float64": 2,
    "complex64": 1,
    "complex128": 2,
}


def _common(a: str, b: str) -> str:
    return _COMMON.get((a, b)) or _wider(a, b)


def _wider(a: str, b: str) -> str:
    if a == b:
        return a
    if "string" in (a, b):
        raise TypeError(f"strings do not mix with {a if b == 'string' else b}")
    low, high = sorted((a, b), key=lambda d: (_kind(d), _WIDTH.get(d, 0)))
    if _kind(low) < _kind(high):
        return "complex128" if (low, high) == ("float64", "complex64") else high
    if (low, high) == ("uint8", "int8"):
        return "int16"
    return "float32" if _WIDTH[low] == _WIDTH[high] else high


_COMMON = {(a, b): _wider(a, b) for a in DTYPES[:-1] for b in DTYPES[:-1]}  # torch.compile warns of functools.cache


def promote(*operands) -> str:
    """The result dtype of operands, given as names of dtypes and Python numbers.

    Follows the Python Array API standard, and PyTorch where that is undefined: integers with floats give the floats'
    dtype; a Python number takes the tensors' dtype unless its kind is higher: then it is int64, float32 or complex64.
    The number of axes does not matter. Raises TypeError for strings with numbers.
    """
    dtypes = [v for v in operands if isinstance(v, str)]
    result = functools.reduce(_common, dtypes) if dtypes else "bool"
    for value in operands:
        if isinstance(value, str):
            continue
        kind, default = _NUMBERS[
            bool
            if isinstance(value, bool)
            else int
            if isinstance(value, int)
            else float
            if isinstance(value, float)
            else complex
        ]
        if kind > _kind(result):
            result = _common(result, default)
        elif result == "string":
            raise TypeError(f"strings do not mix with the number {value!r}")
    return result


_NUMBERS = {bool: (0, "bool"), int: (1, "int64"), float: (2, "float32"), complex: (3, "complex64")}


def broadcast(*shapes: Sequence[Size]) -> Shape:
    """Broadcast shapes by NumPy's rule; an unknown size stays unknown unless the other shape determines it."""
    result: list[Size] = []
    for axis in range(1, max([0, *map(len, shapes)]) + 1):
        sizes = {s[-axis] for s in shapes if len(s) >= axis} - {1}
        known = {n for n in sizes if n is not None}
        if len(known) > 1:
            raise ValueError(
                f"shapes {' and '.join(show(s) for s in shapes)} do not fit together: sizes "
                f"{' and '.join(str(n) for n in sorted(known))} differ on axis -{axis}"
            )
        result.append(known.pop() if known else None if sizes else 1)
    return tuple(reversed(result))


def refuse_beyond_memory(result: str, size: float) -> None:
    """Raise MemoryError for a ``result`` of ``size`` bytes that is larger than the memory of the machine.

    For sizes that depend on values: `ops.operator` compares the others before the call.
    """
    if size < _LARGE:
        return
    import psutil  # imported lazily: few results are so large

    total = psutil.virtual_memory().total
    if size > total:
        raise MemoryError(f"{result}: this machine has {total / 2**30:.0f} GB of memory")


def normal_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Normalize axes to non-negative numbers; ``None`` means all of them."""
    if axis is None:
        return tuple(range(ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if not -ndim <= a < ndim:
            raise OutOfRangeError(f"axis {a} is out of range for {ndim} axes")
    return tuple(a % ndim for a in axes)


def per_axis(value, rank: int, what: str, least: int = 1) -> tuple[int, ...]:
    """A size for each spatial axis from one integer or a sequence of ``rank`` integers, none below ``least``."""
    sizes = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(sizes) != rank:
        raise ValueError(f"{what} wants one integer or {rank} of them, received {value!r}")
    if sizes and min(sizes) < least:
        raise ValueError(f"{what} wants integers of {least} or more, received {value!r}")
    return sizes


def pad_pairs(padding, sizes: Sequence[Size], kernel, stride, dilation) -> tuple[tuple[int, int], ...]:
    """Padding before and after each spatial axis.

    ``"same"`` follows TensorFlow (output size ceil(n / stride), the extra element after), and PyTorch where stride is 1;
    an integer or one integer per axis pads both ends equally; a pair per axis gives both ends.
    """
    if padding == "same":
        pairs = []
        for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True):
            reach = d * (k - 1) + 1
            if n is None and s > 1:
                raise ValueError('padding="same" with a stride above 1 needs a known spatial size')
            total = reach - 1 if s == 1 else max((-(-n // s) - 1) * s + reach - n, 0)  # type: ignore[operator]
            pairs.append((total // 2, total - total // 2))
        return tuple(pairs)
    return _explicit_pairs(padding, len(kernel))


def _explicit_pairs(padding, rank: int) -> tuple[tuple[int, int], ...]:
    if padding == "valid":
        return ((0, 0),) * rank
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    if isinstance(padding, str) or len(padding) != rank:
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


def crop_pairs(
    padding, kernel, stride, dilation, output_padding: int | Sequence[int] = 0
) -> tuple[tuple[int, int], ...]:
    """Cropping of a transposed convolution before and after each spatial axis of (n - 1) * stride + reach elements.

    A negative number appends zeros instead. ``"same"`` leaves n * stride elements, as the gradient of a "same"
    convolution with that stride does. Any other padding is that of the forward convolution.
    """
    rank = len(kernel)
    pairs = []
    for at, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        reach = d * (k - 1) + 1
        before = max(reach - s, 0) // 2
        pairs.append((before, reach - s - before) if padding == "same" else _explicit_pairs(padding, rank)[at])
    extra = per_axis(output_padding, rank, "output_padding", 0)
    for e, s, d in zip(extra, stride, dilation, strict=True):
        if e >= max(s, d):
            raise ValueError(f"output_padding must be smaller than stride or dilation, received {output_padding!r}")
    return tuple((before, after - e) for (before, after), e in zip(pairs, extra, strict=True))


def transposed_sizes(sizes, kernel, stride, padding, dilation, output_padding=0) -> Shape:
    """Spatial output sizes of a transposed convolution (PyTorch's formula)."""
    pairs = crop_pairs(padding, kernel, stride, dilation, output_padding)
    result: list[Size] = []
    for n, k, s, d, (before, after) in zip(sizes, kernel, stride, dilation, pairs, strict=True):
        out = None if n is None else (n - 1) * s + d * (k - 1) + 1 - before - after
        if out is not None and out < 1:
            raise ValueError(f"a transposed convolution of {n} elements leaves nothing after padding {padding!r}")
        result.append(out)
    return tuple(result)
