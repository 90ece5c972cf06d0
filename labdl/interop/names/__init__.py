"""Names of layers and losses in other frameworks, and what they are in LabDL.

One file per framework, which does not import it: ``CLASSES`` has an entry for every class of the framework's namespace of
layers and losses. `labdl.nn` takes a foreign name from here, and so do the reader of source, the names in checkpoints and
the pages "Coming from …" of the documentation.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labdl.interop.names.entry import Entry

__all__ = [
    "FOLLOWED",
    "FRAMEWORKS",
    "Framework",
    "Reading",
    "activation",
    "classes",
    "functions",
    "readings",
    "recurrent_call",
]


class Framework(NamedTuple):
    """A framework as its users write it: title, and the modules in which its layers and losses are."""

    title: str
    modules: tuple[str, ...]
    function_modules: tuple[str, ...] = ()
    """Modules of functions that change a layer."""


# by the name of the backend, and in the order of precedence of a name that several have
FRAMEWORKS = {
    "torch": Framework("PyTorch", ("torch.nn",), ("torch.nn.utils.parametrizations", "torch.nn.utils")),
    "tensorflow": Framework("Keras", ("keras.layers", "keras.losses")),
    "paddle": Framework("PaddlePaddle", ("paddle.nn",)),
    "mindspore": Framework("MindSpore", ("mindspore.nn",)),
}

FOLLOWED = next(iter(FRAMEWORKS))  # the framework whose names and arguments LabDL's own follow


class Reading(NamedTuple):
    """The meaning of a name in one framework."""

    framework: str
    name: str
    entry: Entry

    def __str__(self) -> str:
        return f"{FRAMEWORKS[self.framework].title}'s {self.name}"


def activation(framework: str) -> Entry | None:
    """The entry of a framework's activations by name, if its layers take such a name."""
    return getattr(_module(framework), "ACTIVATION", None)


def recurrent_call(framework: str) -> Callable[[Any], tuple[str, dict[str, Any]]] | None:
    """A function of a recurrent layer of LabDL: the name of the framework's class, and arguments besides its sizes."""
    return getattr(_module(framework), "recurrent_call", None)


@functools.cache
def classes(framework: str) -> Mapping[str, Entry]:
    """The table of a framework."""
    return _module(framework).CLASSES


def functions(framework: str) -> Mapping[str, Entry]:
    """The functions of a framework that change a layer; those of `labdl.nn` have the same meaning."""
    return getattr(_module(framework), "FUNCTIONS", {})


def _module(framework: str):
    return importlib.import_module(f"labdl.interop.names.{framework}")


@functools.cache
def readings(name: str) -> tuple[Reading, ...]:
    """The meanings of a name in the frameworks that have it.

    PyTorch's meaning stands alone: LabDL's own names and arguments follow it.
    """
    found = [Reading(each, name, classes(each)[name]) for each in FRAMEWORKS if name in classes(each)]
    return tuple(found[:1] if found and found[0].framework == FOLLOWED else found)
