"""Registry of models by name, with task, inputs and published number of parameters."""

from __future__ import annotations

import difflib
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labdl import habits
from labdl.errors import ConfigError
from labdl.models.weights import class_names, locate_weights
from labdl.models.weights.loading import load_weights
from labdl.nn.module import Module
from labdl.settings import Declaration, declaration_of_function, plain_numbers
from labdl.spec import Spec

Inputs = Callable[[Any], tuple[Spec, ...]]
Weights = Mapping[str, np.ndarray]
FromPublic = Callable[[Weights], dict[str, np.ndarray]]
Small = Callable[[], tuple[Module, tuple[Spec, ...]]]
Maker = typing.TypeVar("Maker", bound=Callable[..., Module])

ZOO: dict[str, ZooModel] = {}


@dataclass(frozen=True)
class ZooModel:
    """A published model: its factory function and its metadata."""

    name: str
    task: str
    summary: str
    paper: str
    parameters: int  # as published, with default settings
    make: Callable[..., Module]
    inputs: Inputs
    from_public: FromPublic | None  # standard names and shapes of the weights of the published implementation
    small: Small | None  # a small model of the family and the specs of its inputs, for checks

    @property
    def settings(self) -> Declaration:
        """The arguments of the function, with their types."""
        return declaration_of_function(self.make, self.name)

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the settings, for forms."""
        return self.settings.schema()

    def create(self, **settings) -> Module:
        """Create the model with these settings, not built, with its default input specs. Raises ConfigError."""
        settings = plain_numbers(settings)
        self.settings.check(settings)
        model = self.make(**self.settings.restore_numbers(settings))
        # so that trace, editor and summary need no shapes
        model.__dict__["_input_specs"] = self.inputs(model)
        return model


def register(
    task: str,
    *,
    inputs: Inputs,
    parameters: int,
    paper: str,
    from_public: FromPublic | None = None,
    small: Small | None = None,
):
    """Register a function that creates a model, under its own name.

    The function's annotated arguments are the model's settings, the first line of its docstring its summary. ``inputs``
    gives the Specs of a model's inputs, ``parameters`` is the number of parameters with default settings according to the
    paper or the reference implementation. ``from_public`` gives the weights of that implementation standard names and
    shapes; ``small`` gives a small model of the family and the specs of its inputs, and is given once per family. Raises
    ConfigError for a name that another model has.
    """

    def decorate(make: Maker) -> Maker:
        name = make.__name__
        known = ZOO.get(name)
        if known is not None and known.make.__module__ != make.__module__:
            raise ConfigError(f"the zoo has a model {name!r} already, that of {known.make.__module__}")
        summary = (inspect.getdoc(make) or "").partition("\n")[0]
        ZOO[name] = ZooModel(name, task, summary, paper, parameters, make, inputs, from_public, small)
        return make

    return decorate


def images(size: int = 224, channels: int = 3) -> Inputs:
    """One input: images of this size, (N, channels, size, size)."""
    return lambda model: (Spec((None, channels, size, size)),)


def clips(frames: int = 16, size: int = 112, channels: int = 3) -> Inputs:
    """One input: clips of so many frames, (N, channels, frames, size, size)."""
    return lambda model: (Spec((None, channels, frames, size, size)),)


def tokens(*lengths: int) -> Inputs:
    """Inputs of tokens, (N, length) each."""
    return lambda model: tuple(Spec((None, length), "int64") for length in lengths)


def find(name: str) -> ZooModel:
    """Look up the entry of a model. Raises ConfigError that suggests similar names."""
    if name not in ZOO:
        near = difflib.get_close_matches(str(name)[:80].lower().replace("-", "_"), ZOO, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "labdl.models.list_models() lists them"
        raise ConfigError(f"the zoo has no model {name!r:.80}: {hint}")
    return ZOO[name]


def create(
    name: str,
    *,
    weights: Weights | str | Path | None = None,
    backend: str | None = None,
    progress: bool = True,
    **settings,
) -> Module:
    """Create a model by name: ``labdl.models.create("resnet50", classes=10)``; it is not built yet.

    Names are those of the published implementations; `list_models` lists them. With ``weights`` the model is built for its
    usual inputs on the ``backend``, the default one if it is None, and has these values. They are

    - the name of a set, ``weights="torchvision/IMAGENET1K_V2"`` or ``"torchvision"`` for the default of this reference
      (`labdl.models.weights.list_weights` lists them), which is downloaded once, with ``progress``, and checked by its hash;
    - a file, ``"path/to/file.pth"``, .safetensors or .npz, with the names of the published implementation;
    - ``"hf://owner/name"`` or ``"hf://owner/name/file"``, a file of the Hugging Face Hub;
    - a state dict of the published implementation (see `load_public`).

    A set brings the `preprocessing` and the `class_names` of the model along, and settings that it needs (``image_size``).
    With other ``classes`` than those of the weights, all but the head is loaded, and a warning says so; of a detector, all
    layers whose size depends on the number of classes.

    Raises ConfigError for an unknown name or setting, ModelError where public names of the model are not known,
    StateDictError for weights of another model, MissingFileError without the file, FileFormatError for one that is broken.
    """
    entry = find(name)
    if "num_classes" in settings and "classes" not in settings:  # as it is called elsewhere
        settings["classes"] = settings.pop("num_classes")
    for setting in settings:
        advice = habits.hint("setting of a zoo model", setting)
        if advice:
            raise ConfigError(f"{name} has no setting {setting!r}{advice}")
    if weights is None:
        return entry.create(**settings)
    entry.settings.check(settings)  # before a download
    source, title, weight_set = weights, "the weights", None
    if isinstance(weights, str | Path):
        source, weight_set = locate_weights(name, weights, progress=progress)
        title = str(weights) if weight_set is None else weight_set.path
    model = entry.create(**{**(weight_set.settings if weight_set else {}), **settings})
    model.build(*model.input_specs, backend=backend)
    left_out = load_weights(
        model,
        source,
        title=title,
        classes=settings.get("classes"),
        of_classes=functools.partial(_parameters_of_classes, entry, settings, model),
    )
    if weight_set is not None:
        model.preprocessing = weight_set.preprocessing.pipeline()
        has_head = settings.get("classes", "all") is not None
        model.class_names = class_names(weight_set.labels) if weight_set.labels and has_head and not left_out else None
    return model


def _parameters_of_classes(entry: ZooModel, settings: Mapping[str, Any], model: Module) -> set[str]:
    """Names of the parameters of a model whose shapes depend on its number of classes."""
    shapes = {name: parameter.standard_shape for name, parameter in model.named_parameters()}
    names = set()
    for classes in (2, 1000):
        other = entry.create(**{**settings, "classes": classes})
        other._shapes_of(*other.input_specs)  # nothing is drawn
        names |= {name for name, parameter in other.named_parameters() if shapes.get(name) != parameter.standard_shape}
    return names & shapes.keys()


def list_models(task: str | None = None) -> list[str]:
    """Sorted names of the models, all or those of one task, such as "image classification"."""
    tasks = {model.task for model in ZOO.values()}
    if task is not None and task not in tasks:
        raise ConfigError(f"the zoo has no models for {task!r:.80}; its tasks: {', '.join(sorted(tasks))}")
    return sorted(name for name, model in ZOO.items() if task in (None, model.task))
