"""Annex B.5: inference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.infer import Inference
from labdl.nn import Module
from labdl.standard import validation
from labdl.standard.modules import check_model
from labdl.train.config import check_execution

_NAMES = {"preproc": "preprocess", "postproc": "postprocess"}


def construct_inference(model: Module, infer_config: Mapping[str, Any]) -> Inference:
    """An inference of a model with pre- and post-processing (B.5.1, table B.12).

    ``infer_config`` may have ``preproc`` and ``postproc``, functions or steps of `labdl.infer`, and LabDL's
    ``backend``, ``batch_size`` and ``compiled``. Raises ConfigError for other keys, ModelError for an invalid model.
    """
    check_model(model, "construct_inference")
    config = validation.read(infer_config, "infer_config", (*_NAMES, "backend", "batch_size", "compiled"))
    backend, compiled = config.get("backend"), config.get("compiled")
    check_execution(backend, compiled, None, "infer_config")
    settings = {_NAMES.get(key, key): value for key, value in config.items()}
    for key in _NAMES:
        if key in config:
            with validation.naming("infer_config", key):
                Inference(model, **{_NAMES[key]: config[key]})
    return Inference(model, **settings)


def infer_one_sample(infer: Inference, input, infer_config: Mapping[str, Any] | None = None):
    """The result for one sample, through pre-processing, model and post-processing (B.5.2, table B.13).

    ``infer_config`` has settings for this call, such as thresholds of the post-processing.
    """
    validation.check_instance(infer, Inference, "infer_one_sample", "construct_inference")
    return infer.infer_one(input, **validation.read(infer_config or {}, "infer_config"))


def infer_samples(infer: Inference, inputs, infer_config: Mapping[str, Any] | None = None) -> list:
    """The results for several samples, in a list; computed in batches (B.5.3, table B.14). Else as `infer_one_sample`.

    ``inputs`` is any iterable of samples, an array or tensor (N, ...), a data set or a loader: see `Inference.stream`.
    """
    validation.check_instance(infer, Inference, "infer_samples", "construct_inference")
    return infer.infer(inputs, **validation.read(infer_config or {}, "infer_config"))
