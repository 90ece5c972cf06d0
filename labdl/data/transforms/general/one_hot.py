"""Class numbers as rows of zeros with a one."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from labdl.data.transforms.transform import Transform, transform
from labdl.errors import DataError
from labdl.settings import Share


@transform({"num_classes": 10})
class OneHot(Transform):
    """Make float32 rows (…, num_classes) of class numbers: 1 for the class, 0 for others.

    The numbers are ``key`` of a dictionary, the second item of a tuple such as (image, label), or the sample itself.
    ``smoothing`` spreads a part of the 1 over all classes. Source: mindspore.dataset.transforms.OneHot; tf.one_hot.
    """

    num_classes: Annotated[int, Ge(1)]
    key: str = "label"
    smoothing: Share = 0.0

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if isinstance(sample, dict):
            if self.key not in sample:
                raise DataError(
                    f"OneHot wants the part {self.key!r}, the sample has: {', '.join(map(str, sample)):.200}"
                )
            return {**sample, self.key: self._rows(sample[self.key])}
        if isinstance(sample, tuple | list) and len(sample) > 1:
            return type(sample)([sample[0], self._rows(sample[1]), *sample[2:]])
        return self._rows(sample)

    def _rows(self, labels: Any) -> np.ndarray:
        rows = one_hot(labels, self.num_classes, "OneHot")
        return rows * np.float32(1 - self.smoothing) + np.float32(self.smoothing / self.num_classes)


def one_hot(labels: Any, num_classes: int, name: str) -> np.ndarray:
    """Rows (…, num_classes) of class numbers. Raises DataError for others than 0 to num_classes - 1."""
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iub" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < num_classes):
        raise DataError(f"{name} wants class numbers from 0 to {num_classes - 1}, received {labels!r:.100}")
    return np.equal(numbers.astype("int64")[..., None], np.arange(num_classes)).astype("float32")
