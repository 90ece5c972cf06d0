"""Reader of the Oxford-IIIT pets: pictures of breeds, with a mask of the animal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.annotations.objects import read_picture
from labdl.data.codecs.image import decode_image
from labdl.data.dataset import Dataset
from labdl.data.parts import Mask
from labdl.errors import DataError, FileFormatError


class OxfordPets(Dataset):
    """Cats and dogs of 37 breeds: samples ``{"image", "label"}``, or ``{"image", "mask", "label"}`` with ``masks=True``.

    Masks number the pixels of the animal 0, of the background 1, of the border between 2 (1, 2 and 3 in the files).
    ``folder`` of the pictures has ``images``, that of the annotations ``annotations``.
    """

    inputs = ("image",)

    def __init__(self, split: str, images: Path, annotations: Path, *, masks: bool = False):
        self.images, self.annotations, self.masks = images / "images", annotations / "annotations", masks
        self.name, self.targets = f"Oxford-IIIT Pet ({split})", ("mask",) if masks else ("label",)
        self.names: list[str] = []
        self._labels: list[int] = []
        classes: dict[int, str] = {}
        file = self.annotations / f"{split}.txt"
        for number, line in enumerate(read_file(file, 1 << 24, "list").decode("utf-8", "replace").splitlines(), 1):
            name, *values = line.split() or ["#"]
            if name.startswith("#"):
                continue
            try:
                label = int(values[0]) - 1
            except (IndexError, ValueError):
                label = -1
            if label < 0 or "_" not in name:
                raise FileFormatError(
                    f"{file.name}, line {number} wants a name and a class number, received {line!r:.80}"
                )
            self.names.append(name)
            self._labels.append(label)
            classes[label] = name.rpartition("_")[0].replace("_", " ")
        self.classes = [classes.get(n, str(n)) for n in range(max(classes, default=-1) + 1)]

    def __len__(self) -> int:
        return len(self.names)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        name = self.names[index]
        image = read_picture(self.images / f"{name}.jpg", self.images)
        sample: dict[str, Any] = {"image": image, "label": self._labels[index]}
        if self.masks:
            mask = decode_image(self.annotations / "trimaps" / f"{name}.png", "unchanged")
            if mask.canvas != image.canvas or mask.shape[-1] != 1 or mask.min() < 1:
                raise DataError(
                    f"the mask of {name} has the shape {mask.shape}, its picture {image.shape}, or values of 0"
                )
            sample["mask"] = Mask(mask.array[..., 0] - 1)
        return sample

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self.masks else self._labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self.masks else np.array(self._labels, np.int64)
