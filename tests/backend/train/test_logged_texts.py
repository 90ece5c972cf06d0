"""Texts that a training logs: from methods and callbacks to the events and the record of a run."""

import pytest
from runs import DATA, WAIT, trainer

from labdl.errors import ConfigError
from labdl.train import Epoch, Step, Text

pytestmark = pytest.mark.sample(backends=1)


def texts(events):
    return [(event.step, event.name, event.text) for event in events if isinstance(event, Text)]


@pytest.mark.parametrize("health", [None, 0.0])
def test_texts_follow_their_step(backend, health):
    training = trainer(backend, metrics=["mean_absolute_error"])
    postprocess = training.postprocess

    def logged(output):
        training.log_text("shape", str(output.shape))
        return postprocess(output)

    training.postprocess = logged
    events = []
    for event in training.events(DATA, epochs=1, batch_size=20, health=health):
        events.append(event)
        if isinstance(event, Epoch):
            training.log_text("note", "the epoch ended")
    assert texts(events) == [(1, "shape", "(20, 1)"), (2, "shape", "(20, 1)"), (2, "note", "the epoch ended")]
    assert [type(event) for event in events if isinstance(event, Step | Text | Epoch)] == [
        *(Step, Text, Step, Text),
        *(Epoch, Text),
    ]


def test_texts_are_recorded_within_bounds(backend, tmp_path):
    training = trainer(backend)

    def log(event):
        if isinstance(event, Epoch):
            for number in range(150):
                training.log_text("many", f"{number}: " + "é\ud800" * 20_000)

    run = training.start(*DATA, epochs=1, batch_size=20, folder=tmp_path / "run", callbacks=[log])
    run.wait(WAIT)
    recorded = run.record.events("text")
    assert [each["text"].partition(":")[0] for each in recorded] == [str(number) for number in range(50, 150)]
    assert {(each["step"], each["name"], len(each["text"])) for each in recorded} == {(2, "many", 20_000)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("a", 1, "a string for text, received int"), (None, "b", "a string for name"), ("", "b", "not empty")],
)
def test_other_values_are_refused(backend, name, text, message):
    with pytest.raises(ConfigError, match=message):
        trainer(backend).log_text(name, text)
