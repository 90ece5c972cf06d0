"""Paddle: its transforms of Pillow pictures."""

from pathlib import Path

import paddle
from loaders import work
from paddle.io import DataLoader, Dataset, TensorDataset
from paddle.vision import transforms
from PIL import Image


class Pictures(Dataset):
    def __init__(self, folder):
        super().__init__()
        self.paths, self.labels = work.paths(folder), work.labels(folder)
        self.transform = transforms.Compose(
            [
                transforms.RandomResizedCrop(work.SIZE),
                transforms.RandomHorizontalFlip(),
                transforms.Transpose(),
                transforms.Normalize([255 * m for m in work.MEAN], [255 * s for s in work.STD]),
            ]
        )

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.transform(Image.open(self.paths[index]).convert("RGB")), self.labels[index]


def loaders(folder: Path):
    x, y = work.arrays()
    rows = TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)])

    def pictures(workers):
        settings = {"num_workers": workers, "persistent_workers": workers > 0, "use_shared_memory": False}
        loader = DataLoader(Pictures(folder), batch_size=work.BATCH, shuffle=True, **settings)
        return lambda: work.count(loader)

    arrays = DataLoader(rows, batch_size=work.ROWS_OF_A_BATCH, shuffle=True)
    return {
        "paddle": pictures(work.WORKERS),
        "paddle, 0 workers": pictures(0),
        "arrays: paddle": lambda: work.count(arrays),
    }
