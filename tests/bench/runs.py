"""How quick the folders of runs are: recording into one, opening a long one, listing many.

    python tests/bench/runs.py [open] [list] [record] [picture]

The files are those that a training writes: a line five times a second with the steps since the last one.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from labdl import runs
from labdl.runs.reading.event_file import EVENTS, encode
from labdl.runs.reading.summary import Summary
from labdl.runs.schema import parse

STEPS_A_LINE = 200  # a step a millisecond


def made(folder: Path, steps: int, names=("accuracy",), ended=True) -> Path:
    """A run of so many steps with the loss and these figures, ten epochs and their validation."""
    folder.mkdir(parents=True)
    draw, summary, now = np.random.default_rng(0), Summary(higher=names), time.time() - steps / 1000
    x = np.arange(1, steps + 1)
    columns = {"loss": 2 * np.exp(-3 * x / steps) + draw.normal(0, 0.05, steps)}
    columns |= {name: 1 - np.exp(-3 * x / steps) + draw.normal(0, 0.05, steps) for name in names}
    columns = {name: column.astype("float32").astype("float64") for name, column in columns.items()}
    an_epoch = -(-steps // 10)
    with open(folder / EVENTS, "wb") as file:

        def tell(kind, **values):
            event = {"kind": kind, "time": now + done / 1000, **values}
            summary.update(parse(event))
            file.write(encode([event]))

        done = 0
        tell(
            "start",
            version=2,
            id=folder.name,
            pid=0,
            host="bench",
            model="ResNet",
            backend="torch",
            epochs=10,
            step=0,
            steps_per_epoch=an_epoch,
            batch_size=32,
            samples=32 * an_epoch,
            loss="cross_entropy",
            optimizer="adam",
            metrics=list(names),
            parameters=11_689_512,
            settings={"learning_rate": 1e-3, "seed": 0},
        )
        tell("rate", step=[0], value=[1e-3])
        while done < steps:
            end = min(steps, done + STEPS_A_LINE, (done // an_epoch + 1) * an_epoch)
            part, done = slice(done, end), end
            tell("steps", step=x[part].tolist(), **{name: column[part].tolist() for name, column in columns.items()})
            if not done % an_epoch or done == steps:
                figures = {
                    name: float(column[max(0, done - an_epoch) : done].mean()) for name, column in columns.items()
                }
                figures |= {f"val_{name}": value * 1.05 for name, value in figures.items()}
                tell("epoch", epoch=-(-done // an_epoch), step=done, **figures, samples_per_second=32_000.0)
        if ended:
            tell("end", status="finished", message=None, summary=summary.to_dict())
    return folder


def timed(function, *arguments):
    began = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - began


def bench_open(folder: Path) -> None:
    """A run of a million steps."""
    path = made(folder / "long", 1_000_000)
    size = (path / EVENTS).stat().st_size
    record, seconds = min((timed(runs.open, path) for _ in range(3)), key=lambda pair: pair[1])
    print(f"open {record.step:,} steps, {size / 1e6:.0f} MB: {seconds:.2f} s")


def bench_list(folder: Path) -> None:
    """Two hundred runs that are over and twenty that are lost, looked at once and again."""
    for number in range(200):
        made(folder / "many" / f"run-{number:03d}", 20_000)
    for number in range(20):
        made(folder / "many" / f"lost-{number:03d}", 20_000, ended=False)
    catalog = runs.Catalog(folder / "many")
    found, cold = timed(catalog.look, None)
    _, warm = min((timed(catalog.look) for _ in range(5)), key=lambda pair: pair[1])
    print(f"list {len(found)} runs: {cold * 1e3:.0f} ms at first, {warm * 1e3:.1f} ms when nothing has changed")


def bench_record(folder: Path) -> None:
    """What a step costs the thread that trains, and what its summary costs the one that writes."""
    from labdl.train.run.event_writer import Recorder

    recorder, calls = Recorder(folder / "recorded"), 200_000
    rows = [{"loss": step / 7, "accuracy": 0.9} for step in range(calls)]
    thread, process = time.thread_time(), time.process_time()
    for step, values in enumerate(rows):
        recorder.add_step(step, values)
    thread = time.thread_time() - thread
    recorder.close()
    process = time.process_time() - process
    print(
        f"record a step: {thread / calls * 1e6:.2f} µs, {process / calls * 1e6:.2f} µs with writing it (processor time)"
    )


def bench_picture(folder: Path) -> None:
    """The static picture that a saved notebook keeps."""
    for count in (2, 6):
        for steps in (1, 1000, 1_000_000):
            names = [f"metric_{i}" for i in range(count)]
            record = runs.open(made(folder / f"picture-{count}-{steps}", steps, names))
            svg, seconds = timed(record.to_svg)
            print(f"picture of {steps:,} steps, {count} metrics: {len(svg.encode()):,} bytes in {seconds * 1e3:.0f} ms")


BENCHES = {"open": bench_open, "list": bench_list, "record": bench_record, "picture": bench_picture}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benches", nargs="*", choices=[[], *BENCHES], help="all if none is named")
    for name in parser.parse_args().benches or BENCHES:
        with tempfile.TemporaryDirectory() as folder:
            BENCHES[name](Path(folder))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
