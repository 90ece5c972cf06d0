"""The computer under a run. GPUs are those of a library that behaves as NVIDIA's documentation says: none was at hand."""

import os
import sys
from types import SimpleNamespace

import pytest

import labdl
from labdl.train.monitor import system_stats
from labdl.train.monitor.system_stats import Machine, environment


class NVMLError(Exception):
    pass


def driver(count=2, **failing):
    """pynvml with so many GPUs; what is named here fails."""

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
        return Machine().sample()["gpus"]

    return install


def test_the_figures_of_this_process():
    watched = Machine()
    spent = sum(i * i for i in range(2_000_000))
    sample = watched.sample()
    assert spent
    assert set(sample) == {"cpu", "memory", "cpu_total", "memory_used", "gpus"}
    assert sample["cpu"] > 20, "of one core, since the machine is watched"
    assert 0 <= sample["cpu_total"] <= 100
    assert 2**20 < sample["memory"] < sample["memory_used"] * 2


def test_gpus_as_they_are(gpus):
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
def test_only_those_that_the_process_may_use(visible, used, gpus):
    assert [g["memory_used"] for g in gpus(visible=visible)] == used


def test_what_a_driver_does_not_know_is_null(gpus):
    lost = NVMLError("Not Supported")
    assert gpus(nvmlDeviceGetUtilizationRates=lost, nvmlDeviceGetComputeRunningProcesses=lost)[0] == {
        "use": None,
        "memory": None,
        "memory_used": 500,
    }
    assert gpus(nvmlDeviceGetHandleByIndex=lost) == []


@pytest.mark.parametrize("error", [NVMLError("Driver Not Loaded"), OSError("no library"), RuntimeError("mismatch")])
def test_without_a_driver_there_are_none(error, gpus):
    assert gpus(nvmlInit=error) == []


def test_without_the_library_there_are_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert Machine().sample()["gpus"] == []


def test_the_environment(gpus, monkeypatch):
    gpus()
    told = environment("torch")
    assert told["labdl"] == labdl.__version__
    assert told["gpus"] == [{"name": "NVIDIA A", "memory": 1000}, {"name": "NVIDIA 1", "memory": 1001}]
    assert told["cores"] == os.cpu_count()
    assert told["memory"] > 2**28
    assert all(
        isinstance(told[key], str) and told[key] for key in ("python", "numpy", "platform", "processor", "framework")
    )
    monkeypatch.setattr(system_stats, "metadata_version", lambda name: None)
    assert environment("numpy")["framework"] is None
