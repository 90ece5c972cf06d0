"""LabDL, and the libraries beneath it."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import simplejpeg
from loaders import work

from labdl import data
from labdl.data import transforms as T


def loaders(folder: Path):
    files = [Path(p).read_bytes() for p in work.paths(folder)]
    epochs = itertools.count()
    x, y = work.arrays()

    threads = ThreadPoolExecutor(work.WORKERS)

    def decode():
        """In as many threads as the loaders have: two threads of one core take more processor time than one."""

        def every(start):
            for file in files[start :: work.WORKERS]:
                simplejpeg.decode_jpeg(file)

        list(threads.map(every, range(work.WORKERS)))
        return len(files)

    def pictures(workers, antialias=True, **settings):
        crop = T.RandomResizedCrop(work.SIZE, antialias=antialias)
        augment = [crop, T.HorizontalFlip(), T.Normalize(work.MEAN, work.STD)]
        dataset = data.ImageFolder(folder / "pictures", **settings).map(augment)
        loader = dataset.loader(work.BATCH, shuffle=True, workers=workers)

        def epoch():
            return sum(len(batch["image"]) for batch in loader.epoch(next(epochs)))

        return epoch

    def gather():
        order = np.random.default_rng(next(epochs)).permutation(len(x))
        for start in range(0, len(x), work.ROWS_OF_A_BATCH):
            indices = order[start : start + work.ROWS_OF_A_BATCH]
            x[indices], y[indices]
        return len(x)

    arrays = data.ArrayDataset(x, y).loader(work.ROWS_OF_A_BATCH, shuffle=True)
    return {
        "bare decode": decode,
        "labdl": pictures(work.WORKERS),
        "labdl, 0 workers": pictures(0),
        "labdl, fast": pictures(work.WORKERS, False, fast=True),
        "labdl, fast, min_size": pictures(work.WORKERS, False, fast=True, min_size=(work.SIZE * 3 // 4,) * 2),
        "arrays: NumPy gather": gather,
        "arrays: labdl": lambda: work.count(arrays.epoch(next(epochs))),
    }
