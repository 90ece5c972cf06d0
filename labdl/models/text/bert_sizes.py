"""Published encoders of the BERT family by the names of their checkpoints: other vocabularies, RoBERTa and DistilBERT."""

from __future__ import annotations

import dataclasses
import functools

from labdl.models import zoo
from labdl.models.text.bert import LARGE, Bert, BertConfig, from_huggingface

_BERT = "https://arxiv.org/abs/1810.04805"
_ROBERTA = "https://arxiv.org/abs/1907.11692"
_register = functools.partial(zoo.register, "text encoding", inputs=zoo.tokens(128), from_public=from_huggingface)
# positions begin behind the number of the token of padding
_OF_ROBERTA = {"vocabulary": 50265, "positions": 512, "position_offset": 2, "types": 1, "epsilon": 1e-5}


@_register(parameters=109_482_240, paper=_BERT)
def bert_base_uncased() -> Bert:
    """BERT-base for lower-case English, as google-bert/bert-base-uncased."""
    return Bert()


@_register(parameters=335_141_888, paper=_BERT)
def bert_large_uncased() -> Bert:
    """BERT-large for lower-case English, as google-bert/bert-large-uncased."""
    return Bert(LARGE)


@_register(parameters=108_310_272, paper=_BERT)
def bert_base_cased() -> Bert:
    """BERT-base for English, as google-bert/bert-base-cased."""
    return Bert(BertConfig(28996))


@_register(parameters=333_579_264, paper=_BERT)
def bert_large_cased() -> Bert:
    """BERT-large for English, as google-bert/bert-large-cased."""
    return Bert(dataclasses.replace(LARGE, vocabulary=28996))


@_register(parameters=102_267_648, paper=_BERT)
def bert_base_chinese() -> Bert:
    """BERT-base for Chinese, as google-bert/bert-base-chinese."""
    return Bert(BertConfig(21128))


@_register(parameters=177_853_440, paper=_BERT)
def bert_base_multilingual_cased() -> Bert:
    """BERT-base for 104 languages, as google-bert/bert-base-multilingual-cased."""
    return Bert(BertConfig(119547))


@_register(parameters=124_645_632, paper=_ROBERTA)
def roberta_base() -> Bert:
    """RoBERTa-base, as FacebookAI/roberta-base (Liu et al., 2019)."""
    return Bert(BertConfig(**_OF_ROBERTA))


@_register(parameters=355_359_744, paper=_ROBERTA)
def roberta_large() -> Bert:
    """RoBERTa-large, as FacebookAI/roberta-large (Liu et al., 2019)."""
    return Bert(dataclasses.replace(LARGE, **_OF_ROBERTA))


@zoo.register("text encoding", inputs=zoo.tokens(128), parameters=66_362_880, paper="https://arxiv.org/abs/1910.01108")
def distilbert_base_uncased() -> Bert:
    """DistilBERT-base, 6 layers without segments and pooler, as distilbert/distilbert-base-uncased (Sanh et al., 2019)."""
    return Bert(BertConfig(layers=6, types=0), pooled=False)
