"""Which values a sweep tries next: at random, all of a grid, or as Optuna advises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from labdl.errors import ConfigError
from labdl.train.tuning import search_space as spaces
from labdl.train.tuning.search_space import Integers, LogUniform, Space, Uniform

METHODS = ("random", "grid", "optuna")


class Sampler(Protocol):
    """Proposes values, and hears what came of them."""

    def ask(self, number: int) -> dict[str, Any] | None:
        """The values of a trial, the first being 1; None when there are no more."""

    def tell(self, number: int, value: float | None, *, pruned: bool) -> None:
        """Objective value of a trial; None if it has none."""

    def should_prune(self, number: int, epoch: int, value: float) -> bool:
        """Whether a trial that stands so after an epoch is to be given up."""
        ...


class _Plain:
    """Proposals that do not depend on what came of others."""

    def tell(self, number: int, value: float | None, *, pruned: bool) -> None:
        pass

    def should_prune(self, number: int, epoch: int, value: float) -> bool:
        return False


class Random(_Plain):
    """Each value drawn on its own."""

    def __init__(self, space: Space, seed: int):
        self.space, self.seed = space, seed

    def ask(self, number: int) -> dict[str, Any]:
        return spaces.drawn(self.space, self.seed, number)


class Grid(_Plain):
    """All combinations in their order."""

    def __init__(self, space: Space):
        self._rows: Iterator[dict[str, Any]] = spaces.grid(space)

    def ask(self, number: int) -> dict[str, Any] | None:
        return next(self._rows, None)


class Optuna:
    """An Optuna study by ask and tell, with its tree-structured Parzen estimator."""

    def __init__(self, space: Space, seed: int, mode: str, pruner: Any):
        self._optuna, self.space = imported(), space
        sampler = self._optuna.samplers.TPESampler(seed=seed)
        direction = {"min": "minimize", "max": "maximize"}[mode]
        logging, told = self._optuna.logging, self._optuna.logging.get_verbosity()
        logging.set_verbosity(max(told, logging.WARNING))  # a study that is made is news to nobody
        try:
            self.study = self._optuna.create_study(
                direction=direction, sampler=sampler, pruner=pruner or self._optuna.pruners.NopPruner()
            )
        finally:
            logging.set_verbosity(told)
        self._trials: dict[int, Any] = {}

    def ask(self, number: int) -> dict[str, Any]:
        trial = self._trials[number] = self.study.ask()
        return {name: _suggested(trial, name, values) for name, values in self.space.items()}

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


def _suggested(trial: Any, name: str, values: Any) -> Any:
    match values:
        case Uniform(low, high):
            return trial.suggest_float(name, low, high)
        case LogUniform(low, high):
            return trial.suggest_float(name, low, high, log=True)
        case Integers(low, high, log):
            return trial.suggest_int(name, low, high, log=log)
    return values[trial.suggest_categorical(name, list(range(len(values))))]  # Optuna keeps numbers and texts only


def imported() -> Any:
    """Optuna. Raises ConfigError where it is not installed."""
    try:
        import optuna
    except ImportError:
        raise ConfigError("method='optuna' wants Optuna, which is not installed: pip install labdl[sweep]") from None
    return optuna


def make_sampler(method: Any, space: Space, seed: int, mode: str, pruner: Any) -> Sampler:
    """Sampler for a method by name. Raises ConfigError."""
    if method not in METHODS:
        raise ConfigError(f"sweep: method wants one of {', '.join(METHODS)}, received {method!r}")
    if method == "optuna":
        return Optuna(space, seed, mode, pruner)
    if pruner is not None:
        raise ConfigError("sweep: pruner is one of Optuna's: give it with method='optuna'")
    return Random(space, seed) if method == "random" else Grid(space)
