"""Trainings in processes that come and go, forked from one that has imported all they need: killed at any moment."""

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

from interrupted import BATCH, DATA, told, trainer

import labdl
from labdl.train import Checkpoint, Step
from labdl.train.checkpoint import latest

EPOCHS = 5  # of 5 steps, far more than are made in the moments between a step and a kill


class Children:
    """Begins a training in a folder, kills it, or waits for its end; one at a time."""

    def __init__(self, backend, folder):
        self.arguments = [sys.executable, __file__, backend]
        self.folder = folder

    def __enter__(self):
        self.server = subprocess.Popen(self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.finish(self.folder / "first")  # after which nothing is left to import
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.communicate()

    def begin(self, folder):
        """Begin a training, or go on with the one that the folder holds."""
        folder.mkdir(exist_ok=True)
        self.server.stdin.write(f"{folder}\n")
        self.server.stdin.flush()
        self.pid = self._hear("pid")

    def kill_at(self, step, delay):
        """kill -9 some time after a step; whether there was still something to kill."""
        heard = 0
        while heard is not None and heard < step:
            heard = self._hear("step", "ended")
        if heard is None:
            return False
        time.sleep(delay)
        os.kill(self.pid, signal.SIGKILL)
        self._hear("ended")
        return True

    def finish(self, folder):
        """The state at the end of a training that begins, or goes on, and is left alone."""
        self.begin(folder)
        self._hear("ended")
        with open(folder / "end.pickle", "rb") as file:
            return pickle.load(file)

    def _hear(self, *kinds):
        """The number in the next line of a kind, None where it is the end."""
        while True:
            word, _, rest = self.server.stdout.readline().partition(" ")
            assert word not in ("", "error"), rest or "the server is no more"
            if word in kinds:
                return None if word == "ended" else int(rest)


def lines(name, folder):
    """The same lines begin and go on; what goes on has other seeds, of which nothing must be seen."""
    begun = latest(folder) is not None
    labdl.seed(77 if begun else 3)
    # compiling each part anew would be all that MindSpore does; resumed steps that are compiled have tests of their own
    compiled = False if name == "mindspore" else None
    subject = trainer(labdl.backends.get(name), seed=50 if begun else 1, compiled=compiled)
    checkpoint = Checkpoint(folder, every=1)
    return subject, subject.events(
        DATA, validation=DATA, epochs=EPOCHS, batch_size=BATCH, checkpoint=checkpoint, resume=True
    )


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())  # whole or not at all


def child(name, folder):
    say("pid", os.getpid())
    subject, events = lines(name, folder)
    for event in events:
        if isinstance(event, Step):
            say("step", event.step)
    with open(folder / "end.pickle", "wb") as file:
        pickle.dump(told(subject), file)
    with open(folder / "imported", "w") as file:
        file.write("\n".join(sys.modules))


def serve(name):
    """Fork a child for each line that names a folder."""
    if name == "mindspore":
        os.environ["GLOG_v"] = "3"  # silent  # noqa: SIM112
        import mindspore  # noqa: F401  # no more: its backend computes when it is loaded, and a fork loses the threads of that
    else:
        labdl.backends.get(name)
    for line in sys.stdin:
        folder = Path(line.strip())
        pid = os.fork()
        if not pid:
            try:
                child(name, folder)
            except BaseException as error:
                say("error", repr(error))
            os._exit(0)
        os.waitpid(pid, 0)
        if (folder / "imported").exists():
            for module in (folder / "imported").read_text().split():
                if not module.startswith("labdl.backends."):
                    with contextlib.suppress(ImportError):  # some are only names in sys.modules
                        importlib.import_module(module)
        say("ended", 0)


if __name__ == "__main__":
    serve(sys.argv[1])
