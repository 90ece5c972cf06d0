"""Samplers of a sweep: random values, a grid, or Optuna."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Protocol

from labdl.errors import ConfigError
from labdl.train.tuning import search_space as spaces
from labdl.train.tuning.search_space import Integers, LogUniform, Space, Uniform

METHODS = ("random", "grid", "optuna")
_DRAWS = 20  # of a combination that no trial has had, before it is looked for in order


class Sampler(Protocol):
    """Samples the parameters of trials, and receives their results."""

    def ask(self, number: int) -> dict[str, Any] | None:
        """Parameters of a trial, numbered from 1; None if there are no more."""

    def tell(self, number: int, value: float | None, *, pruned: bool) -> None:
        """Objective value of a trial; None if it has none."""

    def should_prune(self, number: int, epoch: int, value: float) -> bool:
        """Return True if a trial with this value after an epoch should be pruned."""
        ...


class _IndependentSampler:
    """Base class of samplers that ignore the results of trials."""

    def tell(self, number: int, value: float | None, *, pruned: bool) -> None:
        pass

    def should_prune(self, number: int, epoch: int, value: float) -> bool:
        return False


class _Combinations:
    """The combinations of a finite space that trials have had; a space with a range of numbers has no end."""

    def __init__(self, space: Space):
        self._space, self._total = space, spaces.size(space)
        self._seen: set[str] = set()

    @property
    def at_end(self) -> bool:
        return self._total is not None and len(self._seen) >= self._total

    def add(self, params: dict[str, Any]) -> bool:
        """Note a combination; returns True if it is new."""
        if self._total is None:
            return True
        before = len(self._seen)
        self._seen.add(repr(params))
        return len(self._seen) > before

    def first_new(self) -> dict[str, Any]:
        """The first combination, in the order of a grid, that no trial has had."""
        return next(params for params in spaces.grid(self._space) if repr(params) not in self._seen)


class RandomSampler(_IndependentSampler):
    """Random parameters, independent of each other; in a finite space each combination once."""

    def __init__(self, space: Space, seed: int):
        self.space, self.seed, self._used = space, seed, _Combinations(space)

    def ask(self, number: int) -> dict[str, Any] | None:
        if self._used.at_end:
            return None
        for params in itertools.islice(spaces.samples(self.space, self.seed, number), _DRAWS):
            if self._used.add(params):
                return params
        params = self._used.first_new()
        self._used.add(params)
        return params


class GridSampler(_IndependentSampler):
    """All combinations of the choices, in order."""

    def __init__(self, space: Space):
        self._rows: Iterator[dict[str, Any]] = spaces.grid(space)

    def ask(self, number: int) -> dict[str, Any] | None:
        return next(self._rows, None)


class OptunaSampler:
    """An Optuna study with ask and tell, and its tree-structured Parzen estimator."""

    def __init__(self, space: Space, seed: int, mode: str, pruner: Any):
        self._optuna, self.space = import_optuna(), space
        sampler = self._optuna.samplers.TPESampler(seed=seed)
        direction = {"min": "minimize", "max": "maximize"}[mode]
        logging, verbosity = self._optuna.logging, self._optuna.logging.get_verbosity()
        logging.set_verbosity(max(verbosity, logging.WARNING))  # without the message that a study was created
        try:
            self.study = self._optuna.create_study(
                direction=direction, sampler=sampler, pruner=pruner or self._optuna.pruners.NopPruner()
            )
        finally:
            logging.set_verbosity(verbosity)
        self._trials: dict[int, Any] = {}
        self._used = _Combinations(space)

    def ask(self, number: int) -> dict[str, Any] | None:
        if self._used.at_end:
            return None
        for _ in range(_DRAWS):
            trial = self.study.ask()
            params = {name: _suggest(trial, name, values) for name, values in self.space.items()}
            if self._used.add(params):
                break
            self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)  # a trial has had it
        else:
            params = self._used.first_new()
            places = {
                name: v.index(params[name]) if isinstance(v, list) else params[name] for name, v in self.space.items()
            }
            self.study.enqueue_trial(places)
            trial = self.study.ask()
            params = {name: _suggest(trial, name, values) for name, values in self.space.items()}
            self._used.add(params)
        self._trials[number] = trial
        return params

    def tell(self, number: int, value: float | None, *, pruned: bool) -> None:
        states, trial = self._optuna.trial.TrialState, self._trials.pop(number)
        if pruned:
            self.study.tell(trial, state=states.PRUNED)
        elif value is None:
            self.study.tell(trial, state=states.FAIL)
        else:
            self.study.tell(trial, value)

    def should_prune(self, number: int, epoch: int, value: float) -> bool:
        trial = self._trials[number]
        trial.report(value, epoch)
        return bool(trial.should_prune())


def _suggest(trial: Any, name: str, values: Any) -> Any:
    match values:
        case Uniform(low, high):
            return trial.suggest_float(name, low, high)
        case LogUniform(low, high):
            return trial.suggest_float(name, low, high, log=True)
        case Integers(low, high, log):
            return trial.suggest_int(name, low, high, log=log)
    return values[
        trial.suggest_categorical(name, list(range(len(values))))
    ]  # an index, because Optuna stores only numbers and strings


def import_optuna() -> Any:
    """Import Optuna. Raises ConfigError if it is not installed."""
    try:
        import optuna
    except ImportError:
        raise ConfigError(
            "method='optuna' wants Optuna, which is not installed: pip install \"labdl[sweep]\""
        ) from None
    return optuna


def make_sampler(method: Any, space: Space, seed: int, mode: str, pruner: Any) -> Sampler:
    """Create the sampler of a method by name. Raises ConfigError."""
    if method not in METHODS:
        raise ConfigError(f"sweep: method wants one of {', '.join(METHODS)}, received {method!r}")
    if method == "optuna":
        return OptunaSampler(space, seed, mode, pruner)
    if pruner is not None:
        raise ConfigError("sweep: pruner requires method='optuna'")
    return RandomSampler(space, seed) if method == "random" else GridSampler(space)
