"""System metrics and the environment of a run, with a fake of NVIDIA's library that follows its documentation."""

import os
import sys
import time
from types import SimpleNamespace

import pytest

import labdl
from labdl.train.monitor import system_stats
from labdl.train.monitor.system_stats import SystemMonitor, environment


class NVMLError(Exception):
    pass


def driver(count=2, **failing):
    """A fake of pynvml with ``count`` GPUs; functions in ``failing`` raise that error."""

    def get(name, answer):
        def function(*given):
            if name in failing:
                raise failing[name]
            return answer(*given)

        return function

    mine = SimpleNamespace(pid=os.getpid(), usedGpuMemory=300)
    unknown = SimpleNamespace(pid=os.getpid() + 1, usedGpuMemory=None)
    functions = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: count,
        "nvmlDeviceGetHandleByIndex": lambda i: i,
        "nvmlDeviceGetUtilizationRates": lambda h: SimpleNamespace(gpu=10 + h, memory=1),
        "nvmlDeviceGetMemoryInfo": lambda h: SimpleNamespace(total=1000 + h, used=500 + h, free=500),
        "nvmlDeviceGetComputeRunningProcesses": lambda h: [unknown, mine] if h == 0 else [],
        "nvmlDeviceGetName": lambda h: b"NVIDIA A" if h == 0 else f"NVIDIA {h}",
        "nvmlDeviceGetUUID": lambda h: f"GPU-{h}{h}aa-bb",
    }
    return SimpleNamespace(NVMLError=NVMLError, **{name: get(name, answer) for name, answer in functions.items()})


@pytest.fixture
def gpus(monkeypatch):
    def install(*given, visible=None, **failing):
        monkeypatch.setitem(sys.modules, "pynvml", driver(*given, **failing))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        return SystemMonitor().sample()["gpus"]

    return install


def test_sample_of_this_process():
    start, before = time.perf_counter(), time.process_time()
    monitor = SystemMonitor()
    assert sum(i * i for i in range(2_000_000))
    sample = monitor.sample()
    share = (time.process_time() - before) / (time.perf_counter() - start)  # on a busy machine far below 1
    assert set(sample) == {"cpu", "memory", "cpu_total", "memory_used", "gpus"}
    assert 0.2 * share < sample["cpu"] / 100 < 5 * share, "of one core, since the monitor was created"
    assert 0 <= sample["cpu_total"] <= 100
    assert 2**20 < sample["memory"] < sample["memory_used"] * 2


def test_all_gpus_are_sampled(gpus):
    assert gpus() == [{"use": 10, "memory": 300, "memory_used": 500}, {"use": 11, "memory": None, "memory_used": 501}]


@pytest.mark.parametrize(
    ("visible", "used"),
    [
        ("", []),
        ("1", [501]),
        ("1,0", [501, 500]),
        ("GPU-11", [501]),
        ("0,7,1", [500]),
        ("-1", []),
        ("GPU-", []),
        ("x", []),
    ],
)
def test_cuda_visible_devices_selects_gpus(visible, used, gpus):
    assert [g["memory_used"] for g in gpus(visible=visible)] == used


def test_unsupported_counter_is_null(gpus):
    lost = NVMLError("Not Supported")
    assert gpus(nvmlDeviceGetUtilizationRates=lost, nvmlDeviceGetComputeRunningProcesses=lost)[0] == {
        "use": None,
        "memory": None,
        "memory_used": 500,
    }
    assert gpus(nvmlDeviceGetHandleByIndex=lost) == []


@pytest.mark.parametrize("error", [NVMLError("Driver Not Loaded"), OSError("no library"), RuntimeError("mismatch")])
def test_no_gpus_without_a_driver(error, gpus):
    assert gpus(nvmlInit=error) == []


def test_no_gpus_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert SystemMonitor().sample()["gpus"] == []


def test_environment(gpus, monkeypatch):
    gpus()
    values = environment("torch")
    assert values["labdl"] == labdl.__version__
    assert values["gpus"] == [{"name": "NVIDIA A", "memory": 1000}, {"name": "NVIDIA 1", "memory": 1001}]
    assert values["cores"] == os.cpu_count()
    assert values["memory"] > 2**28
    assert all(
        isinstance(values[key], str) and values[key]
        for key in ("python", "numpy", "platform", "processor", "framework")
    )
    monkeypatch.setattr(system_stats, "metadata_version", lambda name: None)
    assert environment("numpy")["framework"] is None
