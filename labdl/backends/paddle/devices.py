"""Devices of PaddlePaddle."""

import paddle


def devices() -> tuple[str, ...]:
    others = [name if ":" in name else f"{name}:0" for name in paddle.device.get_available_custom_device() or ()]
    return ("cpu", *(f"cuda:{i}" for i in range(paddle.device.cuda.device_count())), *others)


def current_device() -> str:
    return paddle.device.get_device().replace("gpu", "cuda")


def set_device(name: str) -> None:
    """Set the default device of Paddle for new tensors."""
    paddle.device.set_device(name.replace("cuda", "gpu"))


def device_of(value) -> str:
    return str(value.place)[len("Place(") : -1].replace("gpu", "cuda")


def to_device(value, name: str):
    return value.to(name.replace("cuda", "gpu"))
