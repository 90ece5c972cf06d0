"""Models that tasks on texts have trained give the task's answer: in memory, saved and reopened, and as a folder of the Hub."""

import json

import numpy as np
import pytest
from text_task_cases import DATA, create_trainer

import labdl
from labdl.infer import Inference

pytestmark = pytest.mark.filterwarnings("ignore:not in the files")
ROW = DATA["questions"][3]
SAMPLES = {
    "classification": "He reads books.",
    "similarity": ("A small boat.", "The boat is small."),
    "tokens": "Anna saw the boat in Rome .",
    "questions": (ROW["question"], ROW["context"]),
    "masked words": "A small [MASK] lies in the harbor.",
    "summarization": "He came home.",
    "translation": "He came home.",
}


def answer_of(result):
    """What a result tells, as arrays by name."""
    if isinstance(result, np.ndarray):
        return {"number": result}
    if type(result).__name__ == "Generation":
        return {"text": np.asarray([result.text])}
    names = ("probabilities", "labels", "scores", "characters", "texts")
    return {name: np.asarray(getattr(result, name)) for name in names if getattr(result, name, None) is not None}


def same(one, other):
    assert one.keys() == other.keys()
    assert one
    for name, values in one.items():
        if values.dtype.kind in "US":
            assert values.tolist() == other[name].tolist()
        else:
            np.testing.assert_allclose(other[name], values, rtol=1e-4, atol=1e-5)


def check_results(case, backend, folder):
    trainer = create_trainer(case, folder, backend.name, epochs=1)
    trainer.fit(progress=False)
    model, sample = trainer.model, SAMPLES[case]
    settings = {"max_new_tokens": 4} if case in ("summarization", "translation") else {}
    expected = Inference.of(model).infer_one(sample, **settings)
    labdl.models.save_pretrained(model, folder / "hub")
    in_windows = {"max_seq_len": 40} if case == "questions" else {}  # which the folder does not say
    public = Inference.of(folder / "hub", backend=backend.name, **in_windows)
    same(answer_of(expected), answer_of(public.infer_one(sample, **settings)))
    if case not in ("summarization", "translation"):
        labdl.save(model, folder / "saved")
        reopened = Inference.of(folder / "saved", backend=backend.name)
        same(answer_of(expected), answer_of(reopened.infer_one(sample)))
        together = reopened.infer([sample, sample])
        same(answer_of(expected), answer_of(together[1]))
    return expected


@pytest.mark.sample(False)
@pytest.mark.parametrize("case", list(SAMPLES))
def test_saved_models_answer_as_trained_ones(case, backend, tmp_path):
    result = check_results(case, backend, tmp_path)
    if case == "tokens":
        assert len(result.names) >= 7
    if case == "questions":
        assert result.text in ROW["context"]
        assert len(ROW["context"].split()) > 20


@pytest.mark.sample(False)
def test_training_from_a_config_file(backend, tmp_path):
    from text_task_cases import ORACLES, create_dataset

    from labdl.cli import main

    create_dataset("tokens", tmp_path)
    config = {
        "task": "token classification",
        "model": str(ORACLES / "hub" / "bert_old_names"),
        "train_dataset": str(tmp_path / "data.jsonl"),
        "val_dataset": str(tmp_path / "data.jsonl"),
        "size": 24,
        "epochs": 1,
        "backend": backend.name,
        "compiled": False,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert main(["train", str(tmp_path / "config.json"), "--folder", str(tmp_path / "run")]) == 0
    assert list((tmp_path / "run").glob("model*"))
