"""`save_pretrained`: a folder that the public library opens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labdl.bounded.atomic_write import replace_files
from labdl.errors import ConfigError, ModelError
from labdl.models.pretrained.loading import PretrainedFolder, pretrained_of
from labdl.nn.lora import lora_paths
from labdl.nn.module import Module


def save_pretrained(model: Module, folder: str | Path) -> Path:
    """Write a model of `from_pretrained`, trained further or not, as a folder that the public library opens.

    The folder gets config.json, model.safetensors in float32 and, where the model has them, generation_config.json,
    preprocessor_config.json and the tokenizer::

        labdl.models.save_pretrained(model, "my-bert")

    A new number of classes and `class_names` go into the config. Returns the path. Raises ModelError for a model that
    `from_pretrained` did not load, and for one with adapters. Source: transformers.PreTrainedModel.save_pretrained.
    """
    from labdl.saving.native.formats import safetensors  # models are below saving; needed when it is called

    contents, folder = pretrained_of(model), Path(folder)
    if lora_paths(model):
        raise ModelError(
            "the model has adapters, for which the folder has no names: merge them with labdl.nn.merge_lora, or save them "
            "alone with labdl.save_lora"
        )
    arrays = contents.names(model).to_public(model.state_dict())
    config = _config(model, contents)
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.write(folder / "model.safetensors", arrays, "pt")
    _write_json(folder / "config.json", config)
    if contents.generation:
        _write_json(folder / "generation_config.json", contents.generation)
    if contents.processor:
        _write_json(folder / "preprocessor_config.json", contents.processor)
    _write_tokenizer(contents, folder)
    return folder


def _config(model: Module, kept: PretrainedFolder) -> dict[str, Any]:
    # half precision of the source is not that of the file
    config = {name: value for name, value in kept.config.items() if name not in ("dtype", "torch_dtype")}
    config |= {"architectures": [kept.architecture], "dtype": "float32", "torch_dtype": "float32"}
    if "classif" not in kept.task:
        return config
    if model.task_name == "text similarity":
        config["problem_type"] = "regression"
    outputs = model.output_specs
    count = (outputs[0] if isinstance(outputs, tuple) else outputs).shape[-1]
    names = list(model.class_names) if model.class_names else [f"LABEL_{at}" for at in range(count)]
    if len(names) != count:
        raise ConfigError(f"the model has {len(names)} class_names and {count} classes: give one name for each class")
    table = {"id2label": {str(at): name for at, name in enumerate(names)}}
    return config | table | {"label2id": {name: at for at, name in enumerate(names)}}


def _write_tokenizer(kept: PretrainedFolder, folder: Path) -> None:
    """The tokenizer's files as they were; one that was made of a vocabulary goes with it."""
    from labdl.models.pretrained.tokenizers import FILES

    if kept.folder is None or kept.folder.resolve() == folder.resolve():
        return
    for name in FILES:
        source = kept.folder / name
        if source.is_file():
            with replace_files(folder / name) as (file,):
                file.write(source.read_bytes())


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with replace_files(path) as (file,):
        file.write((json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode())
