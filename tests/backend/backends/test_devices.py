"""Where a backend makes tensors and variables. The names are LabDL's; what lists the devices is each framework's own."""

import subprocess
import sys
import types

import numpy as np
import pytest

import labdl
from labdl.errors import BackendError

ARRAY = np.arange(6, dtype="float32").reshape(2, 3)


def test_there_is_a_cpu_and_it_can_be_chosen(backend):
    assert "cpu" in backend.devices()
    assert labdl.device(backend=backend.name) in backend.devices()
    assert labdl.device("cpu", backend=backend.name) == "cpu"
    for made in (backend.tensor(ARRAY), backend.variable(ARRAY), backend.variable(ARRAY, trainable=False)):
        assert labdl.backends.device_of(made) == "cpu"
        np.testing.assert_array_equal(backend.to_numpy(labdl.backends.to_device(made, "cpu")), ARRAY)


def test_an_absent_device_is_refused_with_what_there_is(backend):
    there = ", ".join(backend.devices())
    with pytest.raises(BackendError, match=f"{backend.name} has no device 'nowhere:9' here: it has {there}$"):
        labdl.device("nowhere:9", backend=backend.name)
    with pytest.raises(BackendError, match="no device 'nowhere'"):
        labdl.backends.to_device(backend.tensor(ARRAY), "nowhere")
    assert labdl.device(backend=backend.name) == "cpu"


def test_accelerators_have_the_same_names_on_every_framework(backend, monkeypatch):
    """As if there were two of them: only what counts them is replaced."""

    def count(owner, function):
        monkeypatch.setattr(owner, function, lambda *_: 2)

    pretend = {
        "torch": lambda m: count(m.cuda, "device_count"),
        "paddle": lambda m: count(m.device.cuda, "device_count"),
        "mindspore": lambda m: monkeypatch.setattr(m.hal, "device_count", lambda kind: 2 if kind == "GPU" else 0),
        "tensorflow": lambda m: monkeypatch.setattr(
            m.config,
            "list_physical_devices",
            lambda kind=None: [
                types.SimpleNamespace(device_type=k) for k in ("CPU", "GPU", "GPU") if kind in (None, k)
            ],
        ),
    }
    native = __import__(backend.name)
    pretend[backend.name](native)
    assert backend.devices() == ("cpu", "cuda:0", "cuda:1")


# A second place to compute that needs no hardware: another CPU of TensorFlow's, PyTorch's device without values.
ELSEWHERE = {
    "tensorflow": """
import tensorflow as tf
halves = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], halves)
import labdl
from labdl.backends.tensorflow import devices
devices._KINDS, choices = {"CPU": "cuda"}, (None, False, "xla")
""",
    "torch": """
import labdl
import labdl.backends.torch.backend as backend
backend.devices, choices = lambda: ("cpu", "meta"), (None,)
""",
}
STEP = """
import sys
import numpy as np
from labdl import ops
labdl.seed(0)
name, there = sys.argv[1:]
backend = labdl.backends.get(name)
backend.devices = lambda: ("cpu", there)
labdl.use(name, device=there)
weight = backend.variable(np.ones((3, 1), "float32"))
optimizer = backend.optimizer(labdl.train.SGD(0.1, momentum=0.9), [weight])

def forward(x, y):
    output = ops.matmul(ops.dropout(x, 0.5, training=True), weight)
    return ops.mean_squared_error(output, y), output

x, y = labdl.tensor(np.ones((2, 3), "float32")), labdl.tensor(np.ones((2, 1), "float32"))
for compiled in choices:
    loss, output = backend.train_function(forward, optimizer, compiled)(x, y)
    found = {backend.device_of(t) for t in (x, y, weight, loss, output)}
    assert found == {there}, found
"""


@pytest.mark.sample(False)
def test_a_step_computes_on_the_chosen_device(backend):
    """Tensors, variables, the optimizer's state and the results lie there, eager and compiled."""
    if backend.name not in ELSEWHERE:  # Paddle and MindSpore have one switch for all that they make
        assert backend.name in ("paddle", "mindspore")
        return
    program = ELSEWHERE[backend.name] + STEP
    place = {"tensorflow": "cuda:1", "torch": "meta"}[backend.name]
    done = subprocess.run(
        [sys.executable, "-c", program, backend.name, place], capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stderr
