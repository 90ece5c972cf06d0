"""PyTorch tensors, data types and variables."""

import torch

from labdl.backends.torch import devices
from labdl.spec import Spec

_DTYPES = {
    str(d).removeprefix("torch."): d
    for d in (
        torch.bool,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.uint8,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    )
}


checking_values = torch._C.DisableTorchFunction  # a recording of calls leaves out what is read for a check alone


def dtype(name: str) -> torch.dtype:
    return _DTYPES[name]


def copy(value):
    return value.clone()


def from_dlpack(value, copy=None):
    return torch.from_dlpack(value)


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), str(value.dtype).removeprefix("torch."))


def key_of(value) -> tuple:
    return value.shape, value.dtype


def tensor(array):
    if _bfloat16(array):
        return torch.tensor(array.view("int16"), device=devices.selected).view(torch.bfloat16)
    return torch.tensor(array, device=devices.selected)


def _bfloat16(array) -> bool:
    """Whether it is an array of NumPy's bfloat16, of which PyTorch can read the bits alone."""
    return getattr(getattr(array, "dtype", None), "kind", "") == "V"


def to_numpy(value):
    value = value.detach().resolve_conj().resolve_neg()
    return (value.float() if value.dtype == torch.bfloat16 else value).cpu().numpy()


def variable(array, trainable: bool = True):
    # torch.tensor alone forgets an order by columns
    value = tensor(array) if array.flags.c_contiguous else tensor(array.T).permute(*reversed(range(array.ndim)))
    return torch.nn.Parameter(value) if trainable else torch.nn.Buffer(value)


def assign(target, array) -> None:
    with torch.no_grad():
        target.copy_(tensor(array) if _bfloat16(array) else torch.as_tensor(array))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not torch.isfinite(v).all()), None)


def move_variable(value, device: str):
    made = value.detach().to(device)
    return (
        torch.nn.Parameter(made, value.requires_grad)
        if isinstance(value, torch.nn.Parameter)
        else torch.nn.Buffer(made)
    )
