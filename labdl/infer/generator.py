"""Generator: the step of an inference whose model writes texts, by `labdl.generate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from labdl.errors import ConfigError, suggest_name
from labdl.generation import GenerationSettings, generate
from labdl.generation.settings import SETTING_NAMES, merge_settings
from labdl.nn.module import Module

# arguments of `labdl.generate` that a call may give beside the settings of the generation
_ARGUMENTS = ("decoder_input_ids", "language", "seed", "stop", "task", "tokenizer", "use_cache")


class Writer(Protocol):
    """A step of an inference that makes the results of prepared samples by itself, such as token by token."""

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting of a call that does not exist, or a value out of range."""

    def __call__(self, samples: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """The result of each sample."""
        ...


class Generator:
    """Texts for prompts, by a model that predicts the next token: arguments of `labdl.generate` and prompts to `Generation`.

    Raises ConfigError for an unknown or invalid setting.
    """

    def __init__(self, model: Module, settings: Mapping[str, Any], *, compiled: bool | str | None = None):
        self.model, self.settings, self.compiled = model, dict(settings), compiled
        self.check({})

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting of a call that the generation does not have, or a value out of range."""
        together = {**self.settings, **settings}
        for name in together:
            if name not in SETTING_NAMES and name not in _ARGUMENTS:
                known = [*sorted(SETTING_NAMES), *_ARGUMENTS]
                raise ConfigError(f"generate has no setting {name!r:.80}{suggest_name(name, known)}")
        self._merge(together)

    def __call__(self, prompts: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """The `Generation` of each prompt, or a list of them where ``num_return_sequences`` are several."""
        together = {**self.settings, **settings}
        results = generate(self.model, list(prompts), compiled=self.compiled, **together)
        count = self._merge(together).num_return_sequences
        assert isinstance(results, list)
        if count == 1:
            return results
        return [results[at : at + count] for at in range(0, len(results), count)]

    def _merge(self, settings: Mapping[str, Any]) -> GenerationSettings:
        saved = getattr(self.model.__dict__.get("pretrained"), "generation", {})
        return merge_settings(saved, {name: value for name, value in settings.items() if name in SETTING_NAMES})
