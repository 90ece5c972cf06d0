"""The trainer of language models, whose outputs are too large for metrics on the host."""

from __future__ import annotations

from typing import Any

from labdl import ops
from labdl.train.metrics import Perplexity
from labdl.train.trainer import Trainer


class LanguageModelTrainer(Trainer):
    """Trains a model that gives logits (N, tokens, vocabulary) with the next tokens (N, tokens).

    If perplexity is the only metric, the device computes the negative log-probability of each token, and the logits stay
    there: a batch of GPT-2 has hundreds of megabytes of them.
    """

    def loss_and_output(self, x: Any, y: Any) -> tuple[Any, Any]:
        logits = self.forward(x)
        loss = self.loss(logits, y)
        if not all(type(metric) is Perplexity for metric in self.metrics.values()):
            return loss, logits
        # one more axis, as that of the classes: the mean over batches counts the targets by the axes of the output
        losses = ops.cross_entropy(ops.stop_gradient(logits), y, reduction="none")
        return loss, ops.expand_dims(losses, -1)

    def postprocess(self, output: Any) -> Any:
        return output[..., 0] if output.ndim == 3 and output.shape[-1] == 1 else output
