"""Questions about texts, whose answers are parts of them: files of SQuAD, and rows of JSON or Parquet as the Hub has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data.dataset import Dataset
from labdl.data.formats.path_list import Paths, list_paths
from labdl.data.parts import Text
from labdl.data.text_files.row_files import LARGEST_IN_MEMORY, open_rows
from labdl.errors import DataError, FileFormatError

_ROWS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class SquadDataset(Dataset):
    """Questions with the text that has the answer: samples ``{"question": Text, "context": Text, "answers": {...}}``.

    ``answers`` has the lists "text" and "answer_start", the first character of each; both are empty where there is no answer
    (SQuAD 2.0). Files are those of SQuAD (.json), or rows (.jsonl, .parquet) with question, context and answers as those of
    the Hub. Example: ``data.SquadDataset("train-v2.0.json")``. As datasets.load_dataset("squad_v2") (Rajpurkar et al., 2018).
    Raises MissingFileError, FileFormatError, and DataError that names the question whose answer is not at its place.
    """

    inputs, targets = ("question", "context"), ("answers",)

    def __init__(self, paths: Paths):
        self.paths = list_paths(paths)
        self.name = self.paths[0].stem
        self._questions = [question for path in self.paths for question in _read_questions(path)]
        if not self._questions:
            raise DataError(f"{', '.join(path.name for path in self.paths[:3])} has no questions")

    def __len__(self) -> int:
        return len(self._questions)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        question, context, answers = self._questions[index]
        return {"question": Text(question), "context": Text(context), "answers": answers}


def _read_questions(path: Path) -> Iterator[tuple[str, str, dict[str, list]]]:
    kind = _ROWS.get(path.suffix.lower())
    rows: Any
    if kind is not None:
        source = open_rows(path, "utf-8", "strict", kind=kind)
        rows = ((f"the row {at + 1:,}", source.read(at)) for at in range(len(source)))
    else:
        rows = _read_articles(path)
    for place, row in rows:
        question, context = row.get("question"), row.get("context")
        if not isinstance(question, str) or not isinstance(context, str):
            raise DataError(
                f"{path.name}: {place} wants question and context, texts both, and has {', '.join(row):.80}"
            )
        answers = row.get("answers") or {}
        if isinstance(answers, Mapping):
            pairs = list(zip(answers.get("text", ()), answers.get("answer_start", ()), strict=False))
        else:
            pairs = [(one.get("text"), one.get("answer_start")) for one in answers]
        for text, start in pairs:
            if not isinstance(text, str) or context[int(start) : int(start) + len(text)] != text:
                raise DataError(
                    f"{path.name}: the answer {text!r:.60} of {place} is not at the character {start} of its context"
                )
        yield question, context, {"text": [a for a, _ in pairs], "answer_start": [int(at) for _, at in pairs]}


def _read_articles(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        content = loads(read_file(path, LARGEST_IN_MEMORY, "data set"))
        articles = content["data"] if isinstance(content, dict) else content
        for article in articles:
            for paragraph in article["paragraphs"]:
                for one in paragraph["qas"]:
                    answers = [] if one.get("is_impossible") else one.get("answers", [])
                    row = {"question": one["question"], "context": paragraph["context"], "answers": answers}
                    yield f"the question {one.get('id', one['question'])!r:.60}", row
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path.name} is no file of SQuAD: {error!s:.200}") from None
