"""Grain, which has no transforms of pictures: libjpeg-turbo decodes, and Pillow resizes with antialias."""

from pathlib import Path

import grain
import numpy as np
import simplejpeg
from loaders import work
from PIL import Image


def loaders(folder: Path):
    paths, labels = work.paths(folder), work.labels(folder)
    mean, std = np.float32(work.MEAN), np.float32(work.STD)
    scale, shift = 1 / (255 * std), mean / std

    def read(index, rng):
        picture = simplejpeg.decode_jpeg(Path(paths[index]).read_bytes())
        top, left, height, width = work.random_crop(rng, *picture.shape[:2])
        crop = Image.fromarray(np.ascontiguousarray(picture[top : top + height, left : left + width]))
        crop = np.array(crop.resize((work.SIZE, work.SIZE), Image.Resampling.BILINEAR))
        if rng.random() < 0.5:
            crop = crop[:, ::-1]
        return (crop * scale - shift).transpose(2, 0, 1), labels[index]

    def pictures():
        rows = grain.MapDataset.range(len(paths)).shuffle(seed=0).seed(0).random_map(read)
        batches = rows.to_iter_dataset(grain.ReadOptions(num_threads=work.WORKERS)).batch(work.BATCH)
        return work.count(batches)

    x, y = work.arrays()

    def arrays():
        rows = grain.MapDataset.range(len(x)).shuffle(seed=0).map(lambda i: (x[i], y[i]))
        return work.count(rows.to_iter_dataset().batch(work.ROWS_OF_A_BATCH))

    return {"grain": pictures, "arrays: grain": arrays}
