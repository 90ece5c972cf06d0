"""`from_pretrained`: a model, its tokenizer and its settings of generation from a folder or from the Hub."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labdl.data.text import MarianTokenizer, SentencePiece, Tokenizer
from labdl.errors import ConfigError, ModelError
from labdl.interop.public_weights import PublicNames
from labdl.models.pretrained import family as families
from labdl.models.pretrained.families.labels import class_names
from labdl.models.pretrained.family import Family, Head
from labdl.models.pretrained.folder import read_config, read_generation, read_optional
from labdl.models.pretrained.location import find_folder
from labdl.models.pretrained.tokenizers import read_tokenizer
from labdl.models.pretrained.weights import fit_weights, read_weights
from labdl.nn.module import Module
from labdl.spec import Spec

_LARGEST, _MOST_LAYERS = 1 << 31, 2000  # of a config


@dataclass(frozen=True, eq=False)
class PretrainedFolder:
    """Contents of a pretrained model's folder beside its weights: a model of `from_pretrained` has it as ``pretrained``.

    ``config`` is config.json, ``architecture`` the class in it. ``tokenizer`` is one of `labdl.data.text`, None where the
    folder has none; ``generation`` are the settings of `labdl.generate`, ``processor`` those of images or sounds.
    """

    family: Family
    architecture: str
    config: dict[str, Any]
    tokenizer: Tokenizer | MarianTokenizer | SentencePiece | None = None
    generation: dict[str, Any] = field(default_factory=dict)
    processor: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def head(self) -> Head:
        return self.family.heads[self.architecture]

    @property
    def task(self) -> str:
        """The purpose of the outputs, such as "text generation"."""
        return self.head.task

    def names(self, model: Module) -> PublicNames:
        """The public names of the model's weights."""
        return self.head.names(model) if self.head.names else model.public_names  # type: ignore[attr-defined]


def from_pretrained(
    source: str | Path,
    *,
    backend: str | None = None,
    architecture: str | None = None,
    classes: int | None = None,
    revision: str | None = None,
    ignore: Collection[str] = (),
) -> Module:
    """Load a pretrained model of a folder or of the Hugging Face Hub, on any backend, in evaluation mode.

    ``source`` is the path of a folder with config.json, weights (model.safetensors or pytorch_model.bin, also in several files)
    and a tokenizer, or a name on the Hub, which needs the library huggingface_hub; ``revision`` is a branch, tag or commit
    there. Files are read, nothing in them is executed. The model's attribute ``pretrained`` has its config, tokenizer and
    settings of generation::

        model = labdl.models.from_pretrained("google-bert/bert-base-uncased", backend="paddle")
        tokens = model.pretrained.tokenizer.encode("A small boat")

    ``architecture`` replaces the one in the config: ``architecture="BertForSequenceClassification", classes=3`` gives the
    encoder a new head, whose parameters are drawn and named by a warning. ``ignore`` has keys of config.json to pass over.

    Half-precision weights become float32. Raises ConfigError naming a model_type, architecture or key of the config that LabDL
    does not have; MissingFileError that says which files to put where; FileFormatError for a broken file;
    StateDictError for weights that do not fit the config. Source: transformers.AutoModel.from_pretrained.
    """
    folder = find_folder(source, revision)
    config = read_config(folder)
    family = families.find(config)
    name, head = families.find_head(family, config, architecture)
    settings = families.read_settings(family, config, ignore)
    if classes is not None:
        if "classes" not in settings:
            raise ConfigError(f"{family.model_type} has no classes")
        settings["classes"] = classes
    model, specs = _create(family, head, settings)
    contents = PretrainedFolder(
        family,
        name,
        config,
        read_tokenizer(folder, family),
        read_generation(folder, config),
        read_optional(folder / "preprocessor_config.json"),
        folder,
    )
    weights = read_weights(folder)
    if classes is not None:
        weights = _without_other_classes(model, weights, contents)
    new = architecture is not None or classes is not None
    values = fit_weights(model, weights, family, contents.names(model), new_head=new)
    model.build(*specs, backend=backend)
    model.load_state_dict(values, strict=False)
    model.__dict__["pretrained"] = contents
    names = class_names(config)
    if "classif" in contents.task and names is not None and classes in (None, len(names)):
        model.class_names = names
    return model.eval()


def _create(family: Family, head: Head, settings: families.Settings) -> tuple[Module, tuple[Spec | None, ...]]:
    """The model with its shapes, without values: those that a config tells are compared with the weights before."""
    large = {name: value for name, value in settings.items() if isinstance(value, int) and abs(value) > _LARGEST}
    if large or settings.get("layers", 1) > _MOST_LAYERS:
        raise ConfigError(
            f"config.json: {family.model_type} has sizes beyond any model: {large or settings['layers']!r:.100}"
        )
    try:
        model = head.create(settings)
        specs = family.inputs(model)
        model._shapes_of(*specs)
    except (ArithmeticError, TypeError, ValueError) as error:  # such as text where a number belongs
        raise ConfigError(f"config.json: {family.model_type} cannot be created: {error!s:.300}") from None
    return model, specs


def _without_other_classes(model: Module, weights: dict[str, Any], kept: PretrainedFolder) -> dict[str, Any]:
    """The weights without a head for another number of classes."""
    own = {name: parameter.standard_shape for name, parameter in model.named_parameters()}
    table = kept.names(model)

    def fits(name: str) -> bool:
        values = table.convert({name: weights[name]}).values
        return all(own.get(key, value.shape) == value.shape for key, value in values.items())

    return {name: value for name, value in weights.items() if fits(name)}


def pretrained_of(model: Module) -> PretrainedFolder:
    """The ``pretrained`` of a model of `from_pretrained`. Raises ModelError for another one."""
    contents = model.__dict__.get("pretrained")
    if not isinstance(contents, PretrainedFolder):
        raise ModelError(
            f"this {type(model).__name__} is not one of labdl.models.from_pretrained, and has no tokenizer or config"
        )
    return contents
