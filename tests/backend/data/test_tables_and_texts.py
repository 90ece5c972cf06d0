"""Tables with holes and texts of different lengths train alike on every backend: step by step as in NumPy."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

import labdl
from labdl import data, infer, nn, ops
from labdl.data import samplers, text
from labdl.data import transforms as T
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=1)

EPOCHS, BATCH = 6, 16


def softmax_step(z, y):
    """The mean cross-entropy, and its gradient by the scores."""
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(y)), y]).mean()
    p[np.arange(len(y)), y] -= 1
    return loss, p / len(y)


def losses_of(trainer, *args, **settings):
    events = trainer.events(*args, epochs=EPOCHS, **settings)
    return [float(event.values["loss"]) for event in events if type(event).__name__ == "Step"]


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """A CSV of wines with holes, a category, dates and notes; its parts and their preparation."""
    wine, rng = load_wine(as_frame=True), np.random.default_rng(0)
    frame = wine.data.mask(rng.random(wine.data.shape) < 0.05)
    frame["region"] = np.where(rng.random(len(frame)) < 0.2, None, wine.target_names[(wine.target + 1) % 3])
    frame["day"] = [f"2026-03-{1 + at % 28:02}" for at in range(len(frame))]
    frame["note"] = [f"bottle {at} smells of plums" for at in range(len(frame))]
    frame["class"] = wine.target_names[wine.target]
    file = tmp_path_factory.mktemp("wine") / "wine.csv"
    frame.to_csv(file, index=False)
    train, test = data.Table(file, label="class").split(0.8, stratify=True)
    return train, test, T.TablePreprocessor(indicator=True, max_tokens=8).fit(train)


def test_a_table_trains_alike_and_its_preparation_is_saved_with_the_model(wine, backend, tmp_path):
    train, test, prepare = wine
    width = len(prepare.feature_names)
    model = nn.Sequential(nn.Linear(3)).build((None, width), backend=backend.name, seed=0)
    w, b = (np.array(value, "float64") for value in model.state_dict().values())
    trainer = labdl.Trainer(model, loss="cross_entropy", optimizer=labdl.train.SGD(0.1), metrics=["accuracy"], seed=2)
    found = losses_of(trainer, train.map(prepare), batch_size=BATCH)

    expected = []
    loader = train.map(prepare).as_supervised().loader(BATCH, shuffle=True, seed=2, workers=0)
    for x, y in (batch for epoch in range(EPOCHS) for batch in loader.epoch(epoch)):
        loss, gradient = softmax_step(x @ w + b, y)
        expected.append(loss)
        w, b = w - 0.1 * x.T @ gradient, b - 0.1 * gradient.sum(0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
    assert np.mean(found[-9:]) < 0.3

    x, y = next(iter(test.map(prepare).as_supervised().loader(len(test))))
    names = np.array(test.classes)[(x @ w + b).argmax(1)]
    assert (labdl.predict(model, test.map(prepare), labels=True) == names).all()
    assert (names == np.array(test.classes)[y]).mean() > 0.85
    model.preprocessing = prepare
    labdl.save(model, tmp_path / "wine")
    inference = infer.Inference(tmp_path / "wine", postprocess="classification", backend=backend.name)
    rows = [{name: value for name, value in row.items() if name != "label"} for row in test]
    assert [result.names[0] for result in inference.infer(rows)] == names.tolist()
    assert inference.infer_one({**rows[0], "region": "never seen", "ash": None}).names[0] in test.classes


class BagOfWords(nn.Module):
    """Mean of the embeddings of the tokens that are no padding, and a linear layer."""

    def __init__(self, words):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, 8), nn.Linear(2)

    def forward(self, ids, mask):
        mask = ops.astype(mask, "float32")
        mean = ops.sum(self.embed(ids) * mask[..., None], 1) / ops.sum(mask, 1, keepdims=True)
        return self.head(mean)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Sentences of which those about animals are to be told from those about food, as JSON lines; tokens in buckets."""
    rng = np.random.default_rng(0)
    words = {"animals": ["fox", "dog", "cat", "horse", "owl"], "food": ["bread", "plum", "rice", "soup", "cake"]}
    lines = []
    for at in range(160):
        label = ("animals", "food")[at % 2]
        body = rng.choice([*words[label], "the", "and", "is", "old"], rng.integers(3, 12))
        lines.append(f'{{"text": "{" ".join(["the", words[label][at % 5], *body])}", "label": "{label}"}}')
    file = tmp_path_factory.mktemp("texts") / "lines.jsonl"
    file.write_text("\n".join(lines))
    dataset = data.TextDataset(file)
    tokenizer = text.Tokenizer.train((sample["text"] for sample in dataset), "bpe", vocab_size=300)
    tokens = dataset.map([T.Tokenize(tokenizer, key="text"), T.AttentionMask()])
    return tokens.as_supervised(("text", "attention_mask"), "label"), tokenizer, text.sequence_lengths(tokens, "text")


def test_padded_buckets_of_texts_train_alike(texts, backend):
    dataset, tokenizer, lengths = texts
    buckets = samplers.BucketSampler(lengths, BATCH, seed=4)
    loader = dataset.loader(batch_sampler=buckets, pad=tokenizer.padding)
    inputs = Spec((None, None), "int64"), Spec((None, None), "bool")
    model = BagOfWords(tokenizer.vocab_size).build(*inputs, backend=backend.name, seed=0)
    e, w, b = (np.array(value, "float64") for value in model.state_dict().values())
    trainer = labdl.Trainer(model, loss="cross_entropy", optimizer=labdl.train.SGD(1.0), seed=2)
    found = losses_of(trainer, loader)

    expected = []
    for (ids, mask), y in (batch for epoch in range(EPOCHS) for batch in loader.epoch(epoch)):
        share = mask / mask.sum(1, keepdims=True)
        mean = np.einsum("nt,ntd->nd", share, e[ids])
        loss, gradient = softmax_step(mean @ w + b, y)
        expected.append(loss)
        slope = np.zeros_like(e)
        np.add.at(slope, ids, share[..., None] * (gradient @ w.T)[:, None])
        w, b, e = w - mean.T @ gradient, b - gradient.sum(0), e - slope
    assert len(expected) == EPOCHS * len(buckets)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4)
    assert np.mean(found[-5:]) < np.mean(found[:5]) - 0.2
