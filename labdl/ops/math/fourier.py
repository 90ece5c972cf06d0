"""Fourier transforms (Python Array API standard); short-time transforms as in PyTorch.

float32 gives complex64, float64 complex128; half precision and integers are errors on every backend. ``norm`` says which
transform divides by the number of elements: "backward" the inverse, "forward" the forward one, "ortho"
both by its root. A size ``n`` truncates the signal or pads it with zeros first.
"""

import math

import numpy as np

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.indexing import getitem, sliding_window
from labdl.ops.array.shape import expand_dims, pad, reshape, roll, swapaxes
from labdl.ops.math.arithmetic import add, divide, multiply, square
from labdl.ops.math.complex_numbers import conj, real
from labdl.ops.operator import ANY, Choice, case, floats, operator
from labdl.spec import COMPLEX, normal_axes

_PRECISE = ("float32", "float64", *COMPLEX)
_OPTIONS = (
    case(floats(2, 5)),
    case(floats(2, 4), axis=0, norm="ortho"),
    case(floats(2, 5), 3),
    case(floats(2, 3), 6, norm="forward"),
)
_GRIDS = (
    case(floats(2, 3, 4)),
    case(floats(3, 4), (4, 3), norm="ortho"),
    case(floats(2, 3, 4), axes=(0, -1), norm="forward"),
)
_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@operator(rules.fft, *_OPTIONS, takes=_PRECISE, precision="float32", without_onnx="complex numbers")
def fft(x, n=None, axis=-1, norm="backward"):
    """Discrete Fourier transform along an axis."""
    return np.fft.fft(x, n, axis, norm)  # type: ignore[arg-type]


@operator(rules.fft, *_OPTIONS, takes=_PRECISE, precision="float32", without_onnx="complex numbers")
def ifft(x, n=None, axis=-1, norm="backward"):
    """Inverse of `fft`."""
    return np.fft.ifft(x, n, axis, norm)  # type: ignore[arg-type]


@operator(rules.rfft, *_OPTIONS, takes=("float32", "float64"), precision="float32", without_onnx="complex numbers")
def rfft(x, n=None, axis=-1, norm="backward"):
    """Fourier transform of a real signal: the n // 2 + 1 results for frequencies from 0 on."""
    return np.fft.rfft(x, n, axis, norm)  # type: ignore[arg-type]


@operator(
    rules.irfft, *_OPTIONS, case(floats(2, 3), 5), takes=_PRECISE, precision="float32", without_onnx="complex numbers"
)
def irfft(x, n=None, axis=-1, norm="backward"):
    """Inverse of `rfft`: a real signal of ``n`` elements, by default an even number, 2 * (size - 1).

    The imaginary parts at frequency 0, and for even ``n`` at the highest, are ignored.
    """
    return np.fft.irfft(x, n, axis, norm)  # type: ignore[arg-type]


@operator(rules.irfft, *_OPTIONS, takes=_PRECISE, composite=True, precision="float32", without_onnx="complex numbers")
def hfft(x, n=None, axis=-1, norm="backward"):
    """Fourier transform of a Hermitian signal, of which one half is given; the result is real."""
    return irfft(conj(x), n, axis, _OPPOSITE[norm])


@operator(
    rules.rfft,
    *_OPTIONS,
    takes=("float32", "float64"),
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def ihfft(x, n=None, axis=-1, norm="backward"):
    """Inverse of `hfft`."""
    return conj(rfft(x, n, axis, _OPPOSITE[norm]))


def _each(function, x, axes, sizes, norm):
    for axis, n in zip(axes, sizes, strict=True):
        x = function(x, n, axis, norm)
    return x


@operator(rules.fftn, *_GRIDS, takes=_PRECISE, composite=True, precision="float32", without_onnx="complex numbers")
def fftn(x, s=None, axes=None, norm="backward"):
    """`fft` over several axes, with None all of them; sizes ``s`` without axes are those of the last ones."""
    return _each(fft, x, *rules.transform_axes(spec_of(x).ndim, s, axes), norm=norm)


@operator(rules.fftn, *_GRIDS, takes=_PRECISE, composite=True, precision="float32", without_onnx="complex numbers")
def ifftn(x, s=None, axes=None, norm="backward"):
    """Inverse of `fftn`."""
    return _each(ifft, x, *rules.transform_axes(spec_of(x).ndim, s, axes), norm=norm)


@operator(
    rules.fft2,
    case(floats(2, 3, 4)),
    case(floats(3, 4, 2), axes=(0, 1), norm="ortho"),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def fft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`fft` over the last two axes, or two others."""
    return fftn(x, s, axes, norm)


@operator(
    rules.fft2,
    case(floats(2, 3, 4)),
    case(floats(3, 4, 2), axes=(0, 1), norm="ortho"),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def ifft2(x, s=None, axes=(-2, -1), norm="backward"):
    """Inverse of `fft2`."""
    return ifftn(x, s, axes, norm)


@operator(
    rules.rfftn,
    *_GRIDS,
    takes=("float32", "float64"),
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def rfftn(x, s=None, axes=None, norm="backward"):
    """`fftn` of a real signal: `rfft` over the last of the axes, `fft` over the others."""
    axes, sizes = rules.transform_axes(spec_of(x).ndim, s, axes)
    return _each(fft, rfft(x, sizes[-1], axes[-1], norm), axes[:-1], sizes[:-1], norm)


@operator(rules.irfftn, *_GRIDS, takes=_PRECISE, composite=True, precision="float32", without_onnx="complex numbers")
def irfftn(x, s=None, axes=None, norm="backward"):
    """Inverse of `rfftn`; see `irfft` for the size of the last of the axes."""
    axes, sizes = rules.transform_axes(spec_of(x).ndim, s, axes)
    return irfft(_each(ifft, x, axes[:-1], sizes[:-1], norm), sizes[-1], axes[-1], norm)


@operator(
    rules.rfft2,
    case(floats(2, 3, 4)),
    case(floats(3, 4, 2), (4, 3), axes=(0, 1), norm="ortho"),
    takes=("float32", "float64"),
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def rfft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`rfftn` over the last two axes, or two others."""
    return rfftn(x, s, axes, norm)


@operator(
    rules.irfft2,
    case(floats(2, 3, 4)),
    case(floats(3, 4, 2), (4, 5), axes=(0, 1), norm="ortho"),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def irfft2(x, s=None, axes=(-2, -1), norm="backward"):
    """Inverse of `rfft2`; see `irfft` for the size of the last axis."""
    return irfftn(x, s, axes, norm)


@operator(
    rules.fftshift,
    case(floats(2, 5), axes=1),
    case(floats(2, 3, 4), axes=(-1, 1)),
    takes=ANY,
    composite=True,
    precision="float32",
)
def fftshift(x, /, *, axes=None):
    """Frequency 0 moved from the start to the middle of each axis, or of some. Their sizes must be known."""
    return _shift(x, axes, lambda n: n // 2)


@operator(
    rules.fftshift,
    case(floats(2, 5), axes=1),
    case(floats(2, 3, 4), axes=(-1, 1)),
    takes=ANY,
    composite=True,
    precision="float32",
)
def ifftshift(x, /, *, axes=None):
    """Inverse of `fftshift`."""
    return _shift(x, axes, lambda n: -(n // 2))


def _shift(x, axes, amount):
    spec = rules.fftshift(spec_of(x), axes)
    chosen = normal_axes(axes, spec.ndim)
    return roll(x, tuple(amount(spec.shape[a]) for a in chosen), chosen) if chosen else x


@operator(
    rules.stft,
    case(floats(2, 16), 4),
    case(floats(2, 16), 8, 3, floats(8, low=0.1), center=False, normalized=True),
    case(floats(12), 5, 2, floats(5), pad_mode="constant", onesided=False),
    takes=("float32", "float64"),
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
    options={"pad_mode": Choice("constant", "reflect", "replicate", "circular")},
)
def stft(x, n_fft, hop_length=None, window=None, *, center=True, pad_mode="reflect", normalized=False, onesided=True):
    """Spectra of overlapping frames of a signal (..., time): (..., frequencies, frames), complex.

    Frames of ``n_fft`` elements start ``hop_length`` apart (default: a quarter of them) and are multiplied with ``window``,
    which has as many (default: ones). With ``center`` the signal is padded so that frame t is centered at t * hop_length;
    ``pad_mode`` is one of `pad`. ``normalized`` divides by the root of ``n_fft``; ``onesided`` leaves out the negative
    frequencies, which follow from the others. Semantics: torch.stft.
    """
    hop = rules.check_frames(n_fft, hop_length, None if window is None else spec_of(window))
    if center:
        half = n_fft // 2
        x = pad(x, (*((0, 0),) * (spec_of(x).ndim - 1), (half, half)), mode=pad_mode)
    pieces = sliding_window(x, n_fft, hop, -1)
    pieces = pieces if window is None else multiply(pieces, window)
    return swapaxes((rfft if onesided else fft)(pieces, norm="ortho" if normalized else "backward"), -2, -1)


@operator(
    rules.istft,
    case(floats(2, 3, 6), 4),
    case(floats(2, 5, 4), 8, 3, floats(8, low=0.5), center=False, normalized=True),
    case(floats(5, 6), 5, 2, floats(5, low=0.5), onesided=False, length=9),
    takes=_PRECISE,
    composite=True,
    precision="float32",
    without_onnx="complex numbers",
)
def istft(x, n_fft, hop_length=None, window=None, *, center=True, normalized=False, onesided=True, length=None):
    """Inverse of `stft`: the signal with the nearest spectra to (..., frequencies, frames), real.

    The frames are multiplied with the window again, added where they overlap, and divided by the sum of the squares of the
    windows there, which must not be 0. The result is truncated, or padded with zeros, to ``length``. Semantics: torch.istft.
    """
    hop = rules.check_frames(n_fft, hop_length, None if window is None else spec_of(window))
    frames = spec_of(x).shape[-1]
    if frames is None:
        raise ValueError("istft wants a known number of frames on the last axis")
    spectra, norm = swapaxes(x, -2, -1), "ortho" if normalized else "backward"
    pieces = irfft(spectra, n_fft, norm=norm) if onesided else real(ifft(spectra, norm=norm))
    if window is None:
        weights = np.ones((frames, n_fft), spec_of(pieces).dtype)
        added, weight = _overlap_add(pieces, n_fft, hop), _overlap_add(weights, n_fft, hop)
    else:
        squares = multiply(expand_dims(square(window), 0), np.ones((frames, 1), spec_of(window).dtype))
        added, weight = _overlap_add(multiply(pieces, window), n_fft, hop), _overlap_add(squares, n_fft, hop)
    start = n_fft // 2 if center else 0
    whole = n_fft + hop * (frames - 1)
    stop = whole - start if length is None else min(start + length, whole)
    signal = divide(getitem(added, (..., slice(start, stop))), getitem(weight, slice(start, stop)))
    missing = 0 if length is None else length - (stop - start)
    return pad(signal, (*((0, 0),) * (spec_of(signal).ndim - 1), (0, missing))) if missing else signal


def _overlap_add(pieces, size, hop):
    """Sum (..., frames, size) with offsets of ``hop``: in columns of ``hop`` elements, which needs few additions."""
    *batch, frames, _ = spec_of(pieces).shape
    columns = math.ceil(size / hop)
    still = ((0, 0),) * len(batch)
    pieces = pad(pieces, (*still, (0, 0), (0, columns * hop - size)))
    total = None
    for k in range(columns):
        part = getitem(pieces, (..., slice(k * hop, (k + 1) * hop)))
        part = pad(part, (*still, (k, columns - 1 - k), (0, 0)))
        total = part if total is None else add(total, part)
    return reshape(total, (*(-1 if n is None else n for n in batch), (frames + columns - 1) * hop))
