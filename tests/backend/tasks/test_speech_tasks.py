"""Training recognizers of speech in one line, on one backend: CTC, a transducer, batches by length, and bad samples."""

import numpy as np
import pytest

import labdl
from labdl import data, tasks
from labdl.data.codecs.audio import encode_audio
from labdl.errors import ConfigError, LabDLError
from labdl.infer import Inference
from labdl.models.sound.conformer import Conformer, ConformerCTC
from labdl.models.sound.rnnt import RNNT
from labdl.nn.eval_mode import eval_mode
from labdl.tasks.speech_trainer import ctc, pad_labels, rnnt

RATE = 8000
TONES = {"a": 400, "b": 900, "c": 1500}  # Hz of each letter
TASK = tasks.SpeechRecognition(sample_rate=RATE)


def sound(text: str, seconds: float = 0.12) -> data.Audio:
    """Tones, one for each letter, over noise that is the same each time."""
    steps = np.arange(int(seconds * RATE)) / RATE
    wave = np.concatenate([np.sin(2 * np.pi * TONES.get(letter, 50) * steps) for letter in text or " "])
    noise = np.random.default_rng(0).normal(size=len(wave)) * 0.01
    return data.Audio((wave * 0.3 + noise).astype("float32"), sample_rate=RATE)


class Utterances(data.Dataset):
    """Sounds of texts."""

    inputs, targets = ("audio",), ("text",)

    def __init__(self, texts, **changes):
        self.name, self.texts, self.changes = "utterances", list(texts), changes

    def __len__(self):
        return len(self.texts)

    def read(self, index, epoch=0):
        return {"audio": sound(self.texts[index]), "text": self.texts[index], **self.changes}


TEXTS = ["ab", "ba", "acb", "bc a", "cab", "bab", "c", "ac ba"]


def recognizer(symbols=5):
    return ConformerCTC(Conformer(8, layers=1, heads=2, feed_forward=12, kernel_size=3, rate=0.0), symbols)


def transducer(symbols=5):
    return RNNT(
        symbols,
        features=8,
        layers=1,
        heads=2,
        feed_forward=12,
        segment=4,
        left_context=1,
        right_context=2,
        reduction=2,
        reduced=4,
        embedding=6,
        predictor_layers=1,
        rate=0.0,
        predictor_rate=0.0,
    )


def create(model, dataset, backend, **settings):
    options = {"epochs": 1, "batch_size": 4, "compiled": False, "size": 12, "task": TASK, "validation": 0.25}
    return tasks.create_trainer(model, dataset, backend=backend.name, **{**options, **settings})


@pytest.mark.sample(backends=2)
def test_a_recognizer_is_trained_by_ctc_and_transcribes(backend):
    trainer = create(recognizer(), Utterances(TEXTS), backend)
    history = trainer.fit()
    model = trainer.model
    assert model.class_names == ("<blank>", " ", "a", "b", "c")
    assert {"loss", "val_loss", "val_word_error_rate", "val_character_error_rate"} == set(history)
    batch = next(iter(trainer.settings.val_dataset))
    inputs, labels = trainer.preprocess(batch)
    (frames, steps), texts = inputs, ["".join(model.class_names[n] for n in row if n >= 0) for row in labels]
    assert frames.shape[1] % 32 == 0
    assert not frames[0, steps[0] :].any()
    np.testing.assert_allclose(frames[0, : steps[0]].mean(0), 0, atol=1e-4)
    # against the most probable path of each sample alone
    names, written = model.class_names, []
    with eval_mode(list(model.modules())):
        for row, count in zip(frames, steps, strict=True):
            logits, lengths = model(backend.tensor(row[None]), backend.tensor(np.array([count])))
            path = labdl.to_numpy(logits)[0, : int(labdl.to_numpy(lengths)[0])].argmax(-1)
            kept = [n for at, n in enumerate(path) if n and (at == 0 or n != path[at - 1])]
            written.append("".join(names[n] for n in kept))
    metric = labdl.train.metrics.CharacterErrorRate()
    assert history["val_character_error_rate"][-1] == pytest.approx(metric(written, texts))
    assert history["val_word_error_rate"][-1] == pytest.approx(labdl.train.metrics.WordErrorRate()(written, texts))
    inference = Inference.of(model)
    assert isinstance(inference.infer_one(sound("acb")).text, str)


@pytest.mark.sample(backends=1)
def test_losses_of_a_batch_are_those_of_its_samples(backend):
    """Padding of frames and labels changes neither loss."""
    for model, loss in ((recognizer(), ctc), (transducer(), rnnt)):
        trainer = create(model, Utterances(TEXTS), backend)
        batch = next(iter(trainer.settings.val_dataset))
        with eval_mode(list(model.modules())):
            together = loss_of(trainer, batch, backend)
            alone = []
            for at in range(len(batch["steps"])):
                one = {name: value[at : at + 1] for name, value in batch.items()}
                alone.append(loss_of(trainer, one, backend))
        assert together == pytest.approx(np.mean(alone), rel=1e-4)
        assert trainer.loss_function is loss


def loss_of(trainer, batch, backend):
    (inputs, labels) = trainer.preprocess(batch)
    value, _ = trainer.loss_and_output(tuple(map(backend.tensor, inputs)), backend.tensor(labels))
    return float(labdl.to_numpy(value))


@pytest.mark.sample(False)
def test_a_transducer_is_trained_and_evaluated_by_its_search(backend):
    trainer = create(transducer(), Utterances(TEXTS), backend, validation=Utterances(TEXTS[2:5]), epochs=2, lr=1e-2)
    history = trainer.fit()
    assert history["loss"][1] < history["loss"][0]
    written, texts = [], []
    inference = Inference.of(trainer.model)
    for sample in Utterances(TEXTS[2:5]):
        written.append(inference.infer_one(sample["audio"]).text)
        texts.append(sample["text"])
    metric = labdl.train.metrics.CharacterErrorRate()
    assert history["val_character_error_rate"][-1] == pytest.approx(metric(written, texts))


@pytest.mark.sample(backends=["torch"])
def test_sounds_of_a_manifest_and_of_folders_of_words(backend, tmp_path):
    rows = []
    for at, text in enumerate(TEXTS):
        (tmp_path / f"{at}.wav").write_bytes(encode_audio(sound(text), "wav"))
        rows.append(f'{{"path": "{at}.wav", "text": "{text}"}}')
        word = tmp_path / "words" / ("ab", "cab")[at % 2] / f"{at}.wav"
        word.parent.mkdir(parents=True, exist_ok=True)
        word.write_bytes(encode_audio(sound(("ab", "cab")[at % 2]), "wav"))
    (tmp_path / "train.jsonl").write_text("\n".join(rows))
    trainer = create(recognizer(), data.ManifestDataset(tmp_path / "train.jsonl"), backend)
    assert trainer.model.class_names == ("<blank>", " ", "a", "b", "c")
    # batches are sorted by the lengths of the sounds
    lengths = [batch["steps"] for batch in trainer.settings.train_dataset]
    assert sum(map(len, lengths)) == 6
    assert min(max(batch) for batch in lengths) <= max(min(batch) for batch in lengths)
    trainer = create(recognizer(4), data.AudioFolder(tmp_path / "words"), backend)
    assert trainer.model.class_names == ("<blank>", "a", "b", "c")
    batch = next(iter(trainer.settings.val_dataset))
    assert {tuple(row[row >= 0]) for row in pad_labels(batch)} == {(1, 2), (3, 1, 2)}


@pytest.mark.sample(backends=["torch"])
def test_a_model_of_the_zoo_gets_the_characters_of_the_transcripts(backend, monkeypatch):
    monkeypatch.setattr(tasks.find("speech recognition"), "sample_rate", RATE)
    trainer = create("conformer_small", Utterances(TEXTS), backend, task=None)
    assert trainer.model.head.out_features == 5
    assert trainer.model.encoder.features == 144
    for name, part in [("whisper_tiny", "wants a ConformerCTC or an RNNT")]:
        with pytest.raises(ConfigError, match=part):
            create(name, Utterances(TEXTS), backend)


@pytest.mark.sample(backends=["torch"])
def test_samples_that_do_not_fit_are_named(backend):
    def read(dataset, model=None, **settings):
        trainer = create(recognizer() if model is None else model, dataset, backend, **settings)
        return list(trainer.settings.train_dataset)

    silent, one = (data.Audio(np.zeros(count, "float32"), sample_rate=RATE) for count in (4000, 1))
    abc = tasks.SpeechRecognition("abc", RATE)
    for call, part in [
        (lambda: read(Utterances(TEXTS, audio=silent)), "the sound is silent"),
        (lambda: read(Utterances(TEXTS, audio=one)), "one sample alone"),
        (lambda: read(Utterances(["ab", "", "ba", " "]), recognizer(4)), "the transcript is empty"),
        (
            lambda: read(Utterances(["ab c"] * 4), recognizer(4), task=abc),
            "has ' ', which the vocabulary of 3 characters",
        ),
        (lambda: read(Utterances(TEXTS, audio=sound("a"))), "needs .* steps for CTC"),
        (lambda: read(Utterances(TEXTS, audio=sound("a", 0.03))), "frames, the model wants at least 7"),
        (lambda: read(Utterances(TEXTS), recognizer(9)), "has 9 symbols, the transcripts have 5"),
        (lambda: read(Utterances(TEXTS), size=(3, 4)), "size of a recognizer is its number of mel bins"),
        (lambda: read(data.digits()[0]), "wants samples with audio"),
        (lambda: read(Utterances(TEXTS), Conformer(8, layers=1, heads=2)), "wants a ConformerCTC or an RNNT"),
        (lambda: tasks.SpeechRecognition(["ab"]), "wants single characters, received 'ab'"),
        (lambda: tasks.SpeechRecognition("aa"), "a character twice"),
        (lambda: tasks.SpeechRecognition(sample_rate=0.5), "sample_rate wants a whole number"),
    ]:
        with pytest.raises(LabDLError, match=part):
            call()
    texts, validation = Utterances(["ab", "", "ba", "b a"]), Utterances(["ab"])
    with pytest.warns(UserWarning, match="the transcript is empty"):
        batches = read(texts, recognizer(4), validation=validation, errors="skip")
    assert sum(len(batch["steps"]) for batch in batches) == 3
