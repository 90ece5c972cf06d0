"""PyTorch implementations of attention and recurrence."""

from typing import Any

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, mask=None, causal=False, *, scale=None, rate=0.0, training=False):
    if rate and training:
        return NotImplemented
    if mask is not None and causal:
        allowed = torch.ones((query.shape[-2], key.shape[-2]), dtype=torch.bool, device=query.device).tril()
        mask = mask & allowed if mask.dtype is torch.bool else mask.masked_fill(~allowed, -torch.inf)
        causal = False
    if not query.ndim == key.ndim == value.ndim:
        return NotImplemented
    grouped = query.ndim > 3 and query.shape[-3] != key.shape[-3]
    return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, scale=scale, enable_gqa=grouped)


def _kernel(name: str) -> Any:
    if torch.compiler.is_compiling():
        from labdl.backends.torch import recurrent_kernels

        return getattr(recurrent_kernels, name)
    return getattr(torch, name)


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    if lengths is not None or not x.shape[1]:
        return NotImplemented
    size = recurrent_kernel.shape[0]
    zeros = x.new_zeros(1, x.shape[0], size)
    state = (zeros if hidden is None else hidden[None], zeros if cell is None else cell[None])
    weights = [kernel.t(), recurrent_kernel.t(), bias, torch.zeros_like(bias)]
    y, h, c = _kernel("lstm")(
        x.flip(1) if reverse else x, state, weights, True, 1, 0.0, torch.is_grad_enabled(), False, True
    )
    return y.flip(1) if reverse else y, h[0], c[0]


def gru(x, kernel, recurrent_kernel, bias, recurrent_bias, hidden=None, *, lengths=None, reverse=False):
    if lengths is not None or not x.shape[1]:
        return NotImplemented
    state = x.new_zeros(1, x.shape[0], recurrent_kernel.shape[0]) if hidden is None else hidden[None]
    weights = [kernel.t(), recurrent_kernel.t(), bias, recurrent_bias]
    y, h = _kernel("gru")(
        x.flip(1) if reverse else x, state, weights, True, 1, 0.0, torch.is_grad_enabled(), False, True
    )
    return y.flip(1) if reverse else y, h[0]
