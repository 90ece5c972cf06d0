"""PyTorch's random numbers."""

from typing import Any

import numpy as np
import torch

from labdl.backends.torch import devices
from labdl.backends.torch.tensors import dtype


def seed(value: int) -> None:
    torch.manual_seed(value)


def random_uniform(shape, low, high, name):
    return torch.empty(shape, dtype=dtype(name), device=devices.selected).uniform_(low, high)


def random_normal(shape, mean, std, name):
    return torch.empty(shape, dtype=dtype(name), device=devices.selected).normal_(mean, std)


def random_integers(shape, low, high, name):
    return torch.randint(low, high, shape, dtype=dtype(name), device=devices.selected)


def random_permutation(n):
    return torch.randperm(n, device=devices.selected)


def random_uniform_like(x, low=0.0, high=1.0):
    return torch.empty_like(x).uniform_(low, high)


def random_normal_like(x, mean=0.0, std=1.0):
    return torch.empty_like(x).normal_(mean, std)


def _of_valid(draw, valid, neutral):
    """A drawing function for the parameters that are valid, NaN for the others: the kernels raise for a whole tensor."""

    def call(x):
        wide = x if x.dtype is torch.float64 else x.float()
        fine = valid(wide)
        return torch.where(fine, draw(torch.where(fine, wide, neutral)), torch.nan).to(x.dtype)

    return call


_INTEGERS = 1e15  # rates from which the kernel's integers are near their end, and a normal distribution is as good


def _poisson(x):
    large = x + torch.sqrt(x) * torch.randn_like(x)
    return torch.where(x < _INTEGERS, torch.poisson(x.clamp(max=_INTEGERS)), large)


poisson = _of_valid(_poisson, lambda x: x >= 0, 0.0)
_gamma = torch._standard_gamma  # pyright: ignore[reportPrivateImportUsage] - torch.distributions samples with it
standard_gamma = _of_valid(_gamma, lambda x: x > 0, 1.0)


def random_state():
    """The bytes of the generator of each kind of device; one that nothing has been drawn on yet is not started for it."""
    state = {"cpu": torch.get_rng_state().numpy()}
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind)
        if module.is_initialized():
            state.update({f"{kind}:{i}": s.numpy() for i, s in enumerate(module.get_rng_state_all())})
    if torch.backends.mps.is_available():
        state["mps"] = torch.mps.get_rng_state().numpy()
    return state


def set_random_state(state) -> None:
    found = {device: np.asarray(value) for device, value in state.items()}
    if "cpu" not in found or any(value.dtype != "uint8" or value.ndim != 1 for value in found.values()):
        raise ValueError("the random state of torch wants the bytes of a generator for 'cpu'")
    for device, value in found.items():
        if device in devices.devices():
            module: Any = torch if device == "cpu" else getattr(torch, device.partition(":")[0])
            tensor = torch.tensor(value)
            module.set_rng_state(tensor, device) if ":" in device else module.set_rng_state(tensor)
