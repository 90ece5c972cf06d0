"""Batch normalization over two processes equals that of the whole batch: values, gradients and running statistics."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from replica_worker import PARTS, SETTINGS, draw

import labdl
from labdl import nn, ops

WORKER = Path(__file__).with_name("replica_worker.py")
ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def commands(name: str, folder: Path) -> list[tuple[list, dict[str, str]]]:
    """Commands that run both processes, each with its environment."""
    python = [sys.executable, WORKER, name]
    if name == "tensorflow":
        return [([*python, "0", folder], {})]
    if name == "mindspore":
        home = Path(sys.executable).parent
        launcher = [home / "msrun", "--worker_num=2", "--local_worker_num=2", "--join=True"]
        options = [f"--master_port={free_port()}", f"--log_dir={folder / 'logs'}"]
        path = os.pathsep.join([str(home), os.environ.get("PATH", "")])  # the launcher looks for "python"
        return [([*launcher, *options, WORKER, name, "0", folder], {"PATH": path})]
    ends = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    return [
        (
            [*python, str(rank), folder],
            {
                "PADDLE_TRAINER_ID": str(rank),
                "PADDLE_TRAINERS_NUM": "2",
                "PADDLE_TRAINER_ENDPOINTS": ",".join(ends),
                "PADDLE_CURRENT_ENDPOINT": ends[rank],
                "PADDLE_DISTRI_BACKEND": "gloo",
            },
        )
        for rank in range(2)
    ]


def run_all(calls) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    running = [
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": path, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for command, more in calls
    ]
    try:
        for process in running:
            printed, _ = process.communicate(timeout=150)
            assert process.returncode == 0, printed[-3000:]
    finally:
        for process in running:
            process.kill()


def whole_batch(backend):
    """Value, gradients and state of BatchNorm on the whole batch."""
    x, factors = draw()
    layer = nn.BatchNorm().build((None, 3, 4), backend=backend.name, seed=0).train()
    layer.load_state_dict(SETTINGS, strict=False)

    def scalar(t, *_):
        return ops.sum(ops.multiply(layer(t), backend.tensor(factors)))

    parameters = [layer.get_parameter(name).value for name in SETTINGS]
    value, gradients = backend.gradients(scalar, [backend.tensor(x), *parameters])
    return float(labdl.to_numpy(value)), [labdl.to_numpy(g) for g in gradients], layer.state_dict()


def compare(folder: Path, backend) -> None:
    value, gradients, state = whole_batch(backend)
    parts = [np.load(folder / f"{rank}.npz") for rank in range(len(PARTS))]
    assert sum(float(p["value"]) for p in parts) == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(np.concatenate([p["gradient0"] for p in parts]), gradients[0], atol=1e-5)
    for at in (1, 2):
        np.testing.assert_allclose(sum(p[f"gradient{at}"] for p in parts), gradients[at], rtol=1e-4, atol=1e-5)
    for part in parts:
        for name in ("moving_mean", "moving_variance"):
            np.testing.assert_allclose(part[name], state[f"{name}:0"], rtol=1e-5, atol=1e-6)


@pytest.mark.sample(False)
@pytest.mark.sample(backends=1)
def test_two_processes_equal_the_whole_batch(backend, tmp_path):
    run_all(commands(backend.name, tmp_path))
    compare(tmp_path, backend)


@pytest.mark.sample(False)
def test_two_compiled_replicas_equal_the_whole_batch(backend, tmp_path):
    if backend.name == "tensorflow":
        run_all([([sys.executable, WORKER, "tensorflow", "1", tmp_path], {})])
        compare(tmp_path, backend)


@pytest.mark.parametrize("settings", [{}, {"affine": False, "momentum": 0.3, "data_format": "channels_last"}], ids=str)
def test_one_process_equals_batch_norm(settings, backend):
    x = draw()[0]
    layers = [cls(**settings).build((None, 3, 4), backend=backend.name) for cls in (nn.SyncBatchNorm, nn.BatchNorm)]
    for training in (True, True, False):
        ours, plain = (labdl.to_numpy(layer.train(training)(backend.tensor(x))) for layer in layers)
        np.testing.assert_array_equal(ours, plain)
    first, second = (layer.state_dict() for layer in layers)
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
