"""Looking on at validations: what the model makes of fixed samples, which classes it confuses, where it is worst."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from labdl.runs.reading.values import round_digits
from labdl.train import failures
from labdl.train.data_adapter import mapped, size_of
from labdl.train.events import Confusion, Event, Predictions, Samples, Worst
from labdl.train.monitor.predictions import Answers, Question, question
from labdl.train.monitor.sample_preview import shown, told, vocabulary

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

SAMPLES = 8  # that are watched, and as many of the worst
CLASSES, PAIRS = 100, 100  # up to which confusion is a table, and mistakes of more classes
MISTAKES = 1_000_000  # that are remembered of one validation
EPOCHS = 100  # of a training that are looked at, or about as many
BYTES = 60_000  # of one event
FREE = 0.1  # seconds in all that nobody notices, so that short trainings are seen as well
PICTURE = 4096  # bytes of all pictures of one sample
PART = 2**24  # bytes of outputs that are looked at together
log = logging.getLogger(__name__)

Seen = tuple[Any, Any, Answers]  # a sample's input, its target, and the answer to it


class Onlooker:
    """Sees the batches of a validation as arrays, which are there in any case, and changes nothing.

    Every epoch up to a hundred in all, of more every so many, as long as that takes no more than ``share`` of the time of the
    training, or a tenth of a second in all; the first and the last in any case.
    """

    def __init__(self, context: TrainContext, train: Any, validation: Any, share: float):
        self.context, self.dataset, self.share = context, validation, share
        self.names = _names(told(validation, "classes")) or _names(told(train, "classes"))
        self.words = vocabulary(validation) or vocabulary(train)
        self.fixed = sorted({round(i) for i in np.linspace(0, len(validation) - 1, SAMPLES)})
        self.count, self.spent, self.cost, self._known, self._broken = 0, 0.0, 0.0, False, False
        self._now = 0.0

    def due(self, epoch: int, epochs: int, trained: float) -> bool:
        """Whether the validation after this epoch, counted from 1, of so many is looked at; so many seconds have passed."""
        if self._broken or self.share <= 0:
            return False
        if not self.count or epoch >= epochs:
            return True
        every = max(-(-epochs // EPOCHS), 2 ** (self.count // EPOCHS))
        return epoch % every == 0 and self.spent + self.cost <= max(FREE, self.share * trained)

    # -- while a validation goes on

    def begin(self) -> None:
        """A validation begins, perhaps once more with smaller batches."""
        self._now = 0.0
        self._question: Question | None = None
        self._fixed: dict[int, Seen] = {}
        self._worst: list[tuple[float, int, Seen]] = []
        self._table: np.ndarray | None = None
        self._mistakes: list[np.ndarray] = []
        self._kept = 0

    def see(self, x: Any, y: Any, output: Any, first: int) -> None:
        """A batch whose first sample has this place in the data set."""
        if self._broken:
            return
        began = time.perf_counter()
        try:
            self._see(x, y, output, first)
        except Exception as error:  # of arrays that are not what they looked like: the training goes on without
            self._broken = True
            self.begin()
            log.warning(
                "the predictions of the validation are not looked at any more: %s", failures.error_message(error)
            )
        self._now += time.perf_counter() - began

    def _see(self, x: Any, y: Any, output: Any, first: int) -> None:
        if first == 0:
            self._question = question(self.context, output, y)
        if self._question is None:
            return
        count = size_of(x)
        size = max(1, PART * count // max(output.nbytes, 1))  # a map for each class takes much memory
        for at in range(0, count, size):
            part = slice(at, at + size)
            answers = self._question.read(output[part], y[part])

            def seen(i: int, at: int = at, answers: Answers = answers) -> Seen:
                return _sample(x, at + i), y[at + i].copy(), answers.one(i)

            for i in self.fixed:
                if 0 <= i - first - at < min(size, count - at):
                    self._fixed[i] = seen(i - first - at)
            if answers.losses is not None:
                self._rank(answers.losses, first + at, seen)
            if answers.true is not None and answers.chosen is not None:
                self._confuse(answers.true.reshape(-1), answers.chosen.reshape(-1), self._question.classes)

    def _rank(self, losses: np.ndarray, first: int, seen: Callable[[int], Seen]) -> None:
        """Sort key: values that are not finite come first."""
        order = np.argsort(-np.nan_to_num(losses, nan=math.inf, posinf=math.inf), kind="stable")[:SAMPLES]
        least = self._worst[-1][0] if len(self._worst) == SAMPLES else -math.inf
        for i in order.tolist():
            value = float(losses[i]) if math.isfinite(losses[i]) else math.inf
            if value <= least:
                break
            self._worst.append((value, first + i, seen(i)))
        self._worst.sort(key=lambda row: (-row[0], row[1]))
        del self._worst[SAMPLES:]

    def _confuse(self, true: np.ndarray, chosen: np.ndarray, classes: int) -> None:
        meant = true >= 0
        true, chosen = true[meant].astype("int64"), chosen[meant].astype("int64")
        if classes <= CLASSES:
            found = np.bincount(true * classes + chosen, minlength=classes * classes)
            self._table = found if self._table is None else self._table + found
            return
        wrong = (true != chosen) & (self._kept < MISTAKES)
        self._mistakes.append(true[wrong] * classes + chosen[wrong])
        self._kept += len(self._mistakes[-1])

    # -- what was seen

    def told(self, epoch: int, step: int) -> Iterator[Event]:
        """The events of the validation that was looked at."""
        if self._broken:
            return
        began = time.perf_counter()
        try:
            found = self._events(epoch, step) if self._question is not None and self._fixed else []
        except Exception as error:  # as above
            self._broken, found = True, []
            log.warning("the predictions of the validation are not shown any more: %s", failures.error_message(error))
        self.cost = self._now + time.perf_counter() - began
        self.begin()  # nothing of it is kept
        self.spent += self.cost
        self.count += 1
        yield from found

    def _events(self, epoch: int, step: int) -> list[Event]:
        asked = self._question
        assert asked is not None
        events: list[Event] = []
        if not self._known:
            self._known = True
            rows = _fitting(
                lambda b: [
                    {"index": i, "input": shown(x, b // 2, self.words), "target": asked.target(y, answer, b // 2)}
                    for i, (x, y, answer) in self._fixed.items()
                ]
            )
            names = self.names if asked.classes and self.names and len(self.names) >= asked.classes else None
            names = names if names is None or sum(map(len, names)) < BYTES // 8 else None
            events.append(Samples(asked.task, names, rows))
        outputs = _fitting(lambda b: [asked.output(answer, b) for _, _, answer in self._fixed.values()])
        events.append(Predictions(epoch, step, outputs))
        if self._table is not None or self._mistakes:
            events.append(self._confusion(epoch, step, asked.classes))
        if self._worst:
            worst = _fitting(lambda b: [self._row(asked, row, b // 3) for row in self._worst])
            events.append(Worst(epoch, step, worst))
        return events

    def _row(self, asked: Question, row: tuple[float, int, Seen], budget: int) -> dict[str, Any]:
        loss, index, (x, y, answer) = row
        return {
            "index": index,
            "loss": round_digits(loss, 6),
            "input": shown(x, budget, self.words),
            "target": asked.target(y, answer, budget),
            "output": asked.output(answer, budget),
        }

    def _confusion(self, epoch: int, step: int, classes: int) -> Confusion:
        if self._table is not None:
            rows = self._table.reshape(classes, classes).tolist()
            if len(orjson.dumps(rows)) <= BYTES:
                return Confusion(epoch, step, counts=tuple(map(tuple, rows)))
            wrong = self._table.reshape(classes, classes).copy()
            np.fill_diagonal(wrong, 0)
            pairs, counts = np.flatnonzero(wrong), wrong[wrong > 0]
        else:
            pairs, counts = np.unique(np.concatenate(self._mistakes), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:PAIRS]
        return Confusion(
            epoch,
            step,
            pairs=tuple(
                (int(p) // classes, int(p) % classes, int(c)) for p, c in zip(pairs[order], counts[order], strict=True)
            ),
        )


def _names(classes: Any) -> tuple[str, ...] | None:
    """Those of a data set, whose ``classes`` may be something else, such as how many there are."""
    listed = isinstance(classes, list | tuple | np.ndarray)
    return tuple(str(name)[:100] for name in classes) if listed else None


def _sample(x: Any, i: int) -> Any:
    return mapped(lambda leaf: leaf[i].copy() if isinstance(leaf[i], np.ndarray) else leaf[i], x)


def _fitting(make: Callable[[int], list[dict[str, Any]]]) -> tuple[dict[str, Any], ...]:
    """The rows made with as many bytes for pictures as the event has room for; of what is too long even so nothing is shown."""
    budget = PICTURE
    while True:
        rows = make(budget)
        if len(orjson.dumps(rows)) <= BYTES:
            return tuple(rows)
        if budget < 64:
            return tuple({k: {"values": []} if isinstance(v, dict) else v for k, v in row.items()} for row in rows)
        budget //= 2
