"""A progress bar over the events of a run, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tqdm.auto import tqdm

from labdl.train.events import Epoch, Event, Started, Step


def follow(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, shown as they pass: a bar over the steps and a line an epoch."""
    bar, epochs, losses = None, 0, 0.0
    try:
        for event in events:
            if isinstance(event, Started):
                epochs = event.epochs
                total = event.epochs * event.steps_per_epoch
                bar = tqdm(total=total, initial=event.step, unit="step", mininterval=0.2, leave=False)
            elif isinstance(event, Step) and bar is not None:
                losses = event.values["loss"]
                bar.update(1)
                if bar.n % 20 == 0:
                    bar.set_postfix(loss=f"{losses:.4f}", refresh=False)
            elif isinstance(event, Epoch) and bar is not None:
                values = "  ".join(f"{k} {v:.4f}" for k, v in event.values.items())
                bar.write(f"Epoch {event.epoch}/{epochs}  {values}  {event.samples_per_second:,.0f} samples/s")
            yield event
    finally:
        if bar is not None:
            bar.close()
