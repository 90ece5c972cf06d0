"""Inference with pretrained models: from texts, sounds and pictures to answers, by the files of a model's folder."""

from labdl.infer.pretrained.planning import is_pretrained_source, plan_folder, plan_pretrained, plan_trained

__all__ = ["is_pretrained_source", "plan_folder", "plan_pretrained", "plan_trained"]


def __dir__() -> list[str]:
    return sorted(__all__)
