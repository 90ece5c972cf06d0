"""PyTorch tensors, variables, gradients, optimisers and training steps."""

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
    return torch.tensor(array, device=_device)


def to_numpy(value):
    value = value.detach().resolve_conj().resolve_neg()
    return (value.float() if value.dtype == torch.bfloat16 else value).cpu().numpy()


def seed(value: int) -> None:
    torch.manual_seed(value)


def variable(array, trainable: bool = True):
    value = tensor(array)
    return torch.nn.Parameter(value) if trainable else torch.nn.Buffer(value)


def assign(target, array) -> None:
    with torch.no_grad():
        target.copy_(torch.as_tensor(array))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not torch.isfinite(v).all()), None)


class Optimizer:
    """torch.optim behind LabDL's settings; the fused or for-each kernels cost what native code costs."""

    def __init__(self, native: torch.optim.Optimizer):
        self.native = native

    @property
    def learning_rate(self) -> float:
        return self.native.param_groups[0]["lr"]

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        for group in self.native.param_groups:
            group["lr"] = value


def optimizer(name: str, variables, settings: dict) -> Optimizer:
    rate, decay = settings["learning_rate"], settings["weight_decay"]
    if name == "sgd":
        momentum, nesterov = settings["momentum"], settings["nesterov"]
        return Optimizer(torch.optim.SGD(variables, rate, momentum=momentum, nesterov=nesterov, weight_decay=decay))
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    betas = (settings["beta_1"], settings["beta_2"])
    return Optimizer(kind(variables, rate, betas=betas, eps=settings["epsilon"], weight_decay=decay, fused=True))


def train_function(forward, variables, optimizer: Optimizer, compiled: bool | None = None):
    """Eager by default: on CPUs torch.compile makes training steps slower."""
    native = optimizer.native
    forward = torch.compile(forward) if compiled else forward

    def step(x, y):
        native.zero_grad(set_to_none=True)
        loss, output = forward(x, y)
        loss.backward()
        native.step()
        return loss.detach(), output.detach()

    return step


def evaluate_function(forward, compiled: bool | None = None):
    forward = torch.compile(forward) if compiled else forward

    def evaluate(*inputs):
        with torch.inference_mode():
            return forward(*inputs)

    return evaluate


def gradients(function, values):
    leaves = [v.detach().requires_grad_() if not isinstance(v, torch.nn.Parameter) else v for v in values]
    result = function(*leaves)
    return result.detach(), torch.autograd.grad(result, leaves, allow_unused=True, materialize_grads=True)
