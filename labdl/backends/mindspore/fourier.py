"""MindSpore implementations of Fourier transforms."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false

import mindspore
from mindspore import ops

from labdl.backends.mindspore.linear_algebra import _real_kind


def _spectrum(kernel, into):
    """A transform; ``into`` gives the size and dtype of the result, for empty tensors."""

    def call(x, n=None, axis=-1, norm="backward"):
        """MindSpore rejects empty tensors, and crashes for a transform of no points."""
        axis %= x.ndim
        size, kind = into(x, n, axis)
        if size < 1 or (n is not None and n < 1):
            raise ValueError("a transform wants at least one point")  # the shape rule gives the message
        if x.size:
            return kernel(x, n, axis, norm)
        return ops.zeros(tuple(size if a == axis else m for a, m in enumerate(x.shape)), kind)

    return call


def _complex_kind(x):
    return {mindspore.float32: mindspore.complex64, mindspore.float64: mindspore.complex128}.get(x.dtype, x.dtype)


fft, ifft = (
    _spectrum(kernel, lambda x, n, axis: (n or x.shape[axis], _complex_kind(x))) for kernel in (ops.fft, ops.ifft)
)
rfft = _spectrum(ops.rfft, lambda x, n, axis: ((n or x.shape[axis]) // 2 + 1, _complex_kind(x)))
irfft = _spectrum(ops.irfft, lambda x, n, axis: (n or 2 * (x.shape[axis] - 1), _real_kind(x)))
