"""Classification of texts."""

from __future__ import annotations

from labdl.tasks.task import task
from labdl.tasks.text_task import TextTask
from labdl.train.metrics import F1


@task
class TextClassification(TextTask):
    """Classification of texts, or of pairs: `labdl.data.TextFolder`, and `labdl.data.TextDataset` with labels.

    Texts become the tokens of the model's tokenizer, cut off or padded to ``size`` of them, with a mask of the padding if the
    model takes a ``mask``, and the segments of a pair if it takes ``types``. With a mask a batch has the length of its longest
    text (see `TextTask`). Trained with cross entropy, evaluated by accuracy and macro F1. Source: transformers' run_glue
    (Devlin et al., 2019).
    """

    name = "text classification"
    targets = ("label",)
    metrics = ("accuracy", F1())
