"""What all loaders do: the files, the arrays, and the settings of the transforms."""

from pathlib import Path

import numpy as np

SIZE, BATCH, WORKERS = 224, 32, 2
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
ROWS, ROWS_OF_A_BATCH = 50_000, 128


def paths(folder: Path) -> list[str]:
    return sorted(map(str, (folder / "pictures").rglob("*.jpg")))


def labels(folder: Path) -> list[int]:
    return [int(Path(p).parent.name) for p in paths(folder)]


def arrays() -> tuple[np.ndarray, np.ndarray]:
    """50,000 pictures of 32 × 32 × 3 bytes with labels, as CIFAR-10."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (ROWS, 3, 32, 32), "uint8"), rng.integers(0, 10, ROWS)


def random_crop(rng: np.random.Generator, height: int, width: int) -> tuple[int, int, int, int]:
    """Top, left, height and width as RandomResizedCrop chooses them."""
    for _ in range(10):
        area = height * width * rng.uniform(0.08, 1.0)
        ratio = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1)), h, w
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def count(batches) -> int:
    """Go through the batches of an epoch; the number of samples."""
    return sum(len(batch[0]) for batch in batches)
