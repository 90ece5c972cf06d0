"""Shape rules of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

from labdl.ops.rules.array import one_axis, replace_axis
from labdl.ops.rules.elementwise import real_of
from labdl.spec import Size, Spec, normal_axes, show


def complex_dtype(dtype: str) -> str:
    """The dtype of complex numbers as precise as this one."""
    return {"float64": "complex128", "complex128": "complex128"}.get(dtype, "complex64")


def _check(n: Size) -> Size:
    if n is not None and n < 1:
        raise ValueError(f"a Fourier transform wants at least 1 element on its axis, received {n}")
    return n


def _transform(dtype_of: Callable, given: Callable, result: Callable) -> Callable:
    """Build a rule from functions for the dtype, the signal size by the input size, and the result size by the signal size."""

    def rule(x, n=None, axis=-1, norm="backward") -> Spec:
        at = one_axis(axis, x.ndim)
        size = x.shape[at]
        n = _check(n if n is not None or size is None else given(size))
        return Spec(replace_axis(x, at, None if n is None else result(n)).shape, dtype_of(x.dtype))

    return rule


def _same(n: int) -> int:
    return n


def _half(n: int) -> int:
    return n // 2 + 1


def _whole(n: int) -> int:
    return 2 * (n - 1)


fft = _transform(complex_dtype, _same, _same)
rfft = _transform(complex_dtype, _same, _half)
irfft = _transform(real_of, _whole, _same)


def transform_axes(ndim: int, s, axes) -> tuple[tuple[int, ...], tuple[Size, ...]]:
    """The axes of a transform over several, and the size that each is truncated or padded to (None: unchanged)."""
    if axes is None:
        axes = tuple(range(ndim)) if s is None else tuple(range(ndim - len(s), ndim))
    axes = normal_axes(axes, ndim)
    sizes = (None,) * len(axes) if s is None else tuple(None if n == -1 else n for n in s)
    if len(sizes) != len(axes) or len(set(axes)) != len(axes) or not axes:
        raise ValueError(f"a transform over axes {axes} wants different ones, and as many sizes, received {s}")
    return axes, sizes


def fftn(x, s=None, axes=None, norm="backward") -> Spec:
    for axis, n in zip(*transform_axes(x.ndim, s, axes), strict=True):
        x = fft(x, n, axis, norm)
    return x


def rfftn(x, s=None, axes=None, norm="backward") -> Spec:
    chosen, sizes = transform_axes(x.ndim, s, axes)
    return (
        fftn(rfft(x, sizes[-1], chosen[-1], norm), sizes[:-1], chosen[:-1], norm)
        if chosen[1:]
        else (rfft(x, sizes[-1], chosen[-1], norm))
    )


def irfftn(x, s=None, axes=None, norm="backward") -> Spec:
    chosen, sizes = transform_axes(x.ndim, s, axes)
    x = fftn(x, sizes[:-1], chosen[:-1], norm) if chosen[1:] else x
    return irfft(x, sizes[-1], chosen[-1], norm)


def fft2(x, s=None, axes=(-2, -1), norm="backward") -> Spec:
    return fftn(x, s, axes, norm)


def rfft2(x, s=None, axes=(-2, -1), norm="backward") -> Spec:
    return rfftn(x, s, axes, norm)


def irfft2(x, s=None, axes=(-2, -1), norm="backward") -> Spec:
    return irfftn(x, s, axes, norm)


def fftshift(x, axes=None) -> Spec:
    for a in normal_axes(axes, x.ndim):
        if x.shape[a] is None:
            raise ValueError(f"fftshift wants a known size on axis {a}, received {show(x.shape)}")
    return x


def check_frames(n_fft: int, hop_length: int | None, window) -> int:
    """The hop between frames; a quarter of them unless it is given."""
    hop = n_fft // 4 if hop_length is None else hop_length
    if n_fft < 1 or hop < 1:
        raise ValueError(f"n_fft and hop_length want at least 1, received {n_fft} and {hop}")
    if window is not None and (len(window.shape) != 1 or window.shape[0] not in (n_fft, None)):
        raise ValueError(f"a window for n_fft={n_fft} has that many elements, received {show(window.shape)}")
    return hop


def stft(
    x, n_fft, hop_length=None, window=None, *, center=True, pad_mode="reflect", normalized=False, onesided=True
) -> Spec:
    hop = check_frames(n_fft, hop_length, window)
    if x.ndim < 1:
        raise ValueError("stft wants a signal: at least one axis")
    size = x.shape[-1]
    if size is not None:
        if center and pad_mode == "reflect" and n_fft // 2 >= max(size, 1):
            raise ValueError(
                f"stft with center and n_fft={n_fft} wants more than {n_fft // 2} elements, received {size}"
            )
        size += 2 * (n_fft // 2) if center else 0
        if size < n_fft:
            raise ValueError(f"stft with n_fft={n_fft} wants at least as many elements, received {size}")
    frames = None if size is None else (size - n_fft) // hop + 1
    return Spec((*x.shape[:-1], n_fft // 2 + 1 if onesided else n_fft, frames), complex_dtype(x.dtype))


def istft(x, n_fft, hop_length=None, window=None, *, center=True, normalized=False, onesided=True, length=None) -> Spec:
    hop = check_frames(n_fft, hop_length, window)
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if x.ndim < 2 or x.shape[-2] not in (wanted, None):
        raise ValueError(f"istft with n_fft={n_fft} wants (..., {wanted}, frames), received {show(x.shape)}")
    frames = x.shape[-1]
    if length is None and frames is not None:
        length = n_fft + hop * (frames - 1) - (2 * (n_fft // 2) if center else 0)
    return Spec((*x.shape[:-2], length), real_of(x.dtype))
