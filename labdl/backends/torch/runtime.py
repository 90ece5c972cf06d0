"""PyTorch tensors, variables, gradients and training steps."""

import torch

from labdl.spec import Spec

_DTYPES = {str(d).removeprefix("torch."): d for d in (
    torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128,
)}  # fmt: skip


def dtype(name: str) -> torch.dtype:
    return _DTYPES[name]


def copy(value):
    return value.clone()


def from_dlpack(value):
    return torch.from_dlpack(value)


def spec_of(value) -> Spec:
    return Spec(tuple(value.shape), str(value.dtype).removeprefix("torch."))


_device: torch.device | None = None  # None: PyTorch's own default


def devices() -> tuple[str, ...]:
    numbered = [f"{kind}:{i}" for kind in ("cuda", "xpu") for i in range(getattr(torch, kind).device_count())]
    return ("cpu", *numbered, *(["mps"] if torch.backends.mps.is_available() else []))


def current_device() -> str:
    return device_of(torch.empty(0, device=_device))


def set_device(name: str) -> None:
    global _device
    _device = torch.device(name)


def device_of(value) -> str:
    return str(value.device).removesuffix(":0") if value.device.type == "mps" else str(value.device)


def to_device(value, name: str):
    return value.to(name)


def tensor(array):
    if _bfloat16(array):
        return torch.tensor(array.view("int16"), device=_device).view(torch.bfloat16)
    return torch.tensor(array, device=_device)


def _bfloat16(array) -> bool:
    """Whether it is an array of NumPy's bfloat16, of which PyTorch can read the bits alone."""
    return getattr(getattr(array, "dtype", None), "kind", "") == "V"


def to_numpy(value):
    value = value.detach().resolve_conj().resolve_neg()
    return (value.float() if value.dtype == torch.bfloat16 else value).cpu().numpy()


def seed(value: int) -> None:
    torch.manual_seed(value)


def variable(array, trainable: bool = True):
    # torch.tensor alone forgets an order by columns
    value = tensor(array) if array.flags.c_contiguous else tensor(array.T).permute(*reversed(range(array.ndim)))
    return torch.nn.Parameter(value) if trainable else torch.nn.Buffer(value)


def assign(target, array) -> None:
    with torch.no_grad():
        target.copy_(tensor(array) if _bfloat16(array) else torch.as_tensor(array))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not torch.isfinite(v).all()), None)


def clear_gradients(variables) -> None:
    for v in variables:
        v.grad = None


def gradients(function, values):
    leaves = [v.detach().requires_grad_() if not isinstance(v, torch.nn.Parameter) else v for v in values]
    result = function(*leaves)
    return result.detach(), torch.autograd.grad(result, leaves, allow_unused=True, materialize_grads=True)


def set_trainable(variable, flag: bool) -> None:
    variable.requires_grad_(flag)
    variable.grad = None


def move_variable(value, device: str):
    made = value.detach().to(device)
    return (
        torch.nn.Parameter(made, value.requires_grad)
        if isinstance(value, torch.nn.Parameter)
        else torch.nn.Buffer(made)
    )


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, functions, *tensors):
        results = functions[0](*tensors)
        ctx.pull = functions[1]
        ctx.save_for_backward(*tensors)
        return results

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.pull(gradients, ctx.saved_tensors)


def with_gradient(forward, pull):
    def call(*tensors):
        return _WithGradient.apply((forward, pull), *tensors)

    return call
