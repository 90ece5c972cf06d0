"""The templates of the sentences that Python makes, from the source.

`python scripts/messages.py [FOLDER…]` lists those that have no translation.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CATALOG = ROOT / "labdl" / "translation" / "zh_CN.json"
CALLS = {"Problem", "Hint", "Finding", "fault", "translate", "warn", "RequestError"}
NAMES = {"message", "problem", "reason"}


def templates(paths: list[Path]) -> dict[str, str]:
    """Each template with the file and line that makes it."""
    files = sorted(file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py")))
    places: dict[str, str] = {}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for text in filter(_is_sentence, _texts_made_by(node)):
                places.setdefault(text, f"{file.relative_to(ROOT)}:{node.lineno}")  # type: ignore[attr-defined]
    return places


def _texts_made_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        values = node.exc.args
    elif isinstance(node, ast.Call) and _name(node.func) in CALLS:
        values = node.args[:2]  # what follows is a status or a command
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in NAMES:
        values = [node.value]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        values = [
            value for key, value in pairs if isinstance(key, ast.Constant) and key.value in ("problem", "problems")
        ]
    else:
        return
    for value in values:
        for parts in _alternatives(value):
            numbers = iter(range(1, 100))
            merged = [part for at, part in enumerate(parts) if part is not None or at == 0 or parts[at - 1] is not None]
            yield "".join(
                f"%{next(numbers)}" if part is None else part for part in merged
            )  # two values side by side are one


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _alternatives(value: ast.expr) -> Iterator[list[str | None]]:
    """What an expression may be: literal parts, and None where a value is filled in."""
    if isinstance(value, ast.Constant):
        yield [value.value] if isinstance(value.value, str) else [None]
    elif isinstance(value, ast.JoinedStr):
        yield [part.value if isinstance(part, ast.Constant) else None for part in value.values]  # type: ignore[misc]
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for left in _alternatives(value.left):
            for right in _alternatives(value.right):
                yield left + right
    elif isinstance(value, ast.IfExp):
        yield from _alternatives(value.body)
        yield from _alternatives(value.orelse)
    elif isinstance(value, ast.List):
        for each in value.elts:
            yield from _alternatives(each)
    else:
        yield [None]


def _is_sentence(text: str) -> bool:
    """Whether enough of it is words for a sentence to be recognized by."""
    if "%1" not in text:
        return " " in text and len(text) > 7
    return len(re.findall(r"[A-Za-z]", re.sub(r"%\d+|received", " ", text))) >= 8


def main() -> None:
    paths = [Path(name).resolve() for name in sys.argv[1:]] or [ROOT / "labdl"]
    words = json.loads(CATALOG.read_text(encoding="utf-8"))
    places = templates(paths)
    missing = {text: place for text, place in places.items() if text not in words}
    for text, place in missing.items():
        print(f"{place}: {text}")
    print(f"{len(missing)} of {len(places)} sentences have no translation", file=sys.stderr)


if __name__ == "__main__":
    main()
