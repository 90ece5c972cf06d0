"""Cost of monitoring a training: throughput, rate and alerts for each step, layers and predictions as a share of the time.

    python tests/bench/observation.py torch [--seconds 20]

The former is measured as processor time of steps that compute nothing, with and without the monitor. The latter is what the
budgets of a training on images of digits have counted; the sizes of the events are printed too.
"""

import argparse
import itertools
import time
from collections import Counter

STEPS, ROUNDS = 100_000, 7


def each_step(trainer, data) -> float:
    """Additional seconds per step; the update is timed, as on backends that call the optimizer separately."""
    from labdl.train import Step
    from labdl.train.monitor.monitor import TrainingMonitor

    trainer.fit(data, progress=False)
    context, state, progress = trainer.context, trainer.state, trainer.progress

    def nothing(_):
        return None

    def step_seconds(observed: bool) -> float:
        update = state.update_time.wrap(nothing) if observed else nothing
        monitor = TrainingMonitor(context, state, progress, train=data, validation=None, share=0.0)
        steps = itertools.count(1)

        def make(batch):
            update(batch)
            return Step(next(steps), {"loss": 1.0})

        def events():
            batches = range(STEPS)
            for batch in monitor.time_batches(batches) if observed else batches:
                if observed:
                    yield from monitor.run_step(make, batch)
                else:
                    yield make(batch)

        began = time.process_time()
        for _ in events():
            pass
        return (time.process_time() - began) / STEPS

    rounds = [(step_seconds(False), step_seconds(True)) for _ in range(ROUNDS)]
    return min(b for _, b in rounds) - min(a for a, _ in rounds)


def shares(trainer, train, held, seconds: float) -> None:
    """Train for some seconds and print the costs and sizes of the events."""
    import orjson

    from labdl.train import Epoch, Start, Step
    from labdl.train.events import to_record

    kinds, sizes, began = Counter(), Counter(), time.perf_counter()
    for event in trainer.events(train, validation=held, epochs=100, health=0.01):
        kind = type(event).__name__
        kinds[kind] += 1
        if not isinstance(event, Start | Step | Epoch):
            sizes[kind] += len(orjson.dumps(to_record(event)))
        if isinstance(event, Epoch) and time.perf_counter() - began > seconds:
            trainer.loop.request_stop()
    passed, monitor = time.perf_counter() - began, trainer.loop.monitor
    layer_monitor, validation = monitor.layer_monitor, monitor.validation_monitor
    layers, histograms = layer_monitor.budget.spent / passed, layer_monitor.histograms.budget.spent / passed
    print(
        f"  {passed:.1f} s, {kinds['Step']:,} steps, {kinds['Epoch']} epochs: layers {layers:.2%} of the time, of which "
        f"histograms {histograms:.2%}; monitoring {validation.count} validations {validation.spent / passed:.2%}"
    )
    print("  " + ", ".join(f"{kind} {kinds[kind]} ({sizes[kind] / 1e3:.1f} kB)" for kind in sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()

    import labdl
    from labdl import nn

    labdl.use(options.backend)
    train, held = labdl.data.digits()

    def trainer():
        model = nn.Sequential(
            nn.Conv2d(16, 3, padding="same"),
            nn.ReLU(),
            nn.Conv2d(16, 3, padding="same"),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(10),
        )
        return labdl.Trainer(model, metrics=["accuracy"], seed=0)

    print(f"{options.backend}: a step {each_step(trainer(), train) * 1e6:.2f} µs", flush=True)
    shares(trainer(), train, held, options.seconds)


if __name__ == "__main__":
    main()
