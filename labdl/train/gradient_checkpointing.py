"""Gradient checkpointing: modules whose intermediate results are computed again for the gradient instead of kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from labdl.nn.module import Module
    from labdl.train.context import TrainContext


def with_checkpointing(context: TrainContext, function: Callable, backend: Any) -> Callable:
    """The differentiated function of a phase, in which the modules of the setting are recomputed; itself without one."""
    if not context.settings.gradient_checkpointing:
        return function
    modules = checkpointed_modules(context, backend)

    def run(*args):
        with _recomputing(modules, backend):
            return function(*args)

    return run


def checkpointed_modules(context: TrainContext, backend: Any) -> list[Module]:
    """The modules whose paths match ``gradient_checkpointing``.

    Raises ConfigError for a backend that has no gradient checkpointing and for compiled steps, ModelError for a pattern that
    matches nothing.
    """
    if not hasattr(backend, "recompute"):
        raise ConfigError(
            f"gradient_checkpointing wants PyTorch or PaddlePaddle, {backend.name} has none here: train with smaller batches "
            "and accumulate"
        )
    if context.compiled:
        raise ConfigError(
            "gradient_checkpointing and compiled=True exclude each other: a compiler chooses what it keeps"
        )
    found: list[Module] = []
    for pattern in context.settings.gradient_checkpointing:
        matching = [module for path, module in context.model.named_modules() if path and fnmatchcase(path, pattern)]
        if not matching:
            paths = ", ".join(path for path, _ in context.model.named_modules() if path)
            raise ModelError(f"gradient_checkpointing: no module matches {pattern!r}, there are {paths:.300}")
        found += [module for module in matching if not any(module is other for other in found)]
    return found


@contextmanager
def _recomputing(modules: list[Module], backend: Any) -> Iterator[None]:
    """A context in which modules are recomputed; the second time their forwards are the plain ones."""
    originals = [(module, module.__dict__.get("forward")) for module in modules]
    try:
        for module in modules:
            buffers = [p.value for p in module.parameters() if not p.learnable]
            module.__dict__["forward"] = backend.recompute(module.forward, buffers)
        yield
    finally:
        for module, forward in originals:
            module.__dict__.pop("forward", None) if forward is None else module.__dict__.update(forward=forward)
