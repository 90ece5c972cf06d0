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


class _Determinant(torch.autograd.Function):
    """The determinant with a gradient at singular matrices too: torch's own is zero there."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.linalg.det(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        return gradient[..., None, None] * _cofactors(*ctx.saved_tensors).conj()


def _cofactors(x):
    """The derivative of the determinant: det(x) times the transposed inverse, with pivots of zero raised to rounding."""
    if not x.numel():
        return torch.zeros_like(x)
    lu, pivots = torch.linalg.lu_factor_ex(x)[:2]
    diagonal = lu.diagonal(dim1=-2, dim2=-1)
    largest = lu.detach().abs().amax((-2, -1))[..., None]
    least = torch.finfo(lu.dtype).eps * torch.where(largest == 0, 1, largest)
    raised = torch.where(diagonal == 0, least.to(lu.dtype), 0)
    places = torch.arange(1, lu.shape[-1] + 1, dtype=pivots.dtype, device=lu.device)
    sign = 1 - 2 * ((pivots != places).sum(-1) % 2)
    determinant = (diagonal + raised).prod(-1) * sign
    ones = torch.eye(lu.shape[-1], dtype=lu.dtype, device=lu.device).expand_as(lu)
    return determinant[..., None, None] * torch.linalg.lu_solve(lu + torch.diag_embed(raised), pivots, ones).mT


def det(x):
    """The gradient of torch.linalg.det is zero at every singular matrix."""
    return _Determinant.apply(x) if x.requires_grad else torch.linalg.det(x)


inv, slogdet = torch.linalg.inv, torch.linalg.slogdet
eigh, eig, matrix_exp = torch.linalg.eigh, torch.linalg.eig, torch.linalg.matrix_exp


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


def lu(x):
    return tuple(torch.linalg.lu(x))


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
