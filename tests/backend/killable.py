"""Trainings in processes that can be killed, forked from one process that has imported everything."""

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

from interrupted import BATCH, DATA, comparable, trainer

import labdl
from labdl.train import Checkpoint, Step
from labdl.train.checkpoint import latest

EPOCHS = 5  # of 5 steps, more than a training runs until it is killed


class Children:
    """Starts a training in a folder, kills it, or waits for its end; one at a time."""

    def __init__(self, backend, folder):
        self.arguments = [sys.executable, __file__, backend]
        self.folder = folder

    def __enter__(self):
        self.server = subprocess.Popen(self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.finish(self.folder / "first")  # imports everything
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.communicate()

    def start(self, folder):
        """Start a training, or resume the one in the folder."""
        folder.mkdir(exist_ok=True)
        self.server.stdin.write(f"{folder}\n")
        self.server.stdin.flush()
        self.pid = self._read("pid")

    def kill_at(self, step, delay):
        """kill -9 some time after a step; returns False if the training has ended before."""
        reached = 0
        while reached is not None and reached < step:
            reached = self._read("step", "ended")
        if reached is None:
            return False
        time.sleep(delay)
        os.kill(self.pid, signal.SIGKILL)
        self._read("ended")
        return True

    def finish(self, folder):
        """The state at the end of a training that is started or resumed and not killed."""
        self.start(folder)
        self._read("ended")
        with open(folder / "end.pickle", "rb") as file:
            return pickle.load(file)

    def _read(self, *kinds):
        """The number in the next line of a kind, None at the end."""
        while True:
            word, _, rest = self.server.stdout.readline().partition(" ")
            assert word not in ("", "error"), rest or "the server has ended"
            if word in kinds:
                return None if word == "ended" else int(rest)


def start_or_resume(name, folder):
    """Start a training, or resume it with other seeds, which must have no effect."""
    started = latest(folder) is not None
    labdl.seed(77 if started else 3)
    # compilation on MindSpore takes too long here; other tests cover resuming with compiled steps
    compiled = False if name == "mindspore" else None
    subject = trainer(labdl.backends.get(name), seed=50 if started else 1, compiled=compiled)
    checkpoint = Checkpoint(folder, every=1)
    return subject, subject.events(
        DATA, validation=DATA, epochs=EPOCHS, batch_size=BATCH, checkpoint=checkpoint, resume=True
    )


def write_line(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # one atomic write


def child(name, folder):
    write_line("pid", os.getpid())
    subject, events = start_or_resume(name, folder)
    for event in events:
        if isinstance(event, Step):
            write_line("step", event.step)
    with open(folder / "end.pickle", "wb") as file:
        pickle.dump(comparable(subject), file)
    with open(folder / "imported", "w") as file:
        file.write("\n".join(sys.modules))


def serve(name):
    """Fork a child for each line that names a folder."""
    if name == "mindspore":
        os.environ["GLOG_v"] = "3"  # silent  # noqa: SIM112
        import mindspore  # noqa: F401  # not its backend, which starts threads, and a fork loses them
    else:
        labdl.backends.get(name)
    for line in sys.stdin:
        folder = Path(line.strip())
        pid = os.fork()
        if not pid:
            try:
                child(name, folder)
            except BaseException as error:
                write_line("error", repr(error))
            os._exit(0)
        os.waitpid(pid, 0)
        if (folder / "imported").exists():
            for module in (folder / "imported").read_text().split():
                if not module.startswith("labdl.backends."):
                    with contextlib.suppress(ImportError):  # some are not importable by name
                        importlib.import_module(module)
        write_line("ended", 0)


if __name__ == "__main__":
    serve(sys.argv[1])
