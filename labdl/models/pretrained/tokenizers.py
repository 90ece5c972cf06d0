"""Tokenizers of pretrained models, of the files that their folders have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labdl.bounded.files import read_file
from labdl.data.text import MarianTokenizer, SentencePiece, Tokenizer
from labdl.data.text.marian import FILES as MARIAN_FILES
from labdl.errors import ConfigError, FileFormatError
from labdl.models.pretrained.family import Family
from labdl.models.pretrained.folder import read_json, read_optional

_LARGEST = 1 << 28  # bytes of a file
FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt"),
    *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "source.spm", "target.spm"),
)
PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def read_tokenizer(folder: Path, family: Family) -> Tokenizer | MarianTokenizer | SentencePiece | None:
    """The tokenizer of a folder: tokenizer.json, else a vocabulary, else SentencePiece; None where there is none.

    Truncation and padding that a tokenizer.json keeps of an earlier call are switched off. Raises FileFormatError.
    """
    settings = read_optional(folder / "tokenizer_config.json")
    if (folder / "tokenizer.json").exists():
        tokenizer: Tokenizer | MarianTokenizer | SentencePiece | None = Tokenizer.load(folder / "tokenizer.json")
    elif (folder / "vocab.txt").exists():
        tokenizer = _word_pieces(folder / "vocab.txt", settings)
    elif (folder / "vocab.json").exists() and (folder / "merges.txt").exists():
        tokenizer = _byte_pairs(folder, settings)
    elif all((folder / name).exists() for name in MARIAN_FILES):
        tokenizer = _marian(folder, settings)
    else:
        path = next((folder / name for name in PIECES if (folder / name).exists()), None)
        tokenizer = SentencePiece.load(path) if path is not None and family.sentencepiece else None
    if isinstance(tokenizer, Tokenizer):
        tokenizer.model.no_truncation()
        tokenizer.model.no_padding()
        padding = tokenizer.model.token_to_id(_token(settings.get("pad_token")) or "")
        if padding is not None:
            tokenizer.padding = padding
    return tokenizer


def _token(value: Any) -> str | None:
    """The text of a token, which files write alone or in a table with its settings."""
    value = value.get("content") if isinstance(value, dict) else value
    return value if isinstance(value, str) else None


def _word_pieces(path: Path, settings: Mapping[str, Any]) -> Tokenizer:
    """BERT's tokenizer of its vocabulary, a token a line."""
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

    try:
        words = read_file(path, _LARGEST, "vocabulary").decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path.name} is no text in UTF-8: {error}") from None
    vocabulary = {word.rstrip("\r"): at for at, word in enumerate(words) if word or at + 1 < len(words)}
    special = {
        name: _token(settings.get(f"{name}_token")) or default
        for name, default in (
            ("unk", "[UNK]"),
            ("cls", "[CLS]"),
            ("sep", "[SEP]"),
            ("pad", "[PAD]"),
            ("mask", "[MASK]"),
        )
    }
    for name in ("unk", "cls", "sep"):
        if special[name] not in vocabulary:
            raise FileFormatError(
                f"{path.name} has no token {special[name]!r:.80}, which its tokenizer puts into texts"
            )
    model = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=special["unk"]))
    model.add_special_tokens([token for token in special.values() if token in vocabulary])
    model.normalizer = normalizers.BertNormalizer(  # type: ignore[assignment]
        lowercase=settings.get("do_lower_case", True) is not False,
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True) is not False,
    )
    model.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    first, last = special["cls"], special["sep"]
    model.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single=f"{first}:0 $A:0 {last}:0",
        pair=f"{first}:0 $A:0 {last}:0 $B:1 {last}:1",
        special_tokens=[(first, vocabulary[first]), (last, vocabulary[last])],
    )
    model.decoder = decoders.WordPiece()  # type: ignore[assignment]
    return Tokenizer(model)


def _byte_pairs(folder: Path, settings: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of GPT-2 and RoBERTa, of its vocabulary and its merges."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, processors

    vocabulary = read_json(folder / "vocab.json")
    if not all(isinstance(number, int) for number in vocabulary.values()):
        raise FileFormatError("vocab.json wants a number for each token")
    try:
        lines = read_file(folder / "merges.txt", _LARGEST, "vocabulary").decode("utf-8").splitlines()
        pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        model = tokenizers.Tokenizer(models.BPE(vocabulary, pairs))  # type: ignore[arg-type]
    except Exception as error:  # the library raises Exception itself
        raise FileFormatError(f"merges.txt does not fit vocab.json: {error!s:.200}") from None
    prefix = settings.get("add_prefix_space") is True
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)  # type: ignore[assignment]
    model.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    special = [_token(settings.get(f"{name}_token")) for name in ("unk", "bos", "eos", "pad", "cls", "sep", "mask")]
    model.add_special_tokens([token for token in dict.fromkeys(special) if token in vocabulary and token is not None])
    first, last = (_token(settings.get(f"{name}_token")) for name in ("cls", "sep"))
    if first in vocabulary and last in vocabulary and first is not None and last is not None:
        model.post_processor = processors.RobertaProcessing(  # type: ignore[assignment]
            (last, vocabulary[last]), (first, vocabulary[first]), add_prefix_space=prefix
        )
    return Tokenizer(model)


def _marian(folder: Path, settings: Mapping[str, Any]) -> MarianTokenizer:
    """Marian's tokenizer of its two models and its vocabulary."""
    if settings.get("separate_vocabs"):
        raise ConfigError(
            "tokenizer_config.json: separate_vocabs=true gives source and target two tables, LabDL has one"
        )
    special = {
        name: _token(settings.get(f"{key}_token")) or default
        for name, key, default in (
            ("unknown", "unk", "<unk>"),
            ("end", "eos", "</s>"),
            ("padding_token", "pad", "<pad>"),
        )
    }
    return MarianTokenizer.load(folder, **special)
