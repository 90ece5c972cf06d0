"""The known sets of texts and of speech; hashes are those in torchtext, torchaudio and TensorFlow Datasets."""

from __future__ import annotations

from functools import partial

from labdl.data.sources.known_set import KnownSet, RemoteFile
from labdl.data.sources.speech_sets import read_librispeech, read_ljspeech, read_speech_commands
from labdl.data.sources.text_sets import read_imdb, read_news, read_wikitext

_NEWS = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/"
_WIKITEXT = ("https://wikitext.smerity.com/", "https://s3.amazonaws.com/research.metamind.io/wikitext/")
_SPEECH = (
    "https://storage.googleapis.com/download.tensorflow.org/data/",
    "http://download.tensorflow.org/data/",
)
_IMDB = RemoteFile(
    "aclImdb_v1.tar.gz",
    ("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",),
    "md5:7c2ac02c03563afcf9b574c7e56c153a",
)
_COMMANDS = RemoteFile(
    "speech_commands_v0.02.tar.gz",
    tuple(f"{base}speech_commands_v0.02.tar.gz" for base in _SPEECH),
    "sha256:af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
    2_428_923_189,
)
_LJSPEECH = RemoteFile(
    "LJSpeech-1.1.tar.bz2",
    ("https://data.keithito.com/data/speech/LJSpeech-1.1.tar.bz2",),
    "sha256:be1a30453f28eb8dd26af4101ae40cbf2c50413b1bb21936cbcdc6fae3de8aa5",
    2_748_572_632,
)
_LIBRISPEECH = {
    "dev-clean": ("76f87d090650617fca0cac8f88b9416e0ebf80350acb97b343a85fa903728ab3", 337_926_286),
    "dev-other": ("12661c48e8c3fe1de2c1caa4c3e135193bfb1811584f11f569dd12645aa84365", 314_305_928),
    "test-clean": ("39fde525e59672dc6d1551919b1478f724438a95aa55f874b576be21967e6c23", 346_663_984),
    "test-other": ("d09c181bba5cf717b3dee7d4d592af11a3ee3a09e08ae025c5506f6ebe961c29", 328_757_843),
    "train-clean-100": ("d4ddd1d5a6ab303066f14971d768ee43278a5f2a0aa43dc716b0e64ecbbbf6e2", 6_387_309_499),
    "train-clean-360": ("146a56496217e96c14334a160df97fffedd6e0a04e66b9c5af0d40be3c792ecf", 23_049_477_885),
    "train-other-500": ("ddb22f27f96ec163645d53215559df6aa36515f26e01dd70798188350adcb6d2", 30_593_501_606),
}


def _wikitext(name: str, title: str, number: int, md5: str) -> KnownSet:
    archive = f"wikitext-{number}-v1.zip"
    file = RemoteFile(archive, tuple(base + archive for base in _WIKITEXT), f"md5:{md5}")
    return KnownSet(
        name,
        f"{title}: paragraphs of Wikipedia for language models",
        {split: (file,) for split in ("train", "valid", "test")},
        partial(read_wikitext, name=title, inside=f"wikitext-{number}"),
        '{"text": Text}, lines that are not blank',
        "https://arxiv.org/abs/1609.07843",
        "CC BY-SA 3.0",
        "S. Merity, C. Xiong, J. Bradbury, R. Socher: Pointer sentinel mixture models, arXiv:1609.07843, 2016",
    )


TEXTS = [
    KnownSet(
        "imdb",
        "IMDB: film reviews, negative and positive",
        {"train": (_IMDB,), "test": (_IMDB,)},
        read_imdb,
        '{"text": Text, "label": int}',
        "https://ai.stanford.edu/~amaas/data/sentiment/",
        "none stated",
        "A. L. Maas and others: Learning word vectors for sentiment analysis, ACL 2011",
        classes=2,
        samples={"train": 25_000, "test": 25_000},
    ),
    KnownSet(
        "ag_news",
        "AG News: news of 4 classes",
        {
            "train": (RemoteFile("train.csv", (f"{_NEWS}train.csv",), "md5:b1a00f826fdfbd249f79597b59e1dc12"),),
            "test": (RemoteFile("test.csv", (f"{_NEWS}test.csv",), "md5:d52ea96a97a2d943681189a97654912d"),),
        },
        partial(read_news, name="AG News", classes=["World", "Sports", "Business", "Sci/Tech"]),
        '{"text": Text, "label": int}',
        "http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
        "non-commercial use only",
        "X. Zhang, J. Zhao, Y. LeCun: Character-level convolutional networks for text classification, 2015",
        classes=4,
        samples={"train": 120_000, "test": 7_600},
    ),
    _wikitext("wikitext2", "WikiText-2", 2, "542ccefacc6c27f945fb54453812b3cd"),
    _wikitext("wikitext103", "WikiText-103", 103, "9ddaacaf6af0710eda8c456decff7832"),
]

SPEECH = [
    KnownSet(
        "speech_commands",
        "Speech Commands 2: 35 words of one second, 16 kHz",
        {split: (_COMMANDS,) for split in ("train", "validation", "test")},
        read_speech_commands,
        '{"audio": Audio, "label": int}',
        "https://arxiv.org/abs/1804.03209",
        "CC BY 4.0",
        "P. Warden: Speech Commands: a dataset for limited-vocabulary speech recognition, arXiv:1804.03209, 2018",
        classes=35,
        samples={"train": 84_843, "validation": 9_981, "test": 11_005},
    ),
    KnownSet(
        "librispeech",
        "LibriSpeech: read English books with their text, 16 kHz",
        {
            split: (
                RemoteFile(
                    f"{split}.tar.gz", (f"https://www.openslr.org/resources/12/{split}.tar.gz",), f"sha256:{sha}", size
                ),
            )
            for split, (sha, size) in _LIBRISPEECH.items()
        },
        read_librispeech,
        '{"audio": Audio, "text": Text, "speaker": int}',
        "https://www.openslr.org/12",
        "CC BY 4.0",
        "V. Panayotov, G. Chen, D. Povey, S. Khudanpur: LibriSpeech: an ASR corpus of public domain books, ICASSP 2015",
        pair=("train-clean-100", "test-clean"),
    ),
    KnownSet(
        "ljspeech",
        "LJSpeech: one English reader with the text, 22.05 kHz",
        {"all": (_LJSPEECH,)},
        read_ljspeech,
        '{"audio": Audio, "text": Text, "speaker": int}',
        "https://keithito.com/LJ-Speech-Dataset/",
        "public domain",
        "K. Ito, L. Johnson: The LJ Speech dataset, 2017",
        pair=("all",),
        samples={"all": 13_100},
    ),
]
