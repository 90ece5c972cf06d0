"""System metrics of a training: processor, memory and GPUs, and the versions of the software."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil

from labdl.framework_info import metadata_version


class SystemMonitor:
    """Samples the load of this process and of the computer; errors of a GPU driver are never raised.

    GPUs are the NVIDIA GPUs that the process may use by CUDA_VISIBLE_DEVICES, if nvidia-ml-py and a driver are installed.
    The driver numbers them by their position on the bus, while CUDA may put the fastest first: with different GPUs in one
    computer the numbers agree if CUDA_DEVICE_ORDER=PCI_BUS_ID.
    """

    def __init__(self):
        self._process = psutil.Process()
        self._gpus = _Gpus()
        self._process.cpu_percent()  # both measure since the last call; the first call returns 0
        psutil.cpu_percent()

    def sample(self) -> dict[str, Any]:
        """Fields of a ``system`` event: load in percent since the last call, memory in bytes (docs/runs.md)."""
        return {
            "cpu": self._process.cpu_percent(),
            "memory": self._process.memory_info().rss,
            "cpu_total": psutil.cpu_percent(),
            "memory_used": psutil.virtual_memory().used,
            "gpus": self._gpus.sample(),
        }


def environment(backend: str | None) -> dict[str, Any]:
    """Versions of the software and properties of the computer, for the start event of a run (docs/runs.md)."""
    return {
        "python": platform.python_version(),
        "labdl": sys.modules["labdl"].__version__,
        "framework": backend and metadata_version(backend),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=True),
        "memory": psutil.virtual_memory().total,
        "gpus": _Gpus().names(),
    }


def _processor() -> str:
    """Name of the processor; on some systems only its architecture is known."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:  # another system than Linux
        names = []
    return names[0] if names else platform.processor() or platform.machine()


class _Gpus:
    """The GPUs of this process by NVIDIA's management library; empty without the library or a driver."""

    def __init__(self):
        self._nvml: Any = None
        self._handles: list[Any] = []
        try:
            import pynvml
        except ImportError:
            return
        self._nvml = pynvml
        if self._query(pynvml.nvmlInit, missing=False) is False:  # no driver
            return
        count = self._query(pynvml.nvmlDeviceGetCount) or 0
        handles = [self._query(pynvml.nvmlDeviceGetHandleByIndex, i) for i in range(count)]
        self._handles = [h for h in self._visible(handles) if h is not None]

    def sample(self) -> list[dict[str, Any]]:
        return [self._sample(handle) for handle in self._handles]

    def names(self) -> list[dict[str, Any]]:
        gpus = []
        for handle in self._handles:
            memory = self._query(self._nvml.nvmlDeviceGetMemoryInfo, handle)
            name = _text(self._query(self._nvml.nvmlDeviceGetName, handle))
            gpus.append({"name": name, "memory": memory and memory.total})
        return gpus

    def _sample(self, handle: Any) -> dict[str, Any]:
        nvml = self._nvml
        use = self._query(nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = self._query(nvml.nvmlDeviceGetMemoryInfo, handle)
        programs = self._query(nvml.nvmlDeviceGetComputeRunningProcesses, handle) or []
        # None where the driver does not report it
        own = [p.usedGpuMemory for p in programs if p.pid == os.getpid() and p.usedGpuMemory]
        return {"use": use and use.gpu, "memory": own[0] if own else None, "memory_used": memory and memory.used}

    def _visible(self, handles: list[Any]) -> list[Any]:
        """Select handles as CUDA reads CUDA_VISIBLE_DEVICES: numbers and prefixes of UUIDs, up to the first invalid one."""
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
        if wanted is None:
            return handles
        visible: list[Any] = []
        for word in map(str.strip, wanted.split(",")):
            if word.isdecimal() and int(word) < len(handles):
                visible.append(handles[int(word)])
                continue
            matches = [
                h
                for h in handles
                if h is not None
                and word.startswith("GPU-")
                and _text(self._query(self._nvml.nvmlDeviceGetUUID, h)).startswith(word)
            ]
            if len(matches) != 1:
                break
            visible += matches
        return visible

    def _query(self, function: Callable[..., Any], *arguments: Any, missing: Any = None) -> Any:
        """Call a function of NVML; returns ``missing`` if it fails, as for a lost GPU or an unsupported counter."""
        try:
            return function(*arguments)
        except Exception:  # an error of the driver must not end a training
            return missing


def _text(value: Any) -> str:
    """Decode a text, which older versions of the library return as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""
