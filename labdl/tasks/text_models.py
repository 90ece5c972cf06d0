"""Models of tasks on texts: those of the zoo and of pretrained folders, their tokenizers, and the length of their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labdl.data.dataset import Dataset
from labdl.data.parts import Text
from labdl.data.text import SentencePiece, Tokenizer
from labdl.errors import ConfigError
from labdl.models import from_pretrained, zoo
from labdl.models.pretrained import PretrainedFolder
from labdl.models.pretrained.family import Family, source_and_target
from labdl.models.pretrained.family import find as find_family
from labdl.models.pretrained.folder import read_config
from labdl.models.pretrained.location import find_folder
from labdl.nn.embedding import Embedding
from labdl.nn.module import Module
from labdl.nn.positions import PositionEmbedding

USUAL_LENGTH = 128  # tokens of a sample, where neither a size is given nor the model has one
_TRAINED = 8000  # tokens of a tokenizer that is trained, where the model does not say how many it has


def is_pretrained_name(model: Any) -> bool:
    """Whether a model is the folder of a pretrained one, or a name of the Hub, and no model of the zoo."""
    return isinstance(model, str | Path) and str(model) not in zoo.ZOO and ("/" in str(model) or Path(model).is_dir())


def task_of_pretrained(model: str | Path | PretrainedFolder) -> str | None:
    """The task that a pretrained model of texts is trained for, None for another one.

    Of an encoder it is that of its head for tokens or questions where the folder has one, else classification; of a decoder
    generation, of both together translation or text to text.
    """
    if isinstance(model, PretrainedFolder):
        family, own = model.family, model.architecture
    else:
        config = read_config(find_folder(model))
        family, listed = find_family(config), config.get("architectures")
        own = listed[0] if isinstance(listed, list) and listed else None
    tasks = [head.task for head in family.heads.values()]
    if family.inputs is source_and_target:
        return "translation" if "translation" in tasks else "text to text"
    if own in family.heads and family.heads[own].task in ("token classification", "question answering"):
        return family.heads[own].task
    return next((task for task in ("text classification", "text generation") if task in tasks), None)


def load_for_task(name: str, task: str, backend: str | None, *, ending: str = "", **settings: Any) -> Module:
    """Load a pretrained model with the head of a task, whose name has an ``ending`` where several heads have the task.

    Raises ConfigError for a family without one.
    """
    config = read_config(find_folder(name))
    family = find_family(config)
    own = config.get("architectures")
    heads = [head for head in _heads_of(family, task) if head.endswith(ending)]
    if not heads:
        raise ConfigError(
            f"{family.model_type} has no head for {task}, only {', '.join(sorted(family.heads))}: choose another model"
        )
    first = own[0] if isinstance(own, list) and own else None
    return from_pretrained(name, backend=backend, architecture=None if first in heads else heads[0], **settings)


def load_encoder_decoder(name: str, task: str, backend: str | None) -> Module:
    """Load a pretrained encoder-decoder of texts, whatever its task. Raises ConfigError for other families."""
    family = find_family(read_config(find_folder(name)))
    if family.inputs is not source_and_target:
        raise ConfigError(
            f"{task} wants an encoder-decoder of texts such as T5, BART or Marian, {family.model_type} is none: choose another "
            "model"
        )
    return from_pretrained(name, backend=backend)


def _heads_of(family: Family, task: str) -> list[str]:
    return [name for name, head in family.heads.items() if head.task == task]


def tokenizer_of(model: Module) -> Tokenizer | SentencePiece | None:
    """The tokenizer of a pretrained model, None for another one."""
    contents = model.__dict__.get("pretrained")
    return contents.tokenizer if isinstance(contents, PretrainedFolder) else None


def vocabulary_size(model: Module) -> int | None:
    """The number of tokens in the first table of embeddings of a model, None without one."""
    return next((part.size for part in model.modules() if type(part) is Embedding), None)


def trained_size(model: Module) -> int:
    """The number of tokens of a tokenizer that is trained for a model."""
    return vocabulary_size(model) or _TRAINED


def has_segments(model: Module) -> bool:
    """Whether a model that takes segments has a table of them, which DistilBERT has not."""
    tables = [
        part.types for path, part in model.named_modules() if path.endswith("embeddings") and hasattr(part, "types")
    ]
    return not tables or any(table is not None for table in tables)


def check_vocabulary(model: Module, tokenizer: Tokenizer | SentencePiece) -> None:
    """Raise ConfigError for a tokenizer with numbers beyond the table of embeddings."""
    size = vocabulary_size(model)
    if size is not None and tokenizer.vocab_size > size:
        raise ConfigError(
            f"the tokenizer has {tokenizer.vocab_size:,} tokens, {type(model).__name__} knows {size:,}: give the tokenizer "
            "that the model was trained with, or create the model for more tokens"
        )


def length_of(model: Module, size: Any, usual: int = USUAL_LENGTH) -> int:
    """The number of tokens of a sample: ``size``, the length that the model was made for, or the ``usual`` one at most.

    Raises ConfigError for more than the positions of the model.
    """
    positions = [part.size for part in model.modules() if isinstance(part, PositionEmbedding)]
    limit = min(positions, default=None)
    if size is None:
        first = (model._input_specs or (None,))[0]
        own = first.shape[1] if first is not None and first.ndim == 2 else None
        return own or min(usual, limit or usual)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ConfigError(f"size of a text is its number of tokens, received {size!r:.60}")
    if limit is not None and size > limit:
        raise ConfigError(f"{type(model).__name__} has {limit} positions, received size={size}: give a smaller one")
    return size


def check_texts(name: str, model: Module, dataset: Dataset) -> None:
    """Raise ConfigError if samples have no texts, or the model takes no tokens."""
    specs = model._input_specs
    if specs and specs[0] is not None and not specs[0].dtype.startswith("int"):
        raise ConfigError(f"{name} wants a model of tokens, {type(model).__name__} takes {specs[0].dtype}")
    if not has_texts(dataset):
        kind = ", ".join(dataset.inputs) or "no named inputs"
        raise ConfigError(
            f"{name} wants samples with texts, such as those of labdl.data.TextFolder, {dataset!r} has {kind}"
        )


def has_texts(dataset: Dataset) -> bool:
    """Whether all inputs of a data set are texts."""
    sample = dataset[0] if len(dataset) and dataset.inputs else {}
    texts = [isinstance(sample.get(key), Text | str) for key in dataset.inputs] if isinstance(sample, dict) else []
    return bool(texts) and all(texts)
