"""Chinese texts split into words."""

from __future__ import annotations

import functools
import logging
import threading
import warnings
from typing import Any, Literal

from labdl.data.parts import Text, Tokens
from labdl.data.transforms.text.splitting import cut_text
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError

_lock = threading.Lock()


@functools.lru_cache(8)
def load_segmenter(words: tuple[tuple[str, int | None], ...]) -> Any:
    """A segmenter of jieba with further words; its messages about dictionaries and caches are off."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba reads its files through pkg_resources and has invalid escapes
        import jieba

        jieba.setLogLevel(logging.ERROR)
        segmenter = jieba.Tokenizer()
        segmenter.initialize()
        for word, frequency in words:
            segmenter.add_word(word, frequency)
    return segmenter


@transform
class JiebaTokenizer(Transform):
    """Split a Chinese text into words, by jieba's dictionary. Source: mindspore.dataset.text.JiebaTokenizer.

    ``mode`` "mix" finds words of the dictionary and, by a hidden Markov model, words that are not in it; "mp" only those of
    the dictionary; "search" also splits long words. ``words`` are further words with their frequency, None to let jieba
    choose it: ``(("男默女泪", 10), ("江大桥", None))``. ``drop_whitespace`` leaves out white space.
    """

    mode: Literal["mix", "mp", "search"] = "mix"
    words: tuple[tuple[str, int | None], ...] = ()
    drop_whitespace: bool = True
    with_offsets: bool = False

    def check_settings(self) -> None:
        for word, _ in self.words:
            if not word.strip():
                raise ConfigError("JiebaTokenizer: a word of the dictionary is empty")

    def apply_to_text(self, text: Text, params: Parameters) -> Tokens:
        segmenter = load_segmenter(self.words)
        mode = "search" if self.mode == "search" else "default"
        found = segmenter.tokenize(str(text), mode=mode, HMM=self.mode != "mp")
        spans = ((first, last) for word, first, last in found if not (self.drop_whitespace and word.isspace()))
        return cut_text(text, spans, self.with_offsets)
