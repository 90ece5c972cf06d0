"""The steps before and after a pretrained model, by the task of its architecture and the files of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labdl import models
from labdl.errors import ConfigError
from labdl.infer.inference_plan import InferencePlan
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.pretrained.signals import check_prompt
from labdl.infer.pretrained.texts import TextEncoder
from labdl.models import zoo
from labdl.models.pretrained.loading import PretrainedFolder
from labdl.nn.module import Module
from labdl.tasks.processors import create_processor

Settings = Mapping[str, Any]
_OF_LOADING = ("architecture", "classes", "ignore", "revision")  # arguments of `labdl.models.from_pretrained`


def is_pretrained_source(name: Any) -> bool:
    """Whether a name is that of a folder or of a model of the Hub, rather than that of a model of the zoo."""
    if isinstance(name, Path):
        return True
    return isinstance(name, str) and name not in zoo.ZOO and ("/" in name or Path(name).is_dir())


def plan_folder(source: str | Path, *, backend: str | None, settings: Settings) -> InferencePlan:
    """Load a model by `labdl.models.from_pretrained`, and choose the steps before and after it."""
    of_loading = {name: value for name, value in settings.items() if name in _OF_LOADING}
    rest = {name: value for name, value in settings.items() if name not in _OF_LOADING}
    return plan_pretrained(models.from_pretrained(source, backend=backend, **of_loading), rest)


def plan_pretrained(model: Module, settings: Settings) -> InferencePlan:
    """The steps before and after a model of `labdl.models.from_pretrained`; ``settings`` are those of its results.

    Raises ConfigError for a task without steps.
    """
    folder: PretrainedFolder = model.__dict__["pretrained"]
    if folder.task not in _PLANS:
        raise ConfigError(
            f"{folder.architecture} is a model for {folder.task}, for which Inference.of has no steps: write "
            f"Inference(model, preprocess=…, postprocess=…). It has steps for {', '.join(sorted(_PLANS))}"
        )
    return _PLANS[folder.task](model, folder, settings)


# -- encoders of texts


def _classify_texts(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    texts = TextEncoder(model)
    kind = folder.config.get("problem_type")
    if kind == "regression" or len(model.class_names or ()) == 1:  # one number, such as a similarity
        return _encoder_plan(model, texts, texts.prepare, None)
    multilabel = kind == "multi_label_classification"
    after = get_postprocessor({"multilabel": multilabel, **_names(model), **settings, "name": "classification"})
    return _encoder_plan(model, texts, texts.prepare, after)


def _classify_tokens(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    texts = TextEncoder(model)
    after = get_postprocessor({**_names(model), **settings, "name": "token_classification"})
    return _encoder_plan(model, texts, texts.prepare_tokens, after)


def _answer_questions(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    texts = TextEncoder(model)
    after = get_postprocessor({**settings, "name": "question_answering"})
    return _encoder_plan(model, texts, texts.prepare_question, after)


def _fill_masks(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    texts = TextEncoder(model)
    after = get_postprocessor({"vocabulary": texts.tokenizer.decode, **settings, "name": "token_prediction"})
    return _encoder_plan(model, texts, texts.prepare_masked, [_first, after])


def _encoder_plan(model: Module, texts: TextEncoder, prepare: Callable, after: Any) -> InferencePlan:
    return InferencePlan(model, [prepare], after, 32, collate=texts.collate)


def _names(model: Module) -> dict[str, Any]:
    return {} if model.class_names is None else {"names": tuple(model.class_names)}


def _first(output: Any) -> Any:
    """The scores of words, where a model has a head for the next sentence too."""
    return output[0] if isinstance(output, tuple) else output


# -- models that write texts


def _write_texts(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    return InferencePlan(model, [check_prompt(model)], None, 8, generate=settings)


# -- pictures


def _classify_pictures(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    if not folder.processor:
        raise ConfigError("the folder has no preprocessor_config.json, which tells the size and the colors of pictures")
    after = get_postprocessor({"top_k": 5, **_names(model), **settings, "name": "classification"})
    return InferencePlan(model, [create_processor(folder.processor)], [_mean, after], 32)


def _mean(output: Any) -> Any:
    """The mean of the heads of a class token and of a token for distillation (Touvron et al., 2021), where there are two."""
    return sum(output) / len(output) if isinstance(output, tuple) else output


_PLANS: dict[str, Callable[[Module, PretrainedFolder, Settings], InferencePlan]] = {
    "text classification": _classify_texts,
    "token classification": _classify_tokens,
    "question answering": _answer_questions,
    "masked words": _fill_masks,
    "text generation": _write_texts,
    "text to text": _write_texts,
    "translation": _write_texts,
    "speech recognition": _write_texts,
    "character recognition": _write_texts,
    "image classification": _classify_pictures,
}
