"""The loader's share of a training: processor time of a batch beside that of a step of ResNet-18, and of a resume."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import labdl
from labdl import data
from labdl.data import transforms as T

BATCH = 16


def resume() -> None:
    """Print the processor time to the first batch at position 10 million, of one epoch or of eight."""
    sample = {"label": 0}
    for samples, shuffle in ((1_281_167, True), (10_240_000, False), (10_240_000, True)):
        loader = data.SampleDataset(lambda i: sample, length=samples).loader(32, shuffle=shuffle, workers=0)
        epoch, position = divmod(10_000_000, samples)
        spent = []
        for _ in range(3):
            began = time.process_time()
            next(iter(loader.epoch(epoch, start=position // 32)))
            spent.append(time.process_time() - began)
        name = "shuffled" if shuffle else "in order"
        print(f"  resume at sample 10,000,000, {name}, epochs of {samples:,}: {min(spent):.3f} s")


def training(backend: str, rounds: int, write_pictures) -> None:
    """Print the share of the loader, files to batches of 16 × 3 × 224 × 224, in the processor time of steps of ResNet-18."""
    labdl.use(backend)
    with tempfile.TemporaryDirectory() as folder:
        write_pictures(Path(folder), 64)
        augment = [
            T.RandomResizedCrop(224),
            T.HorizontalFlip(),
            T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
        loader = data.ImageFolder(Path(folder) / "pictures").map(augment).loader(BATCH, shuffle=True, workers=0)
        trainer = labdl.Trainer(
            labdl.models.create("resnet18", classes=4), optimizer=labdl.train.SGD(0.01), backend=backend, seed=0
        )
        x = np.random.default_rng(0).normal(size=(BATCH, 3, 224, 224)).astype("float32")
        y = np.arange(BATCH) % 4
        loading, steps = [], []
        for turn in range(rounds + 1):
            began = time.process_time()
            batches = sum(1 for _ in loader.epoch(turn))
            between = time.process_time()
            trainer.train_one_batch(x, y)
            if turn:
                loading.append((between - began) / batches)
                steps.append(time.process_time() - between)
    ratio = statistics.median(a / b for a, b in zip(loading, steps, strict=True))
    mine, step = statistics.median(loading) * 1e3, statistics.median(steps) * 1e3
    print(f"  {backend:11} loader {mine:7.1f} ms a batch   step of ResNet-18 {step:8.1f} ms   {ratio:6.2%} of the step")
