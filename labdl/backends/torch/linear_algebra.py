"""PyTorch implementations of linear algebra and Fourier transforms."""

import torch

from labdl.backends.torch.arithmetic import promote_operands


def matmul(x, y):
    """torch multiplies neither mixed dtypes nor bools."""
    if x.__class__ is y.__class__ and x.dtype is y.dtype:
        return torch.matmul(x, y)
    return torch.matmul(*promote_operands(x, y))


def einsum(equation, *operands):
    return torch.einsum(equation, *promote_operands(*operands))


def cholesky(x, *, upper=False):
    """torch reads one triangle only, so asymmetric matrices are not detected."""
    return torch.linalg.cholesky(x, upper=upper)


det, inv, slogdet = torch.linalg.det, torch.linalg.inv, torch.linalg.slogdet
eigh, eig = torch.linalg.eigh, torch.linalg.eig


def solve(x, y):
    """torch interprets a matrix of right-hand sides as a batch of vectors if the sizes allow it."""
    x, y = promote_operands(x, y)
    columns = y[:, None] if y.ndim == 1 else y
    result = torch.linalg.solve(x, columns.reshape((1,) * (x.ndim - columns.ndim) + columns.shape))
    return result[..., 0] if y.ndim == 1 else result


def triangular_solve(x, y, *, upper=False, unit_diagonal=False):
    x, y = promote_operands(x, y)
    columns = y[:, None] if y.ndim == 1 else y
    result = torch.linalg.solve_triangular(x, columns, upper=upper, unitriangular=unit_diagonal)
    return result[..., 0] if y.ndim == 1 else result


def qr(x, *, mode="reduced"):
    return torch.linalg.qr(x, mode)


def svd(x, *, full_matrices=True):
    return torch.linalg.svd(x, full_matrices)


def _spectrum(function):
    def call(x, n=None, axis=-1, norm="backward"):
        if x.numel() or not x.shape[axis]:
            return function(x, n, axis, norm)
        # MKL rejects an empty batch: uses the results of one row of zeros
        rows = list(x.shape)
        row = function(x.new_zeros(rows[axis]), n, -1, norm)
        rows[axis] = len(row)
        return row.new_empty(rows)

    return call


fft, ifft, rfft, irfft = map(_spectrum, (torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.irfft))
