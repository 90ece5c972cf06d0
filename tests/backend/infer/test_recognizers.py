"""Sounds to transcripts by CTC and by a transducer, on one backend: greedy paths of the whole model, and bad sounds."""

import itertools

import numpy as np
import pytest

import labdl
from labdl.data import Audio
from labdl.data import transforms as T
from labdl.errors import LabDLError
from labdl.infer import Inference
from labdl.models.sound.conformer import Conformer, ConformerCTC
from labdl.models.sound.rnnt import RNNT
from labdl.models.zoo import ZOO
from labdl.spec import Spec
from labdl.tasks.transducer_search import search_transducer

RATE = 8000
SOUND = np.random.default_rng(0).normal(size=4000).astype("float32") * 0.1
SYMBOLS = ["_", *"abcdefghijklmnopqrs"]


def mel(bins: int) -> T.LogMelSpectrogram:
    return T.LogMelSpectrogram(sample_rate=RATE, n_fft=200, hop_length=80, n_mels=bins)


def frames(bins: int, sound: np.ndarray = SOUND) -> np.ndarray:
    return np.asarray(mel(bins)(Audio(sound, sample_rate=RATE)))[0].T


def recognizer(backend):
    model = ConformerCTC(Conformer(8, layers=1, heads=2, feed_forward=12, kernel_size=3, rate=0.0), 20)
    return model.build(Spec((None, None, 12)), backend=backend.name, seed=0).eval()


def transducer(backend):
    model = ZOO["emformer_rnnt_base"].small()[0]
    return model.build(Spec((None, 52, 5)), Spec((None, 4), "int64"), backend=backend.name, seed=1).eval()


def test_a_transcript_by_ctc_is_the_best_path(backend, tmp_path):
    model = recognizer(backend)
    inference = Inference.of(model, preprocess=mel(12), vocabulary=SYMBOLS, sample_rate=RATE)
    logits = labdl.to_numpy(model(backend.tensor(frames(12)[None])))[0]
    best = logits.argmax(-1)
    kept = [at for at, symbol in enumerate(best) if symbol and (at == 0 or symbol != best[at - 1])]
    result = inference.infer_one(SOUND)
    assert result.tokens.tolist() == best[kept].tolist()
    assert result.text == "".join(SYMBOLS[at] for at in best[kept])
    np.testing.assert_allclose(result.times, np.array(kept) * 4 * 80 / RATE)
    short, whole = inference.infer([SOUND[:2000], Audio(SOUND, sample_rate=RATE)])
    assert whole.text == result.text
    assert short.score > whole.score


@pytest.mark.sample(False)
def test_a_transcript_by_a_transducer_is_the_greedy_path(backend):
    """Against the logits of the whole model, which depend at each place on the symbols before it alone."""
    model, context, sound = transducer(backend), 2, SOUND[:800]
    inference = Inference.of(model, preprocess=[mel(5)], vocabulary=SYMBOLS, sample_rate=RATE)
    result = inference.infer_one(sound)
    heard = frames(5, sound)
    inputs = np.concatenate([heard, np.zeros((context, 5), "float32")])[None].astype("float32")
    symbols = np.array([[0, *result.tokens]], "int64")
    logits = labdl.to_numpy(model(backend.tensor(inputs), backend.tensor(symbols)))[0].astype("float64")
    written, at, here, score = [0], 0, 0, 0.0
    while at < len(heard) // 2:
        row = logits[at, len(written) - 1]
        best = 0 if here == 10 else int(row.argmax())
        score += row[best] - np.log(np.exp(row).sum())
        at, here = (at, here + 1) if best else (at + 1, 0)
        written += [best] if best else []
    assert len(written) > 1
    assert result.tokens.tolist() == written[1:]
    assert result.score == pytest.approx(score, rel=1e-4)
    assert result.text == "".join(SYMBOLS[symbol] for symbol in written[1:])
    assert (np.diff(result.times) >= 0).all()


@pytest.mark.sample(backends=1)
def test_beam_search_of_a_transducer_finds_the_most_probable_symbols(backend):
    """Against the sum over all alignments of at most two symbols a step, by the logits of the whole model."""
    model = RNNT(
        3,
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
    )
    model.build(Spec((None, 8, 5)), Spec((None, 4), "int64"), backend=backend.name, seed=3).eval()
    heard = np.random.default_rng(2).normal(size=(6, 5)).astype("float32") * 3
    emissions = [symbols for count in range(3) for symbols in itertools.product((1, 2), repeat=count)]
    sequences = [symbols for count in range(7) for symbols in itertools.product((1, 2), repeat=count)]
    written = np.array([[0, *symbols, *[0] * (6 - len(symbols))] for symbols in sequences])
    frames = np.repeat(np.concatenate([heard, np.zeros((2, 5), "float32")])[None], len(sequences), 0)
    logits = labdl.to_numpy(model(backend.tensor(frames), backend.tensor(written))).astype("float64")
    logs = dict(zip(sequences, logits - np.log(np.exp(logits).sum(-1, keepdims=True)), strict=True))
    scores: dict[tuple, list[float]] = {}
    for alignment in itertools.product(emissions, repeat=3):
        symbols, score, place = tuple(itertools.chain(*alignment)), 0.0, 0
        for step, emitted in enumerate(alignment):
            for symbol in (*emitted, 0):
                score += logs[symbols][step, place, symbol]
                place += symbol > 0
        scores.setdefault(symbols, []).append(score)
    totals = {symbols: np.logaddexp.reduce(each) for symbols, each in scores.items()}
    best = max(totals, key=totals.__getitem__)
    path = search_transducer(model, heard, symbols_per_step=2, beam_size=500)
    assert tuple(path.symbols) == best
    assert path.score == pytest.approx(totals[best], rel=1e-4)
    assert len(path.steps) == len(best)
    assert (np.diff(path.steps) >= 0).all()
    narrow = search_transducer(model, heard, symbols_per_step=2, beam_size=2)
    greedy = search_transducer(model, heard, symbols_per_step=2)
    assert greedy.score <= narrow.score <= path.score + 1e-6
    with pytest.raises(LabDLError, match="beam_size wants a whole number above 0, received 0"):
        search_transducer(model, heard, beam_size=0)


@pytest.mark.sample(backends=1)
def test_sounds_and_settings_that_do_not_fit_are_named(backend):
    model, steps = recognizer(backend), {"preprocess": mel(12), "sample_rate": RATE}
    inference = Inference.of(model, vocabulary=SYMBOLS, **steps)
    writer = Inference.of(transducer(backend), preprocess=mel(5), sample_rate=RATE, vocabulary=SYMBOLS)
    for reader, sound, message in [
        (inference, np.zeros(4000, "float32"), "silent"),
        (inference, np.ones(1, "float32"), "one sample alone"),
        (inference, SOUND[:300], "has 4 frames, the model wants at least 7"),
        (inference, "nowhere.wav", "nowhere"),
        (writer, np.zeros(4000, "float32"), "silent"),
        (writer, np.zeros(0, "float32"), "empty"),
        (writer, np.full(400, np.nan), "NaN"),
    ]:
        with pytest.raises(LabDLError, match=message):
            reader.infer_one(sound)
    with pytest.raises(LabDLError, match=r"has the settings .*, received 'beam'"):
        writer.infer_one(SOUND, beam=3)
    with pytest.raises(LabDLError, match=r"blank wants a symbol of the model, 0 to .*, received 20"):
        writer.infer_one(SOUND, blank=20)
    with pytest.raises(LabDLError, match="pre-processing of this ConformerCTC is not known"):
        Inference.of(model, vocabulary=SYMBOLS)
    with pytest.raises(LabDLError, match=r"wants frames \(steps, 12\), preprocess gives an array of the shape"):
        Inference.of(model, preprocess=mel(9), sample_rate=RATE).infer_one(SOUND)
    with pytest.raises(LabDLError, match="sample_rate wants a whole number"):
        Inference.of(model, preprocess=mel(12), sample_rate=0.5)
    with pytest.raises(LabDLError, match="vocabulary of 3 tokens"):
        Inference.of(model, vocabulary=["_", "a", "b"], **steps).infer_one(SOUND)
    text = Inference.of(model, vocabulary=lambda numbers: "-".join(map(str, numbers)), **steps).infer_one(SOUND).text
    assert text.replace("-", "").isdigit()
