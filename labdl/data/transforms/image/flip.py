"""Mirrored pictures."""

from __future__ import annotations

import numpy as np

from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.pixels import mirror
from labdl.settings import Share


@transform
class HorizontalFlip(Transform):
    """Mirror left and right, with a probability. Source: torchvision.transforms.v2.RandomHorizontalFlip."""

    p: Share = 0.5

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"canvas": part.canvas}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return mirror(image, 1)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return mask[..., ::-1]

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        width = params["canvas"][1]
        return np.stack([width - boxes[:, 2], boxes[:, 1], width - boxes[:, 0], boxes[:, 3]], 1)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        return np.stack([params["canvas"][1] - 1 - points[:, 0], points[:, 1]], 1)

    def mirrors(self, params: Parameters) -> bool:
        return True


@transform
class VerticalFlip(Transform):
    """Mirror top and bottom, with a probability. Source: torchvision.transforms.v2.RandomVerticalFlip."""

    p: Share = 0.5

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return {"canvas": part.canvas}

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return mirror(image, 0)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return mask[..., ::-1, :]

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        height = params["canvas"][0]
        return np.stack([boxes[:, 0], height - boxes[:, 3], boxes[:, 2], height - boxes[:, 1]], 1)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        return np.stack([points[:, 0], params["canvas"][0] - 1 - points[:, 1]], 1)

    def mirrors(self, params: Parameters) -> bool:
        return True
