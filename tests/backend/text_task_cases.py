"""Trainings of the tasks on texts whose losses are known from the public library: small folders of the Hub without dropout."""

import json
import shutil
from pathlib import Path

import numpy as np

import labdl
from labdl import data, tasks

ORACLES = Path(__file__).parents[1] / "oracles"
DATA = json.loads((ORACLES / "text_tasks" / "data.json").read_text(encoding="utf-8"))
SETTINGS = {"epochs": 2, "batch_size": 4, "lr": 1e-3, "shuffle": False, "compiled": False, "seed": 1, "metrics": []}
DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout_rate", "dropout", "attention_dropout"),
    *("activation_dropout", "classifier_dropout"),
)
# the task, the folder, the architecture, the number of classes, and the size
CASES = {
    "classification": ("text classification", "bert_old_names", "BertForSequenceClassification", 3, 24),
    "similarity": ("text similarity", "roberta_bin", "RobertaForSequenceClassification", 1, 40),
    "tokens": ("token classification", "bert_old_names", "BertForTokenClassification", 7, 40),
    "questions": ("question answering", "distilbert", "DistilBertForQuestionAnswering", None, 40),
    "masked words": ("masked words", "bert_old_names", "BertForMaskedLM", None, 24),
    "summarization": ("summarization", "t5", None, None, 24),
    "translation": ("translation", "marian", None, None, 24),
}


def folder_without_dropout(name, target):
    """A copy of a folder of the Hub whose config has no dropout."""
    shutil.copytree(ORACLES / "hub" / name, target)
    config = json.loads((target / "config.json").read_text())
    config |= {key: 0.0 for key in DROPOUTS if key in config}
    (target / "config.json").write_text(json.dumps(config))
    return target


def create_model(case, folder, backend):
    """The model of a case; the head, which the folder does not have, is drawn by NumPy."""
    _, _, architecture, classes, _ = CASES[case]
    settings = {} if classes is None else {"classes": classes}
    model = labdl.models.from_pretrained(folder, backend=backend, architecture=architecture, **settings)
    rng = np.random.default_rng(7)
    heads = ("classifier", "answers", "dense", "bert/pooler")
    values = {
        name: (rng.normal(size=value.shape) / 8).astype("float32")
        for name, value in sorted(model.state_dict().items())
        if name.startswith(heads)
    }
    model.load_state_dict(values, strict=False)
    return model


def create_dataset(case, folder):
    """The samples of a case as a data set of files."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "data.jsonl"
    rows = {
        "classification": [{"text": text, "label": label} for text, label in DATA["classes"]],
        "similarity": [{"one": a, "two": b, "label": value} for a, b, value in DATA["similarities"]],
        "tokens": [{"tokens": words, "tags": tags} for words, tags in DATA["words and tags"]],
        "questions": DATA["questions"],
        "masked words": [{"text": text} for text in DATA["texts"]],
    }.get(case, [{"one": a, "two": b} for a, b in DATA["pairs"]])
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    if case == "tokens":
        return data.TaggedTextDataset(file)
    if case == "questions":
        return data.SquadDataset(file)
    return data.TextDataset(file, text=("one", "two") if "one" in rows[0] else None)


def create_trainer(case, folder, backend, **settings):
    task, name, _, classes, size = CASES[case]
    model = create_model(case, folder_without_dropout(name, folder / "model"), backend)
    dataset = create_dataset(case, folder)
    task = tasks.QuestionAnswering(stride=8) if case == "questions" else task
    more = {"classes": classes} if classes else {}
    return tasks.create_trainer(
        model, dataset, task=task, validation=dataset, size=size, backend=backend, **more, **{**SETTINGS, **settings}
    )
