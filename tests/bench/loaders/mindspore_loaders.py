"""MindSpore: decoding, crop and resizing in one operation, in its own threads."""

from pathlib import Path

import mindspore.dataset as ds
from loaders import work
from mindspore.dataset import vision


def loaders(folder: Path):
    ds.config.set_num_parallel_workers(work.WORKERS)
    rows = ds.ImageFolderDataset(str(folder / "pictures"), shuffle=True, num_parallel_workers=work.WORKERS)
    operations = [
        vision.RandomCropDecodeResize(work.SIZE),
        vision.RandomHorizontalFlip(),
        vision.Normalize([255 * m for m in work.MEAN], [255 * s for s in work.STD]),
        vision.HWC2CHW(),
    ]
    rows = rows.map(operations, "image", num_parallel_workers=work.WORKERS).batch(work.BATCH)
    x, y = work.arrays()
    arrays = ds.NumpySlicesDataset((x, y), shuffle=True).batch(work.ROWS_OF_A_BATCH)

    def epoch(dataset):
        return lambda: work.count(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))

    return {"mindspore": epoch(rows), "arrays: mindspore": epoch(arrays)}
