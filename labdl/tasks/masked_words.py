"""Masked language models: words in the place of masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.data.text import Tokenizer, join_tokens
from labdl.data.text.vocabulary import texts_of
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import text_models
from labdl.tasks.language_model_trainer import LanguageModelTrainer
from labdl.tasks.padded_texts import IGNORED
from labdl.tasks.task import task
from labdl.tasks.text_task import TextTask
from labdl.train.metrics import Perplexity

_MASKS = ("[MASK]", "<mask>")  # as BERT and RoBERTa write a missing word


@task
class MaskedWords(TextTask):
    """Masked language modeling: texts one after the other, cut into blocks of ``size`` tokens without padding.

    In each epoch other 15 % of the tokens are to be told (dynamic masking): eight of ten become the mask, one any token, one
    stays; special tokens never. The validation has the same masks in each epoch. `labdl.data.TextFolder`,
    `labdl.data.TextDataset` and their like; labels are not read. Trained with the cross entropy of the tokens to be told,
    evaluated by perplexity. ``mlm_probability`` is the share. Source: transformers' run_mlm (Liu et al., RoBERTa, 2019).
    """

    name = "masked words"
    metrics = (Perplexity(),)
    postprocess = None
    trainer = LanguageModelTrainer
    architecture = "MaskedLM"
    trains_head = False
    most_texts = 1

    def __init__(self, tokenizer: Tokenizer | None = None, mlm_probability: float = 0.15):
        super().__init__(tokenizer)
        if not 0 < mlm_probability < 1:
            raise ConfigError(f"mlm_probability wants a share between 0 and 1, received {mlm_probability!r:.60}")
        self.mlm_probability = mlm_probability

    def count_classes(self, dataset: Dataset) -> int:
        return 0

    def check(self, model: Module, dataset: Dataset) -> None:
        super().check(model, dataset)
        mask_token(self.tokenizer or text_models.tokenizer_of(model))

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        parts = pipeline.split_samples(opened)
        encode: Any = pipeline.transforms[0]
        encode.key, encode.entries = parts[0].inputs[0], ("tokens",)
        pipeline.fit(parts[0])
        tokenizer, size = encode.model, encode.length
        mask = mask_token(tokenizer)
        blocks = []
        for at, part in enumerate(parts):
            texts = [tokenizer.encode(text) for text in texts_of(part, part.inputs[0])]
            ids = join_tokens(texts)
            if len(ids) < size:
                raise ConfigError(
                    f"{part!r} has {len(ids):,} tokens, fewer than a block of {size}: give more texts, or a smaller size="
                )
            blocks.append(
                MaskedBlocks(
                    ids,
                    size,
                    mask,
                    special_numbers(tokenizer),
                    tokenizer.vocab_size,
                    self.mlm_probability,
                    seed=derive_seed(pipeline.split.seed, at),
                )
            )
        return blocks[0], blocks[1]

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        if not isinstance(output, Spec) or output.ndim != 3:
            received = output.shape if isinstance(output, Spec) else f"{len(output)} outputs"
            raise ConfigError(
                f"{self.name} wants a model that gives (N, tokens, vocabulary), {type(model).__name__} gives {received}"
            )


class MaskedBlocks(Dataset):
    """Blocks of a long sequence of tokens, some of them masked: tokens (length,), and what stood there, -100 elsewhere."""

    name = "masked blocks"

    def __init__(
        self,
        ids: np.ndarray,
        length: int,
        mask: int,
        special: Sequence[int],
        vocabulary: int,
        probability: float = 0.15,
        *,
        seed: int = 0,
    ):
        self.ids, self.length, self.mask, self.vocabulary = np.asarray(ids, "int64"), length, mask, vocabulary
        self.special, self.probability, self.seed = np.array(sorted(special), "int64"), probability, seed

    def __len__(self) -> int:
        return len(self.ids) // self.length

    def read(self, index: int, epoch: int = 0) -> tuple[np.ndarray, np.ndarray]:
        block = self.ids[index * self.length : (index + 1) * self.length]
        rng = sample_generator(self.seed, epoch, index)
        draws, kinds = rng.random(self.length), rng.random(self.length)
        others = rng.integers(0, self.vocabulary, self.length)
        words = ~np.isin(block, self.special)
        targets = words & (draws < self.probability)
        if not targets.any() and words.any():  # a batch without a target has no loss
            targets[np.flatnonzero(words)[draws[words].argmin()]] = True
        tokens = np.where(targets & (kinds < 0.8), self.mask, np.where(targets & (kinds >= 0.9), others, block))
        return tokens, np.where(targets, block, IGNORED)


def mask_token(tokenizer: Any) -> int:
    """The number of the token for missing words. Raises ConfigError for a tokenizer without one."""
    if isinstance(tokenizer, Tokenizer):
        numbers = [tokenizer.model.token_to_id(token) for token in _MASKS]
        if any(number is not None for number in numbers):
            return next(number for number in numbers if number is not None)
    raise ConfigError(
        f"masked words want a tokenizer with {' or '.join(_MASKS)}, {tokenizer!r} has none: give that of the model, or train "
        'data.text.Tokenizer.train(texts, "wordpiece")'
    )


def special_numbers(tokenizer: Tokenizer) -> list[int]:
    """The numbers of tokens that are no parts of texts, such as those of padding and of the end."""
    return [number for number, token in tokenizer.model.get_added_tokens_decoder().items() if token.special]
