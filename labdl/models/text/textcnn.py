"""TextCNN: convolutions over word vectors for the classification of sentences (Kim, 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec


class TextCNN(nn.Module):
    """Convolutions of several widths, each with its maximum over time: tokens (N, steps) to logits (N, classes).

    ``channels`` is the number of channels of each of the ``widths``; a text needs as many steps as the largest width. With
    ``classes=None`` it gives the features before the head.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        vocabulary: int = 18766,
        features: int = 300,
        *,
        classes: int | None = 2,
        widths: Sequence[int] = (3, 4, 5),
        channels: int = 100,
        rate: float = 0.5,
    ):
        self.words = nn.Embedding(vocabulary, features)
        self.convolutions = nn.ModuleList([nn.Conv1d(channels, kernel_size=width) for width in widths])
        self.dropout = nn.Dropout(rate)
        self.head = None if classes is None else nn.Linear(classes)

    def forward(self, tokens):
        x = ops.permute_dims(self.words(tokens), (0, 2, 1))
        x = ops.concat([ops.max(ops.relu(convolution(x)), axis=-1) for convolution in self.convolutions], axis=-1)
        x = self.dropout(x)
        return x if self.head is None else self.head(x)


TextCNN.public_names = public_weights.PublicNames(
    (
        public_weights.Group(public_weights.embedding("embed", "words"), needed=True),
        public_weights.Group(public_weights.convolution("convs.{}", "convolutions/{}", axes=1), needed=True),
        public_weights.Group(public_weights.linear("fc", "head")),
    )
)


def from_torch(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of the common PyTorch TextCNN with layers ``embed``, ``convs`` and ``fc``.

    Raises StateDictError naming what is missing or unexpected.
    """
    return TextCNN.public_names.from_public(weights)


def _small() -> tuple[TextCNN, tuple[Spec, ...]]:
    return TextCNN(20, 8, channels=4), (Spec((None, 6), "int64"),)


@zoo.register(
    "text classification",
    inputs=zoo.tokens(64),
    parameters=5_990_702,
    paper="https://arxiv.org/abs/1408.5882",
    from_public=from_torch,
    small=_small,
)
def textcnn(
    vocabulary: int = 18766, features: int = 300, classes: int | None = 2, channels: int = 100, rate: float = 0.5
) -> TextCNN:
    """TextCNN: convolutions of widths 3, 4 and 5 over word vectors (Kim, 2014)."""
    return TextCNN(vocabulary, features, classes=classes, channels=channels, rate=rate)
