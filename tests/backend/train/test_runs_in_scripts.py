"""Runs in scripts and notebooks: end of the program, log output, Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel
from runs import WAIT

import labdl
from labdl.train.checkpoint import latest

SCRIPT = """
import sys, numpy as np, labdl
from labdl import nn, train
from labdl.train import progress_bar
name, folder = sys.argv[1:]
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", backend=name, seed=1)
progress_bar.SECONDS = 0.0
trainer.fit(x, x[:, :1], epochs=2, batch_size=16)
trainer = train.Trainer(nn.Sequential(nn.Linear(1)), loss="mean_squared_error", optimizer="sgd", backend=name, seed=1)
run = trainer.start(x, x[:, :1], epochs=1_000_000, batch_size=8, folder=folder, save_to=folder + "/net.npz",
                    checkpoint=train.Checkpoint(folder + "/kept", every=1_000_000))
while not (run.folder / "events.jsonl").stat().st_size or trainer.progress.step < 20:
    pass
print("the last line", flush=True)
"""


@pytest.fixture(scope="module")
def script(backend, tmp_path_factory):
    """A script whose output goes to a pipe: it trains in the foreground, starts a run, and ends."""
    folder = tmp_path_factory.mktemp("script") / "run"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, backend.name, str(folder)],
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=True,
    )
    return done, folder


@pytest.mark.sample(False)
def test_end_of_a_script_stops_and_saves_its_run(script):
    done, folder = script
    assert "the last line" in done.stdout
    assert "the program ends: run run is stopped after the current step" in done.stderr
    assert "Traceback" not in done.stderr
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert (events[-1]["kind"], events[-1]["status"], events[-1]["message"]) == ("end", "stopped", None)
    last = [e["step"][-1] for e in events if e["kind"] == "steps"][-1]
    assert latest(folder / "kept").name.startswith(f"step-{last:08d}")
    kept = labdl.load_parameters(latest(folder / "kept") / "model.npz")
    saved = labdl.load_parameters(folder / "net.npz")
    assert all(np.array_equal(value, kept[name]) for name, value in saved.items())


@pytest.mark.sample(False)
def test_progress_in_a_pipe_is_plain_lines(script):
    done, _ = script
    assert "\r" not in done.stderr + done.stdout
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  "
    lines = [line for line in done.stderr.splitlines() if re.match(stamp, line)]
    assert len(lines) == 12, "one for the start, eight steps, two epochs and the end"
    assert re.fullmatch(
        stamp + r"step 6/8  loss \d+\.\d{4}  0:00:\d\d so far, 0:00:\d\d left  epoch 1/2: loss .* samples/s", lines[7]
    ), lines
    assert re.fullmatch(stamp + r"ended at step 8 after 0:00:\d\d  epoch 2/2: loss .* samples/s", lines[-1])


CELLS = """
import json, pathlib, time, numpy as np, labdl
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
def start(epochs, folder):
    model = nn.Sequential(nn.Linear(1))
    trainer = train.Trainer(model, loss="mean_squared_error", optimizer="sgd", backend=BACKEND, seed=1)
    return trainer.start(x, x[:, :1], epochs=epochs, batch_size=8, folder=FOLDER + folder)
began = time.time()
run = start(1_000_000, "/one")
print(run.alive, run.status)
# ---
done = set()
while len(done) < 3:  # the run continues while a cell computes
    done.update(run.history)
    done.update(range(len(run.history.get("loss", ()))))
other = start(2, "/two").wait()
print(len(other.history["loss"]), run.alive)
# ---
control = pathlib.Path(FOLDER + "/one/control")
(control / ".stop").write_text(json.dumps({"command": "stop"}))
(control / ".stop").rename(control / "stop.json")
while run.alive:  # the command is executed while the kernel is busy
    pass
print(run.wait().status)
"""


def test_run_in_a_notebook(backend, tmp_path, kernel):
    cells = CELLS.replace("BACKEND", repr(backend.name)).replace("FOLDER", repr(str(tmp_path))).split("# ---\n")
    assert [kernel.run(cell) for cell in cells] == ["True running\n", "2 True\n", "stopped\n"]


PREPARED = """
import os, signal, sys, threading, time
import numpy as np
from labdl import nn, train
signal.signal(signal.SIGINT, signal.default_int_handler)
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
trainer = train.Trainer(nn.Linear(1), loss="mean_squared_error", optimizer="sgd", backend=sys.argv[1], seed=1)
trainer.train_one_batch(x, x[:, :1])

def send(sent, seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), sent)).start()

def fit(disturb):
    def later(event):  # after compilation, also on a slow machine
        if isinstance(event, train.Step) and event.step == 12:
            disturb()
    try:
        trainer.fit(x, x[:, :1], epochs=1_000_000, progress=False, callbacks=[later])
    except KeyboardInterrupt:
        print("interrupted")
"""

INTERRUPTED = (
    PREPARED
    + """
def interrupted_sleep():
    send(signal.SIGINT, 0.5)
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        return True

fit(lambda: send(signal.SIGINT, 0.5))
print("fit", trainer.progress.step > 10)
run = trainer.start(x, x[:, :1], epochs=1_000_000, folder=sys.argv[2])
pause = 6 if sys.argv[1] == "mindspore" else 0.5  # longer than the interval in which MindSpore merges signals
time.sleep(pause)
print("beside a run", interrupted_sleep(), run.status)
run.stop()
run.wait(60)
time.sleep(pause)
print("afterwards", interrupted_sleep(), run.status, flush=True)
"""
)


@pytest.mark.sample(False)
def test_ctrl_c_interrupts_the_foreground_only(backend, tmp_path):
    """MindSpore's compiled functions take SIGINT over and end the process."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, backend.name, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.stdout.splitlines() == [
        "Stopped. The model keeps its current parameters.",
        "interrupted",
        "fit True",
        "beside a run True running",
        "afterwards True stopped",
    ], done.stderr


TWICE = (
    PREPARED
    + """
fit(lambda: (send(signal.SIGINT, 0.3), send(signal.SIGINT, 0.5)))
try:
    time.sleep(1)  # the second one may come after the training
    print("slept")
except KeyboardInterrupt:
    print("slept")
print(np.isfinite(trainer.model.state_dict()["kernel:0"]).all(), trainer.train_one_batch(x, x[:, :1])["loss"] < 10)
"""
)


@pytest.mark.sample(False)
def test_ctrl_c_pressed_twice_leaves_the_script_and_the_model(backend):
    done = subprocess.run([sys.executable, "-c", TWICE, backend.name], capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr
    stopped = "Stopped. The model keeps its current parameters."
    assert done.stdout.splitlines() == [stopped, "interrupted", "slept", "True True"]


@pytest.mark.sample(False)
def test_stop_button_pressed_twice_leaves_the_kernel(backend):
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=WAIT)
    try:
        prepared = PREPARED.replace("sys.argv[1]", repr(backend.name))
        client.execute_interactive(prepared, output_hook=lambda _: None, timeout=WAIT)
        client.execute("fit(lambda: print('trains', flush=True))\nfitted = trainer.progress.step")
        while (message := client.get_iopub_msg(timeout=WAIT))["content"].get("text") != "trains\n":
            assert message["msg_type"] != "error", message["content"]
        manager.interrupt_kernel()
        time.sleep(0.3)
        manager.interrupt_kernel()
        reply = client.execute_interactive(
            "assert fitted >= 12 and trainer.train_one_batch(x, x[:, :1])['loss'] < 10", timeout=WAIT
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        assert manager.is_alive()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.sample(False)
@pytest.mark.backends("mindspore")
def test_many_sigterms_end_the_process(backend):
    """The first ones, during a compiled step, are those that MindSpore sends when Ctrl-C is pressed."""
    code = (
        PREPARED
        + """
fit(lambda: send(signal.SIGTERM, 0.5))
print("stopped", flush=True)
for _ in range(20):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
    except KeyboardInterrupt:
        pass
time.sleep(30)
"""
    )
    done = subprocess.run([sys.executable, "-c", code, backend.name], capture_output=True, text=True, timeout=WAIT)
    assert (done.stdout.splitlines()[-1], done.returncode) == ("stopped", -signal.SIGTERM), done.stderr
