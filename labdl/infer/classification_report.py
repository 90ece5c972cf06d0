"""Classification report: precision, recall, F1 and support of each class, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.errors import ModelError
from labdl.infer.postprocess.base import PostProcessor
from labdl.infer.postprocess.classification import Classification
from labdl.nn.output_kind import EVEN_ODDS, OutputKind
from labdl.train.metrics.metric import add_statistics, average_classes, ratio
from labdl.train.metrics.outputs import binarize_labels, classify_outputs, count_classes

_MAX_CLASSES = 1000  # largest number of classes with a confusion matrix: that of a vocabulary would not fit into memory


class ClassCounts:
    """Counts of correct, predicted and true samples of each class over a data set.

    Whether the model is a classifier is inferred from the first batch: scores (N, classes), (N, 1) or (N) with class
    numbers, or the inputs of a `Classification`. Semantics: sklearn.metrics.classification_report(zero_division=0).
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        processor: Classification | None = None,
        outputs: OutputKind = "logits",
    ):
        self.processor = processor
        self.outputs: OutputKind = outputs
        self.names = names if processor is None or processor.names is None else processor.names
        self.multilabel = processor is not None and processor.multilabel
        self._counts: tuple | None = None
        self._refused = False

    @classmethod
    def of(
        cls,
        processor: PostProcessor | None,
        names: Sequence[str] | None,
        settings: Mapping[str, Any],
        outputs: OutputKind = "logits",
    ) -> ClassCounts:
        """Counts for a post-processor with the settings of a call, which take precedence, or for the model's ``outputs``."""
        if not isinstance(processor, Classification):
            return cls(names, outputs=outputs)
        changed = processor.replace({k: v for k, v in settings.items() if k in processor.settings()})
        return cls(names, changed if isinstance(changed, Classification) else None)

    @property
    def has_counts(self) -> bool:
        """Whether the batches were those of a classifier."""
        return self._counts is not None and not self._refused

    def add(self, output: Any, target: Any) -> None:
        """Add a batch, unless it is not that of a classifier."""
        if self._refused or not isinstance(output, np.ndarray) or not isinstance(target, np.ndarray):
            self._refused = True
            return
        threshold = EVEN_ODDS[self.outputs] if self.processor is None else self.processor.score_threshold
        if self.multilabel:
            chosen, true, _ = binarize_labels("Classification", output, target, threshold)
            statistics = (
                (chosen & true).sum(0),
                chosen.sum(0),
                true.sum(0),
                np.int64(len(true)),
                np.zeros((0, 0), "int64"),
            )
        else:
            if self.processor is None and not _is_classification(output, target):
                self._refused = True
                return
            chosen, true, classes, _ = classify_outputs("Classification", output, target, threshold)
            statistics = tuple(count_classes(v, classes) for v in (chosen[chosen == true], chosen, true))
            size = classes if classes <= _MAX_CLASSES else 0
            pairs = (
                np.bincount((true * size + chosen)[chosen >= 0], minlength=size * size)
                if size
                else np.zeros(0, "int64")
            )
            statistics = *statistics, np.int64(true.size), pairs.reshape(size, size)
        self._counts = statistics if self._counts is None else add_statistics(self._counts, statistics)

    @property
    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Correct, predicted and true counts of each class, and the number of samples."""
        if self._counts is None:
            raise ModelError("there are no classes to count: evaluate a classifier first")
        right, chosen, true, n, _ = self._counts
        return right, chosen, true, int(n)

    @property
    def confusion(self) -> np.ndarray | None:
        """Confusion matrix, true classes in rows and predicted ones in columns; None for more than 1,000 classes.

        For multi-label classification a matrix (2, 2) of each label, as in sklearn.metrics.multilabel_confusion_matrix.
        """
        right, chosen, true, n = self.counts
        if self.multilabel:
            cells = np.stack([n - chosen - true + right, chosen - right, true - right, right], -1)
            return cells.reshape(-1, 2, 2)
        matrix = self._counts[4]  # type: ignore[index]
        return matrix if matrix.size else None

    @property
    def table(self) -> dict[str, np.ndarray]:
        """Precision, recall, F1 and support of each class."""
        right, chosen, true, _ = self.counts
        return {
            "precision": ratio(right, chosen),
            "recall": ratio(right, true),
            "f1": ratio(2 * right, chosen + true),
            "support": true,
        }

    def averages(self) -> dict[str, dict[str, float]]:
        """Precision, recall and F1 of all classes: micro, macro and weighted averages.

        For single-label classification the micro average is the accuracy.
        """
        right, chosen, true, _ = self.counts
        totals = right.sum(), chosen.sum(), true.sum()
        micro = {
            "precision": ratio(totals[0], totals[1]),
            "recall": ratio(totals[0], totals[2]),
            "f1": ratio(2 * totals[0], totals[1] + totals[2]),
        }
        found = {"micro": {name: float(value) for name, value in micro.items()}}
        present = (chosen > 0) | (true > 0) | self.multilabel
        for kind in ("macro", "weighted"):
            found[kind] = {
                name: average_classes(values, true, present, kind)
                for name, values in self.table.items()
                if name != "support"
            }
        return found

    def lines(self) -> list[str]:
        """Lines of the text table: each class that occurs, then the averages."""
        table, (_, chosen, true, _) = self.table, self.counts
        rows = [
            (
                str(self.names[int(i)]) if self.names is not None and i < len(self.names) else str(i),
                *(f"{table[name][i]:.4f}" for name in ("precision", "recall", "f1")),
                f"{true[i]:,}",
            )
            for i in np.flatnonzero((chosen > 0) | (true > 0))
        ]
        for kind, values in self.averages().items():
            rows.append((kind, *(f"{values[name]:.4f}" for name in ("precision", "recall", "f1")), f"{true.sum():,}"))
        return align_columns([("class", "precision", "recall", "f1", "support"), *rows])


def _is_classification(output: np.ndarray, target: np.ndarray) -> bool:
    """Whether output and target are scores and class numbers."""
    if target.dtype.kind not in "iub" or not target.size or output.dtype.kind != "f":
        return False
    if target.ndim == 1 and output.ndim == 2 and output.shape[1] > 1:
        return bool(target.min() >= 0 and target.max() < output.shape[1])
    return output.size == target.size and target.size == len(target) and bool(np.isin(target, (0, 1)).all())


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format the rows of a table: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def _show_values(value: Any) -> list[str]:
    """Lines of an array, or of the named arrays of a curve."""
    named = value._asdict().items() if hasattr(value, "_asdict") else [("", value)]
    return [
        f"{name} {row}".lstrip() if name else row
        for name, part in named
        for row in np.array2string(np.asarray(part), precision=4, threshold=10 if name else 1000).splitlines()
    ]


def text(figures: Mapping[str, Any], classes: ClassCounts | None) -> str:
    """Text of metrics, one per line, followed by the table of classes."""
    scalars = {name: v for name, v in figures.items() if not isinstance(v, list | tuple) and np.ndim(v) == 0}
    lines = align_columns([(name, f"{float(value):.4f}") for name, value in scalars.items()]) if scalars else []
    for name, value in figures.items():
        if name not in scalars:
            parts = value if isinstance(value, list) else [value]
            rows = [row for part in parts for row in _show_values(part)]
            lines += [name, *(f"  {row}" for row in rows)]
    if classes is not None:
        lines += ([""] if lines else []) + classes.lines()
    return "\n".join(lines)
