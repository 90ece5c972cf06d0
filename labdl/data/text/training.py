"""Training of BPE, WordPiece and Unigram models with the library ``tokenizers``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError, DataError

if TYPE_CHECKING:
    import tokenizers


def train_model(
    texts: Iterable[str], kind: str, vocab_size: int, min_frequency: int, special: tuple[str, ...], lower_case: bool
) -> tokenizers.Tokenizer:
    """A model of a kind ("bpe", "wordpiece", "unigram"); ``special`` are unknown, padding, begin, end and more."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    unknown, _, begin, end = special[:4]
    least = len(special) + (256 if kind == "bpe" else 1)
    if vocab_size < least:
        raise ConfigError(f"a {kind} tokenizer wants a vocab_size of at least {least}, received {vocab_size}")
    trainer: Any
    lower = [normalizers.Lowercase()] if lower_case else []
    if kind == "bpe":
        model = Tokenizer(models.BPE())
        model.normalizer = normalizers.Sequence(lower)  # type: ignore[assignment]
        model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
        model.decoder = decoders.ByteLevel()  # type: ignore[assignment]
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=list(special),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    elif kind == "wordpiece":
        model = Tokenizer(models.WordPiece(unk_token=unknown))
        model.normalizer = normalizers.BertNormalizer(lowercase=lower_case)  # type: ignore[assignment]
        model.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
        model.decoder = decoders.WordPiece()  # type: ignore[assignment]
        trainer = trainers.WordPieceTrainer(
            vocab_size=vocab_size, min_frequency=min_frequency, special_tokens=list(special), show_progress=False
        )
    else:
        model = Tokenizer(models.Unigram())
        model.normalizer = normalizers.Sequence([normalizers.NFKC(), *lower])  # type: ignore[assignment]
        model.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
        model.decoder = decoders.Metaspace()  # type: ignore[assignment]
        trainer = trainers.UnigramTrainer(
            vocab_size=vocab_size, special_tokens=list(special), unk_token=unknown, show_progress=False
        )
    counted = _TextCounter(texts)
    model.train_from_iterator(counted, trainer=trainer)
    if counted.seen == 0:
        raise DataError("a tokenizer wants texts to be trained on, received none")
    model.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} $B:1 {end}:1",
        special_tokens=[(token, model.token_to_id(token)) for token in (begin, end)],
    )  # type: ignore[assignment]
    return model


class _TextCounter:
    """Texts that are checked and counted as they are read."""

    def __init__(self, texts: Iterable[str]):
        self.texts, self.seen = texts, 0

    def __iter__(self):
        if isinstance(self.texts, str):
            raise ConfigError("a tokenizer wants a list or generator of texts, received one text: write [text]")
        for text in self.texts:
            if not isinstance(text, str):
                raise DataError(f"a tokenizer is trained on texts, received {type(text).__name__}")
            self.seen += not text.isspace() and bool(text)
            yield str(text)
