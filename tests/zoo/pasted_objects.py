"""Pictures with objects whose boxes and masks are known: a flower and a temple, cut from photographs, on parts of others."""

from collections.abc import Sequence

import cv2
import numpy as np
from sklearn.datasets import load_sample_images

from labdl import data

CLASSES = ("temple", "flower")
_OUTLINE = [(205, 30), (222, 60), (318, 122), (328, 180), (325, 235), (92, 235), (86, 180), (98, 122), (190, 60)]


class PastedObjects(data.Dataset):
    """Pictures (height, width) with up to ``most`` objects of some ``classes``, which overlap little; drawn by the seed.

    Every eighth picture has no object. Samples have "image", "boxes", "labels" and "masks".
    """

    inputs, targets = ("image",), ("boxes", "labels")

    def __init__(
        self,
        count: int,
        size: tuple[int, int] = (96, 96),
        *,
        seed: int = 0,
        most: int = 3,
        classes: Sequence[str] = CLASSES,
    ):
        self.count, self.size, self.start, self.most = count, size, seed, most
        self.classes, self.name = list(classes), "pasted objects"
        self.kinds = [name for name in CLASSES if name in self.classes]
        photographs = load_sample_images().images
        cut = dict(zip(CLASSES, map(_cut, photographs, _shapes()), strict=True))
        self.objects = [cut[name] for name in self.kinds]
        temple, flower = photographs
        self.backgrounds = [temple[:120, 330:], temple[230:420, 340:], flower[:110], flower[:, :150]]

    def __len__(self) -> int:
        return self.count

    def read(self, index: int, epoch: int = 0):
        rng = np.random.default_rng((self.start, index))
        picture = self._background(rng)
        taken = np.zeros(self.size, bool)
        boxes, labels, masks = [], [], []
        for _ in range(rng.integers(1, self.most + 1) if index % 8 else 0):
            kind = int(rng.integers(len(self.kinds)))
            placed = self._place(picture, taken, *self.objects[kind], rng)
            if placed is not None:
                boxes.append(placed[0])
                masks.append(placed[1])
                labels.append(self.classes.index(self.kinds[kind]))
        return {
            "image": data.Image(picture),
            "boxes": data.BoundingBoxes(np.reshape(boxes, (-1, 4)), canvas_size=self.size),
            "labels": np.array(labels, "int64"),
            "masks": data.Mask(np.reshape(masks, (-1, *self.size)).astype("uint8")),
        }

    def _background(self, rng: np.random.Generator) -> np.ndarray:
        source = self.backgrounds[rng.integers(len(self.backgrounds))]
        side = int(rng.integers(60, min(source.shape[:2]) + 1))
        top, left = (int(rng.integers(n - side + 1)) for n in source.shape[:2])
        picture = cv2.resize(source[top : top + side, left : left + side], self.size[::-1])
        return np.clip(picture * rng.uniform(0.6, 1.3), 0, 255).astype("uint8")

    def _place(self, picture, taken, colors, outline, rng: np.random.Generator):
        """Paste an object where there is place; its box and its mask, or None."""
        side = rng.uniform(0.3, 0.6) * min(self.size)
        scale = side / max(outline.shape)
        colors, shape = (
            cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) for part in (colors, outline)
        )
        for _ in range(10):
            top, left = (int(rng.integers(n - own + 1)) for n, own in zip(self.size, shape.shape, strict=True))
            area = slice(top, top + shape.shape[0]), slice(left, left + shape.shape[1])
            inside = shape > 127
            if (taken[area] & inside).sum() > 0.05 * inside.sum():
                continue
            mask = np.zeros(self.size, bool)
            mask[area] = inside & ~taken[area]
            picture[mask] = np.clip(colors * rng.uniform(0.8, 1.2), 0, 255)[mask[area]]
            taken |= mask
            rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
            return (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1), mask
        return None


def _shapes() -> list[np.ndarray]:
    """Masks of the temple and of the flower in their photographs, 255 inside."""
    temple, flower = (np.zeros((427, 640), "uint8") for _ in range(2))
    cv2.fillPoly(temple, [np.array(_OUTLINE)], 255)
    cv2.ellipse(flower, (307, 221), (137, 135), 0, 0, 360, 255, -1)
    return [temple, flower]


def _cut(photograph: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
    area = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return photograph[area], mask[area]
