"""Tasks on texts: the first losses are those of the public library, of texts without padding."""

import json

import numpy as np
import pytest
from text_task_cases import CASES, ORACLES, create_trainer

from labdl.train import Step

pytestmark = pytest.mark.filterwarnings("ignore:not in the files")
LOSSES = json.loads((ORACLES / "text_tasks" / "losses.json").read_text())["losses"]


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.sample(False)) for case in CASES])
def test_losses_are_those_of_the_public_library(case, backend, tmp_path):
    trainer = create_trainer(case, tmp_path, backend.name)
    losses = [event.values["loss"] for event in trainer.events() if isinstance(event, Step)]
    np.testing.assert_allclose(losses, LOSSES[case], atol=1e-3)


@pytest.mark.sample(False)
def test_batches_of_other_sizes_have_the_same_validation_loss(backend, tmp_path):
    """Longer batches have other padding."""
    for case in ("tokens", "questions", "summarization"):
        values = []
        for at, size in enumerate((1, 8)):
            trainer = create_trainer(case, tmp_path / f"{case}{at}", backend.name, batch_size=size)
            trainer.model.eval()
            values.append(trainer.evaluate(trainer.settings.val_dataset, batch_size=size)["loss"])
        assert values[0] == pytest.approx(values[1], rel=1e-5)


@pytest.mark.sample(False)
def test_batches_of_similar_lengths_have_little_padding(backend, tmp_path):
    trainer = create_trainer("translation", tmp_path, backend.name, group_by_length=True, epochs=1, batch_size=2)
    lengths = []
    forward = type(trainer).preprocess

    class Recorder:
        def __call__(self, batch):
            x, y = forward(trainer, batch)
            lengths.append((x[0].shape[1], x[2].sum(1).max()))
            return x, y

    trainer.preprocess = Recorder()
    values = trainer.fit(progress=False)
    assert np.isfinite(values["loss"][0])
    assert all(width - longest < 8 for width, longest in lengths)
    assert len({width for width, _ in lengths}) > 1
