"""A sweep: trainings with different hyperparameters, each of which is a run."""

from __future__ import annotations

import contextvars
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

from labdl import dispatch
from labdl.display import display_runs, runs_widget
from labdl.errors import ConfigError, suggest_name
from labdl.graph.graph import Graph
from labdl.keywords import show_keywords
from labdl.ops.random.state import seed as set_seed
from labdl.runs import control
from labdl.train import config, failures, losses
from labdl.train.data_adapter import as_dataset
from labdl.train.directions import Monitor, find_direction
from labdl.train.events import Epoch, Event
from labdl.train.leaderboard import Leaderboard
from labdl.train.options import SweepOptions
from labdl.train.run import rng
from labdl.train.run.groups import end_group, membership, write_group
from labdl.train.run.locks import compute_lock
from labdl.train.run.run import Run
from labdl.train.run.shutdown import active_runs
from labdl.train.starting import start_loop
from labdl.train.trainer import Trainer
from labdl.train.tuning import search_space as spaces
from labdl.train.tuning.builder import PER_TRIAL, TrialBuilder
from labdl.train.tuning.samplers import Sampler, make_sampler
from labdl.train.tuning.trial import Trial

TRIALS = 10  # default number of trials
_COLUMNS = ("trial", "status", "seconds", "error")  # of the table, beside the hyperparameters
_SECONDS = 0.05  # polling interval
log = logging.getLogger(__name__)


class Sweep:
    """A running sweep: ``trials`` started so far, their ``runs``, the ``best``; `wait`, `stop` and `table`."""

    _ipython_display_ = display_runs
    _display_ = runs_widget

    def __init__(
        self,
        builder: TrialBuilder,
        data: Any,
        validation: Any,
        sampler: Sampler,
        *,
        folder: Path,
        trials: int | None,
        metric: str,
        mode: str,
        seed: int,
        at_once: int,
        pruning: bool,
    ):
        self.folder, self.metric, self.mode = folder, metric, mode
        self.trials: list[Trial] = []
        self._builder, self._data, self._validation = builder, data, validation
        self._sampler, self._count, self._seed, self._at_once = sampler, trials, seed, at_once
        self._pruning = pruning
        self._stop, self._done = threading.Event(), threading.Event()
        self._control = control.ControlFolder(folder / control.CONTROL)
        self.error: BaseException | None = None
        context = contextvars.copy_context()
        dispatch.rest_threads()
        threading.Thread(target=context.run, args=(self._train,), name=f"labdl-{folder.name}", daemon=True).start()

    def wait(self, timeout: float | None = None) -> Sweep:
        """Block until all trials have ended.

        A trial that fails does not end the others: a warning in the log says how many failed, and `table` has their errors.
        Raises the error of the first trial if all failed, and TimeoutError.
        """
        if not self._done.wait(timeout):
            raise TimeoutError(
                f"the sweep is still active after {timeout} s: trial {len(self.trials)}"
                f"{f' of {self._count}' if self._count else ''}"
            )
        if self.error is not None:
            raise self.error
        failed = self.failed_trials
        if failed:
            log.warning(
                "%s: %d of %d trials failed; the first, %s: %s (the others are in table())",
                self.folder.name,
                len(failed),
                len(self.trials),
                failed[0].describe(),
                failed[0].error,
            )
        return self

    @property
    def alive(self) -> bool:
        return not self._done.is_set()

    def stop(self) -> None:
        """Start no more trials, and end the active ones after their current step."""
        self._stop.set()
        for run in self.runs:
            run.stop()

    @property
    def runs(self) -> list[Run]:
        """The runs of the trials that have started."""
        return [trial.run for trial in list(self.trials) if trial.run is not None]

    @property
    def failed_trials(self) -> list[Trial]:
        """The trials that ended with an error."""
        return [trial for trial in list(self.trials) if trial.exception is not None]

    @property
    def best(self) -> Trial | None:
        """The trial with the best value so far, the first of equal ones; None if there is none."""
        scored = [(value, trial) for trial in list(self.trials) if (value := self._score(trial)) is not None]
        sign = 1 if self.mode == "min" else -1
        return min(scored, key=lambda pair: sign * pair[0])[1] if scored else None

    def table(self) -> Leaderboard:
        """Table of the trials: status, parameters, best value of the metric, epochs, seconds, and errors."""
        rows = Leaderboard()
        for trial in list(self.trials):
            history = trial.run.history if trial.run else {}
            rows.append(
                {
                    "trial": trial.number,
                    "status": trial.status,
                    **{f"{name} (given)" if name in _COLUMNS else name: value for name, value in trial.params.items()},
                    self.metric: self._score(trial),
                    "epochs": max(map(len, history.values()), default=0),
                    "seconds": trial.seconds,
                    "error": trial.error,
                }
            )
        return rows

    # -- in the thread of the sweep

    def _train(self) -> None:
        active: list[Trial] = []
        try:
            while True:
                while len(active) < self._at_once and not self._over:
                    trial = self._start_next()
                    if trial is None:
                        break
                    if trial.run is not None:
                        active.append(trial)
                if not active:
                    break
                active[0].run._done.wait(_SECONDS)  # type: ignore[union-attr]
                self._execute_commands()
                for trial in [t for t in active if t.run and not t.run.alive]:
                    active.remove(trial)
                    self._end_trial(trial)
            self._raise_if_all_failed()
        except BaseException as error:  # raised by wait()
            self.error = error
            for run in self.runs:
                run.stop()
        finally:
            self._record_end()
            self._done.set()

    def _raise_if_all_failed(self) -> None:
        """Raise the error of the first trial if there is no other result."""
        failed = self.failed_trials
        if failed and len(failed) == len(self.trials):
            error = failed[0].exception
            assert error is not None  # the trial failed
            others = {trial.error for trial in failed[1:]} - {failed[0].error}
            error.add_note(
                f"{self.folder.name}: {'the only trial' if len(failed) == 1 else f'all {len(failed)} trials'} failed, "
                f"this is the error of {failed[0].describe()}"
                + (f"; table() has {len(others)} other{'s' if len(others) > 1 else ''}" if others else "")
            )
            raise error

    def _execute_commands(self) -> None:
        """Execute the commands in the folder, by which pages stop a sweep even while the kernel is busy."""
        for order in self._control.commands():
            if order.command == "stop":
                self.stop()
            else:
                log.warning("%s: a sweep takes the command 'stop' only, received %r", self.folder.name, order.command)

    def _record_end(self) -> None:
        stopped = self._stop.is_set() or active_runs.exiting
        try:
            end_group(self.folder, "failed" if self.error else "stopped" if stopped else "finished")
        except OSError as error:
            log.warning("%s: group.json could not be written: %s", self.folder.name, error.strerror or error)

    @property
    def _over(self) -> bool:
        return (
            self._stop.is_set() or active_runs.exiting or (self._count is not None and len(self.trials) >= self._count)
        )

    def _start_next(self) -> Trial | None:
        """Start the next trial; None if there are no more."""
        number = len(self.trials) + 1
        params = self._sampler.ask(number)
        if params is None:
            self._count = len(self.trials)
            return None
        trial = Trial(number, params)
        self.trials.append(trial)
        try:
            with compute_lock:  # no other training while the random state is reset
                trial.run = self._start_run(trial)
        except Exception as error:  # of the builder or invalid settings; reported in the table
            trial.end(error)
            log.warning("%s: trial %d could not start: %s", self.folder.name, number, trial.error)
            self._sampler.tell(number, None, pruned=False)
        if (self._stop.is_set() or active_runs.exiting) and trial.run is not None:
            trial.run.stop()
        return trial

    def _start_run(self, trial: Trial) -> Run:
        rng.shared.activate()
        set_seed(self._seed, portable=dispatch.portable())
        trainer, options = self._builder(trial.params)
        size = options.get("batch_size") or trainer.settings.batch_size
        with failures.explain_errors(size, trainer.settings.accumulate):
            callbacks = [
                *options.pop("callbacks", ()),
                *([self._pruning_callback(trial, trainer)] if self._pruning else []),
            ]
            options = {"health": trainer.settings.health, **options}
            events = trainer.events(
                self._data,
                validation=self._validation,
                callbacks=callbacks,
                **options,
            )
        folder = self.folder / f"trial-{trial.number:04d}"
        run = Run(trainer, events, folder, None, membership(self.folder.name, trial.params))
        run._stream = rng.Stream.from_current_state(str(trainer.model.backend))
        return run

    def _pruning_callback(self, trial: Trial, trainer: Trainer) -> Callable[[Event], None]:
        def prune(event: Event) -> None:
            if isinstance(event, Epoch):
                validates = trainer.loop is not None and trainer.loop.validation is not None
                # an epoch that is not validated has no value to compare
                value = event.values.get(self.metric) if validates else _metric_value(event.values, self.metric)
                if value is None or not math.isfinite(value):
                    return
                if self._sampler.should_prune(trial.number, event.epoch, value):
                    trial.pruned = True
                    assert trial.run is not None  # set before the compute lock was released
                    trial.run.stop()

        return prune

    def _end_trial(self, trial: Trial) -> None:
        assert trial.run is not None
        error = trial.run.error
        if error is not None:
            trial.end(error)
        elif self._score(trial) is None and trial.run.status == "finished":
            trial.end(self._missing_metric(trial.run))
        else:
            trial.end(None)
        self._sampler.tell(trial.number, None if error is not None else trial.value, pruned=trial.pruned)

    def _missing_metric(self, run: Run) -> ConfigError:
        names = list(run.history)
        if _metric_value(run.history, self.metric) is None:
            return ConfigError(
                f"sweep: the trials have no metric {self.metric!r}, but {', '.join(names)}"
                f"{suggest_name(self.metric, names)}"
            )
        return ConfigError(f"sweep: {self.metric} was not finite in any epoch")

    def _score(self, trial: Trial) -> float | None:
        """Update and return the value of a trial, the best over its epochs so far."""
        history = _metric_value(trial.run.history, self.metric) if trial.run else None
        values = [float(v) for v in history or () if math.isfinite(v)]
        trial.value = (min(values) if self.mode == "min" else max(values)) if values else None
        return trial.value

    def __repr__(self) -> str:
        best = self.best
        result = f", best {self.metric} {best.value:.4g} in trial {best.number}" if best else ""
        total = f" of {self._count}" if self._count else ""
        failed = f", {len(self.failed_trials)} failed" if self.failed_trials else ""
        return f"Sweep({self.folder.name}: {len(self.trials)}{total} trials{failed}{result})"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _metric_value(values: Mapping[str, Any], name: str) -> Any:
    """A metric by its name; without validation data that of the training data."""
    return values.get(name, values.get(name.removeprefix("val_")))


@show_keywords(Trainer, start_loop, without=("train", "y", "lr", *PER_TRIAL))
def sweep(
    build: Callable[..., Any] | Graph,
    space: Mapping[str, Any],
    data: Any,
    y: Any = None,
    *,
    validation: Any = None,
    epochs: int = 1,
    trials: int | None = None,
    method: str = "random",
    metric: str = "val_loss",
    mode: str | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    at_once: int = 1,
    pruner: Any = None,
    **options: Unpack[SweepOptions],
) -> Sweep:
    """Train with different hyperparameters in this process, one training after the other, and return immediately.

    ``space`` defines the hyperparameters by name: a list of choices, `Uniform`, `LogUniform` or `Integers`.
    ``build(**params)`` returns a `Trainer`, or a model, which is trained with the ``options`` of a trainer; it receives the
    hyperparameters that are among its parameters. The others are settings of the trainer ("optimizer", "clip_norm", …, and
    "learning_rate") or of the training ("epochs", "batch_size"). ``build`` may also be a Graph. ``options`` are those of
    `Trainer` and of `Trainer.start`.

    The data are those of `Trainer.fit`, ``sweep(build, space, dataset)`` or ``sweep(build, space, x, y)``.
    ``method`` "random" samples ``trials`` combinations, by default ten and none twice, "grid" tries all, and "optuna" uses
    Optuna, with optional pruning: ``pruner=optuna.pruners.MedianPruner()``. The value of a trial is the best of ``metric`` over
    its epochs;
    ``mode``, "min" or "max", defaults to that of the metric; a value of your own wants one. Each trial starts with
    ``labdl.seed(seed)``, so that the same seed gives the same trials with the same results. Trials are recorded in
    ``folder/trial-0001`` and so on, by default in ``runs/sweep-…``; if one fails the others continue. ``at_once`` trials run at
    the same time, with alternating steps. Raises ConfigError.
    """
    validated = spaces.validate(space)
    data = data if y is None else (data, y)
    for name, value in (("epochs", epochs), ("at_once", at_once), *([] if trials is None else [("trials", trials)])):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"sweep: {name} wants an integer at least 1, received {value!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"sweep: seed wants an integer at least 0, received {seed!r}")
    if not isinstance(metric, str) or not metric:
        raise ConfigError(f"sweep: metric wants the name of a metric such as 'val_loss', received {metric!r}")
    if mode not in (None, "min", "max"):
        raise ConfigError(f"sweep: mode wants 'min' or 'max', received {mode!r}")
    direction = find_direction(Monitor("sweep", metric, mode or "auto"), losses.metrics(options.get("metrics")))
    builder = TrialBuilder(build, validated, {"epochs": epochs, **options}, seed)
    sampler = make_sampler(method, validated, seed, direction, pruner)
    count = trials if trials is not None or method == "grid" else TRIALS
    train = config.dataset(data, "train_dataset") if isinstance(data, str | Path) else as_dataset(data)
    val_dataset = (
        config.dataset(validation, "val_dataset")
        if isinstance(validation, str | Path)
        else None
        if validation is None
        else as_dataset(validation)
    )
    target = Path(folder) if folder is not None else Path("runs") / _name()
    if (target / "trial-0001").exists():
        raise ConfigError(f"{target} already has a sweep: give this one another folder=")
    total = spaces.size(validated)
    if total is not None and count is not None and total < count:
        log.warning(
            "sweep: the space has %d combinations, so there are %d trials instead of %d: none twice",
            total,
            total,
            count,
        )
        count = total
    write_group(
        target,
        "sweep",
        method=method,
        metric=metric,
        mode=direction,
        space=spaces.describe(validated),
        trials=total if count is None else count,
    )
    return Sweep(
        builder,
        train,
        val_dataset,
        sampler,
        folder=target,
        trials=count,
        metric=metric,
        mode=direction,
        seed=seed,
        at_once=at_once,
        pruning=pruner is not None,
    )


def _name() -> str:
    return f"sweep-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
