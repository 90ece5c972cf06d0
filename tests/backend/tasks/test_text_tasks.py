"""Fine-tuning on texts in one line: classification with tokens and a mask, language models on packed blocks, adapters."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import data, nn, tasks
from labdl.errors import ConfigError, DataError
from labdl.models.text.bert import BertConfig, BertForSequenceClassification
from labdl.models.text.gpt import GPT
from labdl.models.text.textcnn import TextCNN

pytestmark = pytest.mark.filterwarnings("ignore:not in the files")

HUB = Path(__file__).parents[2] / "oracles" / "hub"
TOPICS = {
    "files": ("os", "shutil", "pathlib", "zipfile", "tarfile", "tempfile"),
    "numbers": ("math", "cmath", "statistics", "decimal", "fractions", "random"),
}


def paragraphs(modules):
    """Paragraphs of the documentation of modules of the standard library."""
    texts = set()
    for name in modules:
        for word, value in vars(importlib.import_module(name)).items():
            parts = vars(value).values() if inspect.isclass(value) and value.__module__ == name else ()
            for part in (value, *parts):
                doc = getattr(part, "__doc__", None)
                if not word.startswith("_") and callable(part) and isinstance(doc, str):
                    texts.update(text.strip() for text in inspect.cleandoc(doc).split("\n\n") if len(text) > 60)
    return sorted(texts)


@pytest.fixture(scope="session")
def topics(tmp_path_factory):
    """A folder for each topic with a file for each paragraph."""
    root = tmp_path_factory.mktemp("topics")
    for topic, modules in TOPICS.items():
        (root / topic).mkdir()
        for at, text in enumerate(paragraphs(modules)[:240]):
            (root / topic / f"{at:03}.txt").write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def few(topics):
    """Twelve texts of each topic."""
    texts = data.TextFolder(topics)
    return texts.select([at for kind in (0, 1) for at in np.flatnonzero(texts.labels() == kind)[:12]])


def tune(model, dataset, backend, **settings):
    settings = {"epochs": 1, "batch_size": 6, "lr": 1e-3, "compiled": False, "seed": 1, **settings}
    return labdl.fine_tune(model, dataset, backend=backend.name, **settings)


def test_texts_from_a_folder_to_a_saved_model(few, backend, tmp_path):
    trainer = tune(str(HUB / "bert_classifier"), few, backend, size=12)
    model = trainer.model
    assert {"loss", "accuracy", "f1", "val_loss", "val_accuracy", "val_f1"} == set(trainer.progress.history)
    assert model.class_names == ("files", "numbers")
    tokens, mask = trainer.settings.val_dataset[0][0]
    assert tokens.shape == mask.shape == (12,)
    text = "Return x."
    labdl.save(model, tmp_path / "topics")
    result = labdl.infer.Inference(tmp_path / "topics", postprocess="classification", backend=backend.name).infer_one(
        text
    )
    ids = model.pretrained.tokenizer.encode(text)
    assert len(ids) < 12
    logits = labdl.to_numpy(
        model.eval()(backend.tensor(np.array([ids])), backend.tensor(np.ones((1, len(ids)), bool)))
    )[0]
    odds = np.exp(logits - logits.max())
    np.testing.assert_allclose(result.probabilities[np.argsort(result.labels)], odds / odds.sum(), rtol=1e-4)


@pytest.mark.sample(backends=1)
def test_perplexity_is_that_of_the_next_tokens_of_packed_texts(few, backend):
    trainer = tune(str(HUB / "gpt2_float16"), few.take(6), backend, size=16, batch_size=16)
    blocks, model = trainer.settings.val_dataset, trainer.model.eval()
    inputs, targets = (np.stack(part) for part in zip(*blocks, strict=True))
    np.testing.assert_array_equal(inputs.ravel()[1:], targets.ravel()[:-1])
    ids = np.concatenate([part.source.ids for part in (trainer.settings.train_dataset, blocks)])
    assert np.count_nonzero(ids == model.pretrained.config["eos_token_id"]) == 6
    logits = labdl.to_numpy(model(backend.tensor(inputs))).astype("float64")
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = -np.take_along_axis(logs, targets[..., None], -1).mean()
    assert trainer.progress.history["val_loss"][0] == pytest.approx(expected, rel=1e-4)
    assert trainer.progress.history["val_perplexity"][0] == pytest.approx(np.exp(expected), rel=1e-4)


@pytest.mark.sample(backends=["torch"])
def test_adapters_and_the_head_alone_are_trained(few, backend, tmp_path):
    source = str(HUB / "distilbert")
    trainer = tune(source, few, backend, size=12, task="text classification", lora={"r": 2, "lora_alpha": 4})
    trained = {name.rpartition("/")[2] for name, p in trainer.model.named_parameters() if p.trainable}
    assert trained == {"lora_a:0", "lora_b:0", "kernel:0", "bias:0"}
    before = labdl.models.from_pretrained(source, backend=backend.name).state_dict()
    after = trainer.model.state_dict()
    common = [name for name in before if name in after and before[name].shape == after[name].shape]
    assert common
    for name in common:
        np.testing.assert_array_equal(after[name], before[name])
    labdl.save_lora(trainer.model, tmp_path / "adapter.npz")
    assert "classifier/kernel:0" in labdl.load_parameters(tmp_path / "adapter.npz")


@pytest.mark.sample(backends=["torch"])
def test_a_model_without_a_tokenizer_gets_one_of_the_texts(few, backend):
    model = TextCNN(300, 8, channels=4)
    trainer = tune(model, few, backend, size=16, task="text classification")
    assert trainer.model.preprocessing.transforms[0].model.vocab_size <= 300
    generator = GPT(300, features=8, layers=1, heads=2, positions=16)
    trainer = tune(generator, few, backend, size=16, task="text generation", metrics=["accuracy"])
    assert 0 <= trainer.progress.history["val_accuracy"][0] <= 1


@pytest.mark.sample(backends=["torch"])
def test_pairs_of_texts_have_segments(backend, tmp_path):
    rows = [f"a boat,the {'river' if at % 2 else 'shore'},{at % 2}" for at in range(10)]
    (tmp_path / "pairs.csv").write_text("one,two,label\n" + "\n".join(rows))
    pairs = data.TextDataset(tmp_path / "pairs.csv", text=("one", "two"))
    trainer = tasks.create_trainer(str(HUB / "bert_classifier"), pairs, size=20, classes=2, backend=backend.name)
    tokens, mask, types = trainer.settings.train_dataset[0][0]
    assert types.max() == 1
    assert not types[~mask].any()
    assert (tokens[mask] > 0).all()


@pytest.mark.sample(backends=["torch"])
def test_texts_and_models_that_do_not_fit_are_refused(few, topics, backend, tmp_path):
    bert, gpt = str(HUB / "bert_classifier"), str(HUB / "gpt2_float16")
    net = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name)
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    for call, part in [
        (lambda: tasks.create_trainer(bert, few, size=1000), "positions, received size=1000"),
        (lambda: tasks.create_trainer(bert, few, size=(3, 4)), "size of a text is its number of tokens"),
        (lambda: tasks.create_trainer(bert, few, weights="best"), "has weights of its own"),
        (lambda: tasks.create_trainer(bert, data.digits()[0]), "wants samples with texts"),
        (lambda: tasks.create_trainer(net, few, task="text classification"), "wants a model of tokens"),
        (lambda: tasks.create_trainer(gpt, few, task="text classification"), "no head for text classification"),
        (lambda: tasks.create_trainer(gpt, tmp_path / "lines.txt", size=32, validation=0.5), "fewer than a block"),
        (lambda: tasks.create_trainer(bert, few, size=8, lora={"rank": 2}), "lora wants a rank"),
        (
            lambda: tasks.create_trainer(
                TextCNN(30, 8, channels=4),
                few,
                task=tasks.TextClassification(data.text.Tokenizer.load(HUB / "bert_classifier" / "tokenizer.json")),
            ),
            "the tokenizer has 300 tokens, TextCNN knows 30",
        ),
    ]:
        with pytest.raises(ConfigError, match=part):
            call()
    for at in range(4):
        file = tmp_path / "empty" / ("files", "numbers")[at % 2] / f"{at}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    model = TextCNN(320, 8, channels=4)
    tokenizer = data.text.Tokenizer.load(HUB / "gpt2_float16" / "tokenizer.json")
    with pytest.raises(DataError, match="has no tokens"):
        tune(model, tmp_path / "empty", backend, size=8, validation=0.5, task=tasks.TextClassification(tokenizer))


def small_bert():
    config = BertConfig(2000, features=32, layers=2, heads=2, feed_forward=64, positions=48)
    return BertForSequenceClassification(config)


@pytest.mark.sample(False)
@pytest.mark.parametrize("create", [lambda: TextCNN(2000, 32, channels=16), small_bert], ids=["TextCNN", "BERT"])
def test_topics_are_told_apart(create, topics, backend):
    settings = {"size": 48, "epochs": 12, "lr": 3e-3, "batch_size": 32}
    trainer = tune(create(), topics, backend, task="text classification", **settings)
    assert trainer.progress.history["val_accuracy"][-1] > 0.8


@pytest.mark.sample(False)
def test_a_language_model_learns_the_texts(topics, backend):
    trainer = tune(str(HUB / "gpt2_float16"), topics, backend, size=32, epochs=3, lr=3e-3, batch_size=16)
    perplexity = trainer.progress.history["val_perplexity"]
    vocabulary = trainer.model.pretrained.tokenizer.vocab_size
    assert perplexity[-1] < perplexity[0] < vocabulary
    assert perplexity[-1] < vocabulary / 4
