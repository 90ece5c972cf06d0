"""The steps before and after a pretrained model, by the task of its architecture and the files of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labdl import models
from labdl.errors import ConfigError
from labdl.infer.inference_plan import InferencePlan
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.pretrained.questions import QuestionReader, prepare_question
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
    if model.task_name in _PLANS_OF_TRAINED:
        return _PLANS_OF_TRAINED[model.task_name](model, settings)
    if folder.task not in _PLANS:
        raise ConfigError(
            f"{folder.architecture} is a model for {folder.task}, for which Inference.of has no steps: write "
            f"Inference(model, preprocess=…, postprocess=…). It has steps for {', '.join(sorted(_PLANS))}"
        )
    return _PLANS[folder.task](model, folder, settings)


def plan_trained(model: Module, settings: Settings) -> InferencePlan:
    """The steps before and after a model that a task on texts has trained, by its ``task_name`` and ``preprocessing``."""
    if model.task_name not in _PLANS_OF_TRAINED:
        raise ConfigError(
            f"the file of the model has no steps for {model.task_name}, which writes token by token: save such a model with "
            "labdl.models.save_pretrained, and give Inference.of that folder"
        )
    return _PLANS_OF_TRAINED[str(model.task_name)](model, settings)


# -- encoders of texts


def _plan_classes(model: Module, folder: PretrainedFolder, settings: Settings) -> InferencePlan:
    kind = folder.config.get("problem_type")
    if kind == "regression" or len(model.class_names or ()) == 1:
        return _regress(model, settings)
    return _classify_texts(model, settings, multilabel=kind == "multi_label_classification")


def _regress(model: Module, settings: Settings) -> InferencePlan:
    """One number, such as a similarity."""
    texts, _ = _encoder_of(model, settings)
    return _encoder_plan(model, texts, texts.prepare, None)


def _classify_texts(model: Module, settings: Settings, multilabel: bool = False) -> InferencePlan:
    texts, rest = _encoder_of(model, settings)
    after = get_postprocessor({"multilabel": multilabel, **_names(model), **rest, "name": "classification"})
    return _encoder_plan(model, texts, texts.prepare, after)


def _classify_tokens(model: Module, settings: Settings) -> InferencePlan:
    texts, rest = _encoder_of(model, settings)
    after = get_postprocessor({**_names(model), **rest, "name": "token_classification"})
    return _encoder_plan(model, texts, texts.prepare_tokens, after)


def _read_questions(model: Module, settings: Settings) -> InferencePlan:
    of_windows = {name: value for name, value in settings.items() if name in ("max_seq_len", "doc_stride")}
    rest = {name: value for name, value in settings.items() if name not in of_windows}
    reader = QuestionReader(model, TextEncoder(model), of_windows)
    after = get_postprocessor({**rest, "name": "question_answering"})
    return InferencePlan(model, [prepare_question], after, 32, generate=reader)


def _fill_masks(model: Module, settings: Settings) -> InferencePlan:
    texts, rest = _encoder_of(model, settings)
    after = get_postprocessor({"vocabulary": texts.tokenizer.decode, **rest, "name": "token_prediction"})
    return _encoder_plan(model, texts, texts.prepare_masked, [_first, after])


def _encoder_of(model: Module, settings: Settings) -> tuple[TextEncoder, Settings]:
    """The encoder of texts, and the settings that are not its own."""
    rest = {name: value for name, value in settings.items() if name != "truncation"}
    return TextEncoder(model, truncation=settings.get("truncation", False)), rest


def _encoder_plan(model: Module, texts: TextEncoder, prepare: Callable, after: Any) -> InferencePlan:
    return InferencePlan(model, [prepare], after, texts.batch_size, collate=texts.collate)


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


def _of_model(plan: Callable[..., InferencePlan]) -> Callable[[Module, PretrainedFolder, Settings], InferencePlan]:
    return lambda model, folder, settings: plan(model, settings)


# by the task that trained a model
_PLANS_OF_TRAINED: dict[str | None, Callable[[Module, Settings], InferencePlan]] = {
    "text classification": _classify_texts,
    "text similarity": _regress,
    "token classification": _classify_tokens,
    "question answering": _read_questions,
    "masked words": _fill_masks,
}
_PLANS: dict[str, Callable[[Module, PretrainedFolder, Settings], InferencePlan]] = {
    "text classification": _plan_classes,
    "token classification": _of_model(_classify_tokens),
    "question answering": _of_model(_read_questions),
    "masked words": _of_model(_fill_masks),
    "text generation": _write_texts,
    "text to text": _write_texts,
    "translation": _write_texts,
    "speech recognition": _write_texts,
    "character recognition": _write_texts,
    "image classification": _classify_pictures,
}
