"""What recording a run and showing it live adds to training, in a notebook's kernel.

    python tests/bench/recording.py torch [--pairs 20] [--only mlp]

The same training, `Trainer.fit` in a thread with nothing recorded and `Trainer.start` with its files and a dashboard that
is sent every event through the kernel's own connection, take turns; each of a few seconds, the dashboard's start and end
included. Printed is the median processor time of a step of both, threads counted, and the median extra of a pair with its
standard error: single pairs differ by 10 % on a machine at rest. Then the time of a step by the clock, of the run and of
`Trainer.fit` where a cell calls it, which a small model can tell apart: see `rest_threads` of `labdl.backends`.
"""

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

SECONDS = 3.0


def compare(backend: str, pairs: int, only: list[str]) -> None:
    """Runs in the kernel."""
    import numpy as np
    import train_step

    import labdl
    from labdl import lab

    labdl.use(backend)
    for name in only or ("mlp", "cnn", "block", "lstm"):
        model, shape = train_step.MODELS[name]()
        draw = np.random.default_rng(0)
        data = labdl.data.ArrayDataset(
            draw.normal(size=(shape[0] * 16, *shape[1:])).astype("float32"), draw.integers(0, 10, shape[0] * 16)
        )
        trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(1e-4), seed=0, batch_size=shape[0])
        trainer.fit(data, progress=False)
        began = time.perf_counter()
        trainer.fit(data, epochs=2, progress=False)
        epochs = max(2, round(SECONDS / (time.perf_counter() - began) * 2))

        def plain(trainer=trainer, data=data, epochs=epochs):
            # in a thread as a run is: steps there cost less than in the main thread of a kernel
            thread = threading.Thread(target=trainer.fit, args=(data,), kwargs={"epochs": epochs, "progress": False})
            thread.start()
            thread.join()

        def recorded(trainer=trainer, data=data, epochs=epochs):
            with tempfile.TemporaryDirectory() as folder:
                run = trainer.start(data, epochs=epochs, folder=Path(folder) / "run")
                dashboard = lab.Dashboard(run)
                run.wait()
                dashboard.close()

        def cell(trainer=trainer, data=data, epochs=epochs):
            trainer.fit(data, epochs=epochs, progress=False)

        spent, clock = {plain: [], recorded: []}, {cell: [], recorded: []}
        order = random.Random(0)
        for _ in range(pairs):
            for function in order.sample([plain, recorded, cell], 3):
                began, began_clock = time.process_time(), time.perf_counter()
                function()
                for times, passed in ((spent, time.process_time() - began), (clock, time.perf_counter() - began_clock)):
                    if function in times:
                        times[function].append(passed / epochs / 16)
        without, with_ = (statistics.median(times) for times in spent.values())
        extras = [b / a - 1 for a, b in zip(*spent.values(), strict=True)]
        error = 1.25 * statistics.stdev(extras) / pairs**0.5  # of a median
        print(
            f"  {name:6} {without * 1e3:8.3f} ms a step, recorded and shown {with_ * 1e3:8.3f} ms: "
            f"{statistics.median(extras):+.1%} ± {error:.1%}; by the clock "
            f"{statistics.median(clock[recorded]) * 1e3:.3f} ms, in the cell itself "
            f"{statistics.median(clock[cell]) * 1e3:.3f} ms",
            flush=True,
        )


def main() -> None:
    from jupyter_client.manager import start_new_kernel

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", default=[], help="models, such as mlp cnn block lstm")
    options = parser.parse_args()
    manager, client = start_new_kernel()
    folder = str(Path(__file__).parent)
    code = f"""import sys; sys.path.insert(0, {folder!r})
import recording; recording.compare({options.backend!r}, {options.pairs}, {options.only})"""

    def shown(message):
        content = message["content"]
        if message["msg_type"] == "stream":
            (sys.stdout if content["name"] == "stdout" else sys.stderr).write(content["text"])
            sys.stdout.flush()
        elif message["msg_type"] == "error":
            sys.exit("\n".join(content["traceback"]))

    print(f"{options.backend}: Trainer.fit in a thread against Trainer.start with files and a dashboard", flush=True)
    try:
        client.execute_interactive(code, output_hook=shown)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
