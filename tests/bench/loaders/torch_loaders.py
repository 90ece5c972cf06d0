"""PyTorch: the kernels of torchvision.transforms.v2 (resizing of uint8 with antialias) and libjpeg-turbo as its decoder."""

from pathlib import Path

import numpy as np
import simplejpeg
import torch
from loaders import work
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, TensorDataset

torch.set_num_threads(1)


class Pictures(Dataset):
    def __init__(self, folder):
        self.paths, self.labels = work.paths(folder), work.labels(folder)
        self.mean, self.std = (torch.tensor(v)[:, None, None] for v in (work.MEAN, work.STD))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = torch.from_numpy(simplejpeg.decode_jpeg(Path(self.paths[index]).read_bytes())).permute(2, 0, 1)
        rng = np.random.default_rng(int(torch.randint(1 << 62, ())))
        top, left, height, width = work.random_crop(rng, *picture.shape[1:])
        crop = picture[None, :, top : top + height, left : left + width]
        crop = F.interpolate(crop, (work.SIZE, work.SIZE), mode="bilinear", antialias=True)[0]
        if rng.random() < 0.5:
            crop = crop.flip(-1)
        return crop.float().mul_(1 / 255).sub_(self.mean).div_(self.std).contiguous(), self.labels[index]


def loaders(folder: Path):
    x, y = map(torch.from_numpy, work.arrays())
    rows = TensorDataset(x, y)
    sampler = BatchSampler(RandomSampler(rows), work.ROWS_OF_A_BATCH, False)

    def pictures(workers):
        loader = DataLoader(
            Pictures(folder), work.BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0
        )
        return lambda: work.count(loader)

    arrays = DataLoader(rows, sampler=sampler, batch_size=None)
    return {
        "torch": pictures(work.WORKERS),
        "torch, 0 workers": pictures(0),
        "arrays: torch": lambda: work.count(arrays),
    }
