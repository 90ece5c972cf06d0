"""Which settings a parameter has: those of the optimizer, or of the groups whose patterns match its name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from labdl.errors import ConfigError
from labdl.train.optimizers.base import Optimizer, of_group
from labdl.train.schedules.base import Schedule


class GroupResolver:
    """Finds the settings and the schedule of parameters; those with the same ones get the same objects."""

    def __init__(self, rule: Optimizer):
        self._rule = rule
        self._found: dict[tuple, tuple[Optimizer, Schedule | None]] = {}

    def __call__(self, name: str, shape: Sequence[int]) -> tuple[Optimizer, Schedule | None]:
        """The optimizer of a parameter, without groups, and the schedule of its group."""
        groups = self._rule.group_list
        matching = tuple(i for i, (pattern, _) in enumerate(groups) if fnmatchcase(name, pattern))
        key = (matching, is_norm_or_bias(name, shape))
        if key not in self._found:
            found, schedule = self._resolve([groups[i][1] for i in matching], key[1])
            same = (r for r, s in self._found.values() if type(r) is type(found) and r == found and s is schedule)
            self._found[key] = next(same, found), schedule
        return self._found[key]

    def _resolve(self, groups: list[Any], is_exempt: bool) -> tuple[Optimizer, Schedule | None]:
        rule, schedule, decay_set = of_group(self._rule, {}), None, False
        for group in groups:
            if isinstance(group, Optimizer):
                rule, schedule, decay_set = group, None, False
                continue
            settings = {name: value for name, value in group.items() if name != "schedule"}
            another = "name" in settings
            schedule = group.get("schedule", None if another else schedule)
            decay_set = "weight_decay" in settings or (decay_set and not another)
            rule = of_group(rule, settings)
        if is_exempt and not decay_set and not getattr(rule, "decay_norm_and_bias", True):
            rule = of_group(rule, {"weight_decay": 0.0})
        return rule, schedule


def is_norm_or_bias(name: str, shape: Sequence[int]) -> bool:
    """True for biases, gamma and beta of normalizations, and other parameters of fewer than two axes, as in timm."""
    own = name.rpartition("/")[2].partition(":")[0]
    return len(shape) < 2 or own.endswith("bias") or own in ("gamma", "beta")


def check_patterns(rule: Optimizer, names: Iterable[str]) -> None:
    """Raise ConfigError for a group whose pattern no parameter matches, with the most similar names."""
    known = list(names)
    for pattern, _ in rule.group_list:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ConfigError(
                f"{type(rule).__name__}: groups names {pattern!r}, which no parameter matches{_suggest(pattern, known)}"
            )


def _suggest(pattern: str, names: list[str]) -> str:
    for word in (pattern.replace(".", "/"), f"*{pattern.replace('.', '/')}*"):  # as PyTorch writes names; a part of one
        if any(fnmatchcase(name, word) for name in names):
            return f": did you mean {word!r}?"
    parts = [name.split("/") for name in names]
    prefixes = dict.fromkeys("/".join([*p[:depth], "*"]) for p in parts for depth in range(1, len(p)))
    near = difflib.get_close_matches(pattern.replace(".", "/"), [*prefixes, *names], 3, 0.6)
    if near:
        return f": did you mean {' or '.join(map(repr, near))}?"
    return f"; there are {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
