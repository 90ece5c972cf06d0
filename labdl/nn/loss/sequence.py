"""Losses of sequences without an alignment to the output, as in speech and handwriting recognition."""

from __future__ import annotations

from labdl import ops
from labdl.nn.loss.classification import Reduction
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Whole
from labdl.ops.operator import floats, ints

_EACH = {"reduction": "none"}


@layer(
    _EACH, floats(2, 5, 4), ints(2, 2, low=1, high=4), ints(2, low=5, high=6), ints(2, low=1, high=3), task="sequence"
)
class CTCLoss(Module):
    """Connectionist temporal classification of unaligned label sequences (Graves et al., 2006).

    Logits (N, steps, classes); targets (N, labels) without blanks, padded with anything; lengths (N) of both. ``blank`` is
    the class of "no label". The mean is that of the losses divided by the target lengths. Where a target is longer
    than its output allows, the loss is infinite, or 0 with ``zero_infinity``.
    Semantics: torch.nn.CTCLoss, with the batch first.
    """

    blank: Whole = 0
    zero_infinity: bool = False
    reduction: Reduction = "mean"

    def forward(self, output, target, output_lengths, target_lengths):
        return ops.ctc_loss(
            ops.permute_dims(output, (1, 0, 2)),
            target,
            output_lengths,
            target_lengths,
            self.blank,
            reduction=self.reduction,
            zero_infinity=self.zero_infinity,
        )


@layer(
    _EACH,
    floats(2, 4, 3, 4),
    ints(2, 2, low=1, high=4),
    ints(2, low=4, high=5),
    ints(2, low=2, high=3),
    task="sequence",
)
class RNNTLoss(Module):
    """RNN transducer loss of unaligned label sequences (Graves, 2012).

    Logits (N, steps, labels + 1, classes) of the next symbol at each step, after each number of labels. Targets (N, labels)
    without blanks, padded with anything; lengths (N) of both. ``blank`` is the class of "next step".
    Semantics: torchaudio.transforms.RNNTLoss.
    """

    blank: Whole = 0
    reduction: Reduction = "mean"

    def forward(self, output, target, output_lengths, target_lengths):
        return ops.rnnt_loss(output, target, output_lengths, target_lengths, self.blank, reduction=self.reduction)
