"""Report of a training as text and HTML: settings, epochs, time and test."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ModelError
from labdl.train.metrics.metric import ratio
from labdl.train.metrics.outputs import classify_outputs, count_classes, counted_samples

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.progress import Progress

_MOST = 50  # largest number of epochs in the table
Table = tuple[str, list[list[str]]]  # title and rows, the first being the header


class PerClass:
    """Precision, recall, F1 and support of each class of a classifier; empty for other models."""

    def __init__(self, names: Sequence[str] | None = None, ignored: int | None = None):
        self.names, self.ignored, self.counts, self.unsupported = names, ignored, None, False

    def add(self, output: Any, target: Any) -> None:
        """Add a batch of arrays; ignored unless its targets are class numbers and its outputs scores."""
        usable = (
            isinstance(output, np.ndarray)
            and isinstance(target, np.ndarray)
            and target.dtype.kind in "iub"
            and output.ndim == target.ndim + 1
            and output.shape[-1] > 1
        )
        if self.unsupported or not usable:
            self.unsupported = True
            return
        try:
            chosen, true, classes, _ = classify_outputs("report", *counted_samples(self.ignored, output, target))
        except ModelError:  # invalid class numbers
            self.unsupported = True
            return
        counts = np.stack([count_classes(v, classes) for v in (chosen[chosen == true], chosen, true)])
        self.counts = counts if self.counts is None else self.counts + counts

    def table(self) -> Table | None:
        """A row for each class that occurs, None without classes."""
        if self.unsupported or self.counts is None:
            return None
        right, chosen, true = self.counts
        columns = [ratio(right, chosen), ratio(right, true), ratio(2 * right, chosen + true)]
        rows = [
            [self._name(i), *(f"{c[i]:.4f}" for c in columns), f"{true[i]:,}"] for i in np.flatnonzero(chosen + true)
        ]
        return "Test by class", [["class", "precision", "recall", "f1", "support"], *rows]

    def _name(self, i: int) -> str:
        return str(self.names[i]) if self.names is not None and i < len(self.names) else str(i)


@dataclass
class Report:
    """The result of `Trainer.report`; it can be printed or displayed in a notebook."""

    settings: dict[str, Any]
    history: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    samples: int = 0
    test: dict[str, float] = field(default_factory=dict)
    classes: Table | None = None
    validated_epochs: list[int] = field(default_factory=list)

    @classmethod
    def build(
        cls,
        context: TrainContext,
        progress: Progress | None,
        seconds: Sequence[float],
        test_results: tuple[dict[str, float], PerClass] | None,
    ) -> Report:
        """Build the report of a training from the seconds of its epochs and the results of a test."""
        model = context.model
        settings: dict[str, Any] = {"model": type(model).__name__}
        if model.built:
            settings |= {"backend": model.backend, "parameters": f"{model.count_parameters():,}"}
        settings |= {
            "loss": context.loss_name,
            "metrics": list(context.metrics),
            "optimizer": context.optimizer.label,
            **context.optimizer.record(),
            **context.settings.non_default(),
        }
        if progress is not None:
            settings |= {"samples": progress.samples, "batch_size": progress.batch_size, "seed": progress.seed}
        return cls(
            settings,
            dict(progress.history) if progress else {},
            list(seconds),
            progress.samples if progress else 0,
            test_results[0] if test_results else {},
            test_results[1].table() if test_results else None,
            list(progress.validated_epochs) if progress else [],
        )

    @property
    def best_epoch(self) -> int | None:
        """The epoch with the smallest loss, on the validation data if there are any; the first of equal ones."""
        name = "val_loss" if self.history.get("val_loss") else "loss"
        losses = self.history.get(name)
        if not losses or np.isnan(losses).all():
            return None
        return self._epochs(name)[int(np.nanargmin(losses))]

    def _epochs(self, name: str) -> Sequence[int]:
        """The numbers of the epochs that have a value: those that were validated, or the last ones."""
        length = len(self.history[name])
        if name.startswith("val_") and length == len(self.validated_epochs):
            return self.validated_epochs
        count = max(map(len, self.history.values()))
        return range(count - length + 1, count + 1)

    def tables(self) -> list[Table]:
        """The tables of the report."""
        tables: list[Table] = [
            ("Training", [["setting", "value"], *([k, _format(v)] for k, v in self.settings.items())])
        ]
        count = max(map(len, self.history.values()), default=0)
        if count:
            every = -(-count // _MOST)
            listed = [e for e in range(1, count + 1) if e % every == 0 or e in (1, count, self.best_epoch)]
            columns = [dict(zip(self._epochs(name), values, strict=True)) for name, values in self.history.items()]
            rows = [
                [
                    f"{e}{' *' if e == self.best_epoch else ''}",
                    *(f"{column[e]:.4f}" if e in column else "" for column in columns),
                ]
                for e in listed
            ]
            tables.append(("Epochs (* best)", [["epoch", *self.history], *rows]))
        if self.seconds:
            total = sum(self.seconds)
            tables.append(
                (
                    "Time",
                    [
                        ["epochs", "seconds", "samples/s"],
                        [
                            str(len(self.seconds)),
                            f"{total:.1f}",
                            f"{self.samples * len(self.seconds) / max(total, 1e-9):,.0f}",
                        ],
                    ],
                )
            )
        if self.test:
            tables.append(("Test", [["metric", "value"], *([k, f"{v:.4f}"] for k, v in self.test.items())]))
        return [*tables, *([self.classes] if self.classes else [])]

    def __str__(self) -> str:
        return "\n\n".join("\n".join([title, *_align_columns(rows)]) for title, rows in self.tables())

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{html.escape(title)}</h4><table><thead>{_row(rows[0], 'th')}</thead>"
            f"<tbody>{''.join(_row(row, 'td') for row in rows[1:])}</tbody></table>"
            for title, rows in self.tables()
        )


def _format(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _row(cells: list[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _align_columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    ]
