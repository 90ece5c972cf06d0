"""What looking on at a training costs: pace, rate and alerts for each step, layers and predictions as a share of the time.

    python tests/bench/observation.py torch [--seconds 20]

The first is taken from steps that compute nothing, with and without somebody who looks on, as processor time. The second is
what the budgets of a real training of images of digits have counted, and how many bytes the events have.
"""

import argparse
import itertools
import time
from collections import Counter

STEPS, ROUNDS = 100_000, 7


def each_step(trainer, data) -> float:
    """Seconds that a step takes longer, its update being timed as in backends whose updates are calls of their own."""
    from labdl.train import Step
    from labdl.train.monitor.monitor import Observation

    trainer.fit(data, progress=False)
    context, state, progress = trainer.context, trainer.state, trainer.progress

    def nothing(_):
        return None

    def taken(observed: bool) -> float:
        update = state.update_time.timed(nothing) if observed else nothing
        observation = Observation(context, state, progress, train=data, validation=None, share=0.0)
        steps = itertools.count(1)

        def make(batch):
            update(batch)
            return Step(next(steps), {"loss": 1.0})

        def events():
            batches = range(STEPS)
            for batch in observation.waiting(batches) if observed else batches:
                if observed:
                    yield from observation.step(make, batch)
                else:
                    yield make(batch)

        began = time.process_time()
        for _ in events():
            pass
        return (time.process_time() - began) / STEPS

    rounds = [(taken(False), taken(True)) for _ in range(ROUNDS)]
    return min(b for _, b in rounds) - min(a for a, _ in rounds)


def shares(trainer, train, held, seconds: float) -> None:
    """Train for a while, and print what was counted."""
    import orjson

    from labdl.train import Epoch, Started, Step
    from labdl.train.events import to_record

    kinds, sizes, began = Counter(), Counter(), time.perf_counter()
    for event in trainer.events(train, validation=held, epochs=100, health=0.01):
        kind = type(event).__name__
        kinds[kind] += 1
        if not isinstance(event, Started | Step | Epoch):
            sizes[kind] += len(orjson.dumps(to_record(event)))
        if isinstance(event, Epoch) and time.perf_counter() - began > seconds:
            trainer.loop.ask_to_stop()
    passed, observation = time.perf_counter() - began, trainer.loop.observation
    meter, onlooker = observation.meter, observation.onlooker
    layers, histograms = meter.budget.spent / passed, meter.histograms.budget.spent / passed
    print(
        f"  {passed:.1f} s, {kinds['Step']:,} steps, {kinds['Epoch']} epochs: layers {layers:.2%} of the time, of which "
        f"histograms {histograms:.2%}; looking on at {onlooker.count} validations {onlooker.spent / passed:.2%}"
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
