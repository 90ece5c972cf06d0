"""Tokenizers, vocabularies, word vectors, and data sets of tokens for language models and translation."""

from __future__ import annotations

from pathlib import Path

from labdl.data.text.batches import PaddedBatch, pad_sequences
from labdl.data.text.marian import MarianTokenizer
from labdl.data.text.sentencepiece_model import SentencePiece
from labdl.data.text.sequences import TokenBlocks, TranslationPairs, join_tokens, sequence_lengths
from labdl.data.text.tokenizer import Tokenizer
from labdl.data.text.vectors import WordVectors
from labdl.data.text.viterbi import viterbi_decode
from labdl.data.text.vocabulary import Vocab

__all__ = [
    "MarianTokenizer",
    "PaddedBatch",
    "SentencePiece",
    "TokenBlocks",
    "Tokenizer",
    "TranslationPairs",
    "Vocab",
    "WordVectors",
    "join_tokens",
    "load_tokenizer",
    "pad_sequences",
    "sequence_lengths",
    "viterbi_decode",
]


def load_tokenizer(path: str | Path) -> Tokenizer | SentencePiece:
    """The tokenizer of a tokenizer.json, or of a .model file of sentencepiece."""
    return SentencePiece.load(path) if Path(path).suffix == ".model" else Tokenizer.load(path)


def __dir__() -> list[str]:
    return sorted(__all__)
