"""Post-processor of models that classify each token, such as named entities and parts of speech."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.infer.postprocess.base import PostProcessor, postprocessor, probabilities, single_array, softmax
from labdl.infer.postprocess.classification import check_names
from labdl.settings import INNER


@dataclass(frozen=True)
class Entity:
    """Neighboring tokens of one tag: its name, the characters ``start`` to ``end`` of the text, and the mean probability."""

    tag: str
    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, eq=False)
class TokenClasses:
    """The class of each token (k), its probability (k), and its name; ``offsets`` (k, 2) are its characters in ``text``.

    ``text`` and ``offsets`` are None where the post-processing does not know them.
    """

    labels: np.ndarray
    probabilities: np.ndarray
    names: tuple[str, ...] | None = None
    text: str | None = None
    offsets: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def tokens(self) -> tuple[str, ...] | None:
        """The characters of each token."""
        if self.text is None or self.offsets is None:
            return None
        return tuple(self.text[start:end] for start, end in self.offsets.tolist())

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Neighboring tokens of one tag as one entity, in order, without those that are outside of any ("O").

        A name that begins with "B-" begins an entity, one with "I-" or neither continues that of the same tag before it.
        Empty without names or texts. Source: transformers.TokenClassificationPipeline with aggregation_strategy="simple".
        """
        if self.names is None or self.text is None or self.offsets is None:
            return ()
        groups: list[tuple[str, list[int]]] = []
        for at, name in enumerate(self.names):
            tag = name[2:] if name[:2] in ("B-", "I-") else name
            if groups and groups[-1][0] == tag and not name.startswith("B-"):
                groups[-1][1].append(at)
            else:
                groups.append((tag, [at]))
        return tuple(self._entity(self.text, self.offsets, tag, places) for tag, places in groups if tag != "O")

    def _entity(self, text: str, offsets: np.ndarray, tag: str, places: list[int]) -> Entity:
        start, end = int(offsets[places[0], 0]), int(offsets[places[-1], 1])
        return Entity(tag, text[start:end], start, end, float(self.probabilities[places].mean()))


@postprocessor
class TokenClassification(PostProcessor):
    """Most probable class of each token, such as a named entity or a part of speech.

    Logits (length, classes), probabilities with ``from_logits=False``. ``names`` are those of the classes. ``places`` (k) are
    the tokens that count, by default all; ``text`` and ``offsets`` (k, 2), the first character and the one after the last of
    each of these, give their texts. The last three are settings of single samples, set by pre-processing in a
    `PreparedSample`. Source: Devlin et al., BERT, 2019, section 5.3.
    """

    names: tuple[str, ...] | None = None
    from_logits: bool | None = None
    text: str | None = None
    offsets: Any = dataclasses.field(default=None, metadata=INNER)
    places: Any = dataclasses.field(default=None, metadata=INNER)

    def check(self) -> None:
        if (self.text is None) != (self.offsets is None):
            raise ConfigError("TokenClassification wants text and offsets together")

    def __call__(self, output) -> TokenClasses:
        scores = single_array(self, output, "scores (length, classes)", 2)
        if self.places is not None:
            places = np.asarray(self.places, "int64")
            if places.size and not 0 <= places.min() <= places.max() < len(scores):
                raise ModelError(
                    f"TokenClassification: places {places.tolist()!r:.80} are not all in {len(scores)} tokens"
                )
            scores = scores[places]
        offsets = None if self.offsets is None else np.asarray(self.offsets, "int64").reshape(-1, 2)
        if offsets is not None and len(offsets) != len(scores):
            raise ModelError(f"TokenClassification has {len(offsets)} offsets, the output has {len(scores)} tokens")
        names = check_names(self, self.names, scores.shape[1])
        shares = probabilities(softmax, scores, self.from_logits)
        labels = shares.argmax(-1)
        best = np.take_along_axis(shares, labels[:, None], 1)[:, 0]
        return TokenClasses(labels, best, names and tuple(names[at] for at in labels), self.text, offsets)

    def for_metrics(self, results) -> list[Any]:
        """The numbers of the classes of each text's tokens."""
        return [result.labels.tolist() for result in results]
