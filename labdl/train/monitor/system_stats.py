"""The machine on which a training runs: processor, memory and GPUs, and what is installed on it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import psutil

from labdl.framework_info import metadata_version


class Machine:
    """Looks at what this process and the computer have to do; nothing that a driver says of it ever raises an error.

    GPUs are those of NVIDIA that the process may use, by CUDA_VISIBLE_DEVICES; they are there where nvidia-ml-py and a driver
    are. The driver counts them by their places on the bus, CUDA may put the fastest first: of different ones in a computer
    the order is the same with CUDA_DEVICE_ORDER=PCI_BUS_ID.
    """

    def __init__(self):
        self._process = psutil.Process()
        self._gpus = _Gpus()
        self._process.cpu_percent()  # both tell of the time since the call before, and nothing at the first
        psutil.cpu_percent()

    def sample(self) -> dict[str, Any]:
        """An event ``system``: percent and bytes since the last call and now (docs/runs.md)."""
        return {
            "cpu": self._process.cpu_percent(),
            "memory": self._process.memory_info().rss,
            "cpu_total": psutil.cpu_percent(),
            "memory_used": psutil.virtual_memory().used,
            "gpus": self._gpus.sample(),
        }


def environment(backend: str | None) -> dict[str, Any]:
    """On what a run was made: versions, and the computer (docs/runs.md)."""
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
    """NVIDIA's management library for the GPUs of this process; none where something is missing."""

    def __init__(self):
        self._nvml: Any = None
        self._handles: list[Any] = []
        try:
            import pynvml
        except ImportError:
            return
        self._nvml = pynvml
        if self._asked(pynvml.nvmlInit, missing=False) is False:  # no driver
            return
        count = self._asked(pynvml.nvmlDeviceGetCount) or 0
        found = [self._asked(pynvml.nvmlDeviceGetHandleByIndex, i) for i in range(count)]
        self._handles = [h for h in self._visible(found) if h is not None]

    def sample(self) -> list[dict[str, Any]]:
        return [self._of(handle) for handle in self._handles]

    def names(self) -> list[dict[str, Any]]:
        found = []
        for handle in self._handles:
            memory = self._asked(self._nvml.nvmlDeviceGetMemoryInfo, handle)
            name = _text(self._asked(self._nvml.nvmlDeviceGetName, handle))
            found.append({"name": name, "memory": memory and memory.total})
        return found

    def _of(self, handle: Any) -> dict[str, Any]:
        nvml = self._nvml
        use = self._asked(nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = self._asked(nvml.nvmlDeviceGetMemoryInfo, handle)
        programs = self._asked(nvml.nvmlDeviceGetComputeRunningProcesses, handle) or []
        # None where the driver cannot tell
        own = [p.usedGpuMemory for p in programs if p.pid == os.getpid() and p.usedGpuMemory]
        return {"use": use and use.gpu, "memory": own[0] if own else None, "memory_used": memory and memory.used}

    def _visible(self, handles: list[Any]) -> list[Any]:
        """As CUDA reads its variable: numbers and the beginnings of identities, up to the first that is none."""
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
        if wanted is None:
            return handles
        found: list[Any] = []
        for word in map(str.strip, wanted.split(",")):
            if word.isdecimal() and int(word) < len(handles):
                found.append(handles[int(word)])
                continue
            named = [
                h
                for h in handles
                if h is not None
                and word.startswith("GPU-")
                and _text(self._asked(self._nvml.nvmlDeviceGetUUID, h)).startswith(word)
            ]
            if len(named) != 1:
                break
            found += named
        return found

    def _asked(self, function: Callable[..., Any], *given: Any, missing: Any = None) -> Any:
        """Value from the NVML library, or ``missing`` if it is unavailable: a GPU may be lost or lack the counter."""
        try:
            return function(*given)
        except Exception:  # of a driver, which must never be what ends a training
            return missing


def _text(value: Any) -> str:
    """Former versions of the library give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""
