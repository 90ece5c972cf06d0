"""Copies to a device that run beside its kernels, in a stream of their own."""

from collections.abc import Callable

import torch

from labdl.backends.torch import devices, tensors

_streams: dict[torch.device, torch.Stream] = {}


def copy_ahead(array) -> Callable[[], torch.Tensor]:
    """Start the copy of an array to the current device; the returned function gives the tensor to the current stream.

    The copy is made from pinned memory, without which CUDA copies while the caller waits. The allocator keeps both memories
    until the streams that use them have come by.
    """
    device = torch.empty(0, device=devices.selected).device
    on_device = torch.get_device_module(device)
    stream = _streams.get(device)
    if stream is None:
        stream = _streams[device] = on_device.Stream()
    with on_device.stream(stream):
        if device.type == "cpu" or not (array.flags.c_contiguous and array.flags.writeable):
            copied = tensors.tensor(array)
        else:
            copied = torch.from_numpy(array).pin_memory().to(device, non_blocking=True)

    def wait() -> torch.Tensor:
        current = on_device.current_stream()
        current.wait_stream(stream)
        if device.type != "cpu":
            copied.record_stream(current)
        return copied

    return wait
