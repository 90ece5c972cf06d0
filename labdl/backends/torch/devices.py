"""Devices of PyTorch."""

import torch

selected: torch.device | None = None  # None: PyTorch's own default


def devices() -> tuple[str, ...]:
    numbered = [f"{kind}:{i}" for kind in ("cuda", "xpu") for i in range(getattr(torch, kind).device_count())]
    return ("cpu", *numbered, *(["mps"] if torch.backends.mps.is_available() else []))


def current_device() -> str:
    return device_of(torch.empty(0, device=selected))


def set_device(name: str) -> None:
    global selected
    selected = torch.device(name)


def device_of(value) -> str:
    return str(value.device).removesuffix(":0") if value.device.type == "mps" else str(value.device)


def to_device(value, name: str):
    return value.to(name)
