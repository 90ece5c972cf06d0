"""Which of the arrays in a checkpoint are a model's parameters: those of a dictionary in it, under the model's names.

A file of a training holds more than them, in dictionaries of any name, and the names may have additions by wrappers of modules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from labdl.errors import StateDictError
from labdl.interop.key_map import Keys, rename_keys
from labdl.saving.native.formats.tree import Path, is_array, shape_of

# attributes in which wrappers keep a module: DataParallel, torch.compile, FSDP, Fabric, Paddle's DataParallel
_WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module", "_layers"}
_USUAL = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "module", "weights", "params")
_OPTIMIZERS = ("optim", "opt")  # beginnings of the keys under which trainings keep the state of an optimizer
# what optimizers of MindSpore add to the names of parameters, whose values they save beside them
_SLOTS = {
    "mindspore": {
        "moments",
        "moment",
        "moment1",
        "moment2",
        "vhat",
        "adam_m",
        "adam_v",
        "lamb_m",
        "lamb_v",
        "ax_",
        "accum",
        "linear",
        "accum_update",
        "exp_avg",
        "exp_avg_sq",
        "mean_grad",
        "mean_square",
        "prev",
        "step_size",
        "stat",
    },
}
# values of their own beside parameters: of these optimizers, and of averages (torch.optim.swa_utils.AveragedModel)
_COUNTERS = {
    "mindspore": {
        "learning_rate",
        "momentum",
        "global_step",
        "beta1_power",
        "beta2_power",
        "epoch_num",
        "step_num",
        "loss_scale",
        "scale_sense",
        "current_iterator_step",
        "last_overflow_iterator_step",
        "weight_decay",
    },
    "torch": {"n_averaged"},
}
_WORDS = 12  # words of a name that may be a prefix


class ParameterSearch(NamedTuple):
    """The framework's names of a model's parameters, with dots, and their shapes where only one is possible."""

    shapes: Mapping[str, tuple[int, ...] | None]
    framework: str
    prefix: str = ""
    keys: Keys | None = None

    def choose(self, arrays: Mapping[Path, Any]) -> dict[str, Any]:
        """The arrays of the dictionary that fits best, by the model's names; others under their own.

        Raises StateDictError where several fit, and for a prefix that no name has.
        """
        candidates = self._candidates(arrays)
        scores = {path: self._score(names) for path, names in candidates.items()}
        best = max(scores.values())
        fitting = [path for path, score in scores.items() if score == best]
        if best == (0, 0):
            path = min(fitting, key=_unusual)
        else:
            path = fitting[0]
            others = [other for other in fitting if not _same(candidates[path], candidates[other])]
            if others:
                paths = [".".join(way) + "." for way in (path, *others)]
                raise StateDictError(
                    f"{len(paths)} dictionaries in it have the model's parameters, {', '.join(paths[:5])}: choose one by its "
                    f"prefix, such as load_checkpoint(model, path, prefix={paths[0]!r})"
                )
        return {n: a for n, a in candidates[path].items() if (is_array(a) or n in self.shapes) and not self._beside(n)}

    def advice(self, names: Iterable[str]) -> str:
        """A sentence about a prefix that would make names fit, or nothing."""
        given = list(names)
        if best := _common_start(given, self.shapes):
            return f". Names in the file begin with {best!r}: load_checkpoint(model, path, prefix={best!r}) removes it"
        if best := _common_start(self.shapes, dict.fromkeys(given)):
            return f". The model's names begin with {best!r}: load_checkpoint(model, path, keys={{'*': '{best}*'}}) adds it"
        return ""

    def _candidates(self, arrays: Mapping[Path, Any]) -> dict[Path, dict[str, Any]]:
        """The contents of each dictionary, also of those inside, by name: without prefix and wrappers, and with new names."""
        found: dict[Path, dict[str, Any]] = {}
        for path, value in arrays.items():
            before, rest = self._without_prefix(path)
            if rest is None:
                continue
            for at in range(len(rest)):
                found.setdefault((*before, *rest[:at]), {})[".".join(rest[at:])] = value
        if not found:
            given = [".".join(path) for path, value in arrays.items() if is_array(value)]
            raise StateDictError(
                f"no name in it begins with {self.prefix!r}: there are {', '.join(name[:100] for name in given[:5])}"
                + self.advice(given)
            )
        cleaned, problems = {}, []
        wrappers = _WRAPPERS - {word for name in self.shapes for word in name.split(".")}
        for path, names in found.items():
            if any(key.lower().startswith(_OPTIMIZERS) for key in path) and self._score(names) == (0, 0):
                continue
            try:
                cleaned[path] = rename_keys(_without(wrappers, names), keys=self.keys)
            except StateDictError as error:
                problems.append(error)
        if problems and not any(self._score(names)[1] for names in cleaned.values()):
            raise problems[0]
        if not cleaned:
            raise StateDictError("it holds the state of an optimizer alone")
        return cleaned

    def _without_prefix(self, path: Path) -> tuple[Path, Path | None]:
        """The keys before the prefix, and those after it: it may begin in any dictionary of the file."""
        if not self.prefix:
            return (), path
        for at in range(len(path)):
            if ".".join(path[at:]).startswith(self.prefix):
                left = len(self.prefix)
                for number, key in enumerate(path[at:], at):
                    if left < len(key):
                        return path[:at], (key[left:], *path[number + 1 :])
                    left -= len(key) + 1  # and its dot
                    if left <= 0 and number + 1 < len(path):
                        return path[:at], path[number + 1 :]
        return (), None

    def _score(self, names: Mapping[str, Any]) -> tuple[int, int]:
        """How many parameters have their shape in a dictionary, and how many are there at all."""
        there = [name for name in names if name in self.shapes and is_array(names[name])]
        return sum(self.shapes[name] in (None, shape_of(names[name])) for name in there), len(there)

    def _beside(self, name: str) -> bool:
        """Whether optimizers and averages keep this in the same dictionary as the parameters."""
        if name in self.shapes:
            return False
        first, _, rest = name.partition(".")
        is_slot = first in _SLOTS.get(self.framework, ()) and rest in self.shapes
        return is_slot or name in _COUNTERS.get(self.framework, ())


def _without(words: set[str], names: Mapping[str, Any]) -> dict[str, Any]:
    return rename_keys(names, keys=lambda name: ".".join(word for word in name.split(".") if word not in words))


def _unusual(path: Path) -> tuple[bool, int]:
    """Sorts the dictionaries that hold parameters by custom first, and outer before inner ones."""
    return (not (path and path[-1] in _USUAL), len(path))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two dictionaries have the same arrays, as where one is kept under two names."""
    return one.keys() == other.keys() and all(other[name] is value for name, value in one.items())


def _common_start(names: Iterable[str], wanted: Mapping[str, Any]) -> str:
    """The beginning of names without which most of the wanted ones are among them."""
    counts: Counter[str] = Counter()
    for name in names:
        words = name.split(".")
        for at in range(1, min(len(words), _WORDS)):
            if ".".join(words[at:]) in wanted:
                counts[".".join(words[:at]) + "."] += 1
    best, count = counts.most_common(1)[0] if counts else ("", 0)
    return best if 2 * count >= len(wanted) else ""
