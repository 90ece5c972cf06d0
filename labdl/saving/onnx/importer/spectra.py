"""ONNX readers of Fourier transforms; complex numbers are pairs on the last axis."""

from __future__ import annotations

import numpy as np

from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.reductions import numbers
from labdl.saving.onnx.importer.registry import reads


def _pairs(r, z):
    return r.call("stack", [r.call("real", z), r.call("imag", z)], axis=-1)


def _complex(r, node, x):
    """The complex numbers of pairs, or the real ones of single numbers; and whether they were pairs."""
    if x.dtype not in ("float32", "float64"):
        raise r.refuse(node, f"transforms {x.dtype}, and LabDL float32 and float64")
    if x.shape[-1] == 1:
        return r.call("squeeze", x, (x.ndim - 1,)), False
    if x.shape[-1] != 2:
        raise r.refuse(node, f"has numbers of {x.shape[-1]} parts, and they are real (1) or complex (2)")
    parts = (r.call("getitem", x, (..., part)) for part in (0, 1))
    return r.call("complex", *parts), True


@reads("DFT")
def fourier(r, node, x, length=None, axis=None):
    a = node.attributes
    (along,) = [a.get("axis", 1)] if node.opset < 20 else [-2] if axis is None else numbers(r, node, axis, "axis")
    n = None if length is None else numbers(r, node, length, "length")[0]
    along %= x.ndim
    if along == x.ndim - 1:
        raise r.refuse(node, "transforms along the axis of real and imaginary parts")
    z, is_complex = _complex(r, node, x)
    inverse, half = a.get("inverse"), a.get("onesided")
    if inverse and half:
        if not is_complex:
            raise r.refuse(node, "inverts one half of a spectrum that is not complex")
        return r.call("expand_dims", r.call("irfft", z, n, axis=along), x.ndim - 1)
    if half:
        if is_complex:
            raise r.refuse(node, "has onesided=1 for complex numbers")
        return _pairs(r, r.call("rfft", z, n, axis=along))
    if not is_complex:
        z = r.call("complex", z, r.call("zeros_like", z))
    return _pairs(r, r.call("ifft" if inverse else "fft", z, n, axis=along))


@reads("STFT")
def short_time_fourier(r, node, x, step, window=None, length=None):
    """The spectra of windows of a signal, one every few steps."""
    (hop,) = numbers(r, node, step, "frame_step")
    if length is not None:
        (size,) = numbers(r, node, length, "frame_length")
    elif window is not None and window.shape[0] is not None:
        size = window.shape[0]
    else:
        raise r.refuse(node, "has windows of unknown length: give frame_length")
    if x.ndim == 3:
        x, is_complex = _complex(r, node, x)
    else:
        is_complex = False
    if is_complex and node.attributes.get("onesided", 1):
        raise r.refuse(node, "has onesided=1 for complex numbers")
    frames = r.call("sliding_window", x, size, hop, axis=1)  # the elements of a window are on the last axis
    if window is not None:
        if is_complex:
            window = r.call("complex", window, KnownValue(np.zeros(size, window.dtype)))
        frames = r.call("multiply", frames, window)
    if node.attributes.get("onesided", 1):
        return _pairs(r, r.call("rfft", frames, axis=-1))
    if not is_complex:
        frames = r.call("complex", frames, r.call("zeros_like", frames))
    return _pairs(r, r.call("fft", frames, axis=-1))
