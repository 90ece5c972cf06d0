"""`labdl.lab.show` for results on texts and sounds: what is marked, what a page gets, and what is refused."""

import re

import numpy as np
import pytest

from labdl.data import Audio
from labdl.data.codecs.audio import encode_audio
from labdl.errors import ConfigError, DataError
from labdl.generation import Generation
from labdl.infer import AnswerSpans, Classes, TokenClasses, Tokens, Transcript
from labdl.lab import show

TEXT = "Ada Lovelace met <b>Bob</b>"
SOUND = np.sin(np.arange(8000) / 20).astype("float32") * 0.5


def marked(view) -> list[str]:
    return [span.text for span in view.spans if span.color is not None]


def test_entities_are_marked_in_their_text():
    offsets = np.array([[0, 3], [4, 12], [13, 16], [17, 27]])
    shares = np.array([0.9, 0.7, 0.6, 0.5])
    names = ("B-PER", "I-PER", "O", "B-<i>")
    view = show(TEXT, TokenClasses(np.array([1, 2, 0, 3]), shares, names, TEXT, offsets))
    assert view.text == TEXT
    assert marked(view) == ["Ada Lovelace", "<b>Bob</b>"]
    assert [(row.text, row.value) for row in view.legend] == [
        ("PER: Ada Lovelace", "80.0%"),
        ("<i>: <b>Bob</b>", "50.0%"),
    ]
    page = view._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page
    assert page.count("<mark") == 2
    assert "[Ada Lovelace](PER) met" in repr(view)
    plain = show(TEXT, TokenClasses(np.array([1, 2, 0, 3]), shares, None, TEXT, offsets))
    assert [row.text for row in plain.legend][:2] == ["class 1: Ada", "class 2: Lovelace"]
    with pytest.raises(DataError, match="not that of this text"):
        show("Ada", TokenClasses(np.array([1]), np.array([0.9]), ("A",), TEXT, offsets[:1]))
    with pytest.raises(DataError, match="no places in the text"):
        show(TEXT, TokenClasses(np.array([1]), np.array([0.9])))


def test_words_stand_in_the_place_of_masks():
    texts = (("river", "boat"), (" sea", " wind"))
    result = Tokens(np.array([[3, 4], [5, 6]]), np.array([[0.7, 0.2], [0.6, 0.3]]), texts)
    view = show("The [MASK] and the [MASK].", result)
    assert view.text == "The river and the sea."
    assert marked(view) == ["river", "sea"]
    assert [(row.text, row.value) for row in view.legend][1:3] == [("boat", "20.0%"), ("sea", "60.0%")]
    with pytest.raises(DataError, match="the text has 1 masks, the result has 2"):
        show("The [MASK].", result)


def test_answers_classes_and_generated_texts():
    answer = AnswerSpans(
        np.array([3, -1]), np.array([4, -1]), np.array([0.8, 0.1]), ("the", ""), np.array([[7, 10], [0, 0]])
    )
    for sample in (("Who?", "Is the the wind?"), {"question": "Who?", "context": "Is the the wind?"}):
        view = show(sample, answer)
        assert view.text == "Who?\nIs the the wind?"
        assert marked(view) == ["the"]
        assert [span.text for span in view.spans][1] == "Is the "
        assert [row.text for row in view.legend] == ["the", "no answer"]
    with pytest.raises(DataError, match="answer is not in this text"):
        show(("Who?", "Nobody"), answer)
    with pytest.raises(DataError, match="shown in a pair"):
        show("Who?", answer)
    classes = Classes(np.array([1, 0]), np.array([0.9, 0.1]), ("good", "bad"))
    assert show("I liked it", classes).text == "I liked it"
    assert show(("It rains", "It is wet"), classes).text == "It rains\nIt is wet"
    assert [row.value for row in show("I liked it", classes).legend] == ["90.0%", "10.0%"]
    view = show("The river", Generation(np.array([4, 5]), "turned", -0.25))
    assert view.text == "The river turned"
    assert marked(view) == ["turned"]
    assert view.legend[0].value == "-0.250"


def test_a_sound_has_its_wave_form_and_its_transcript(tmp_path):
    transcript = Transcript(np.array([3, 4]), np.array([0.1, 0.4]), "hi & <b>", -2.5)
    (tmp_path / "a.wav").write_bytes(encode_audio(Audio(SOUND, sample_rate=16000), "wav"))
    samples = [SOUND, Audio(SOUND, sample_rate=16000), tmp_path / "a.wav", str(tmp_path / "a.wav")]
    for sample in samples:
        view = show(sample, transcript)
        assert view.seconds == pytest.approx(0.5)
        page = view._repr_html_()
        assert "hi &amp; &lt;b&gt;" in page
        assert "data:audio/wav;base64," in page
        ticks = re.findall(r"M([\d.]+) 114 V120", page)
        assert ticks == ["160.0", "640.0"]
        assert "hi & <b>\nlog-probability -2.500" in repr(view)
        assert show(sample, Generation(np.array([3]), "hi")).text == "hi"
    assert show(SOUND, transcript, sample_rate=8000).seconds == pytest.approx(1.0)
    assert "<svg" in show(np.zeros(10, "float32"), transcript)._repr_html_()
    assert show(SOUND, Transcript(np.array([3, 4]), np.array([0.0, 9.0]), None, -1.0)).text == "3 4"
    with pytest.raises(DataError, match="empty"):
        show(np.zeros(0, "float32"), transcript)


def test_a_text_of_a_picture_is_its_legend():
    picture = np.zeros((4, 6, 3), "uint8")
    view = show(picture, Generation(np.array([3]), "letters"))
    assert view.picture.shape == (4, 6, 3)
    assert view.legend[0].text == "letters"
    with pytest.raises(ConfigError, match="one of Classes, Mask, Detections, Points, Generation, TokenClasses"):
        show("text", "text")
