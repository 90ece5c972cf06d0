"""Count names and docstrings that leave the vocabulary of the field, per folder of the source tree.

    python scripts/vocabulary.py                  # counts of this checkout
    python scripts/vocabulary.py --root OTHER     # counts of another checkout
    python scripts/vocabulary.py --list nn data   # each finding in labdl/nn and labdl/data
    python scripts/vocabulary.py --check          # fail when a forbidden form is found

Forbidden: names that are bare participles (``told``), names that are images (``chronicle``), docstrings whose first
line starts with "What", British spellings in identifiers, and references to numbered decisions that are not part of
the repository. Docstrings that start with "How" or "Whether" are counted and allowed.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


IRREGULAR = word_set("""
    asked become been begun bent bound bought broken brought caught chosen dealt done drawn driven fallen felt forgotten
    found given gone got gotten grown had heard held hidden hurt kept known laid led lent lost made meant met paid said
    seen sent shown sold sought spent spoken stood stuck sunk swept taken taught thought thrown told torn understood
    undone woken won worn woven written
""")
# words in -ed that engineers use as nouns, verbs or adjectives
FIELD_WORDS = word_set("""
    balanced cased embed embedded feed fixed mixed need nested normed padded quantized red searchsorted seed shared shed sorted
    speed stacked uncased unsorted weighted
""")
IMAGES = word_set("""
    answers chronicle chronicler detour detours ear errand errands exits foot gossip hear heard home hopeless mend
    mended obey onlooker onlookers overhang pace pacer parcel parcels sayable sentence sight teach tell tells telling
    tidings turns twin twins unheard welcome wordless
""")
# exact names in which such a word is the field's: (name, beginning of the path)
TERMS = frozenset(
    {
        ("tell", "labdl/train/tuning"),  # ask and tell of a sampler, as in Optuna
        ("SentencePiece", "labdl/data/text"),  # the library and its kind of tokenizer
        ("SentencePieceTokenizer", "labdl/data/transforms/text"),
        ("compiled", "labdl/train/trainer"),  # `Trainer.compiled`, as in Keras
    }
)
BRITISH = re.compile(
    r"""(?x)
    (?: initial | normal | optim | regular | serial | quant | general | minim | maxim | recogn | organ | util | visual
      | special | summar | vector | factor | token | local | parallel | random | standard | synchron | categor | capital
      | digit | real | linear | penal | equal | final | categor | crystall )
    is(?:e|ed|er|ers|es|ing|ation|ations)(?![a-z])
    | colour | behaviour | neighbour | favour | honour | centre | metre(?!l) | artefact | catalogue | licence
    | labell(?:ed|ing) | cancell(?:ed|ing) | modell(?:ed|ing|er) | travell | analys(?:e|ed|er)(?![a-z]) | defence
    """
)
REFERENCE = re.compile(r"(?<![\w.])(?:D|R)(?:\d+\.\d+|[3-9]|[1-9]\d)(?![\w.]*\w)")
NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
EXPORTED = re.compile(r"^\s*export\s+(?:async\s+)?(?:function|class)\s+(\w+)", re.MULTILINE)
FORBIDDEN = ("participle", "image", "What", "British", "reference", "TS participle")
ALLOWED = ("How", "Whether")


class Finding(NamedTuple):
    """One form that leaves the vocabulary: its kind, its place and the text."""

    kind: str
    path: str
    line: int
    text: str


def is_participle(name: str) -> bool:
    """True when `name` is a single word and a past participle."""
    words = [word.lower() for word in NAME.findall(name)]
    if len(words) != 1:
        return False
    word = words[0]
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in FIELD_WORDS)


def is_image(name: str) -> bool:
    """True when a word of `name` is an image instead of a term."""
    return any(word.lower() in IMAGES for word in NAME.findall(name))


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions, methods and classes of a module, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def identifiers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of every name, attribute, argument and definition of a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of a module, its classes and its functions."""
    for node in (tree, *definitions(tree)):
        text = ast.get_docstring(node)
        if text:
            yield node.body[0].lineno, text


def check_module(path: str, source: str) -> Iterator[Finding]:
    """Findings of one Python file."""
    tree = ast.parse(source)
    stem = Path(path).stem
    names = [(node.lineno, node.name) for node in definitions(tree)]
    names += [] if stem == "__init__" else [(1, stem)]
    for line, name in names:
        if any(name == term and path.startswith(room) for term, room in TERMS):
            continue
        if is_participle(name):
            yield Finding("participle", path, line, name)
        if is_image(name):
            yield Finding("image", path, line, name)
    for line, text in docstrings(tree):
        first = text.split(maxsplit=1)[0]
        if first in {"What", *ALLOWED}:
            yield Finding(first, path, line, text.splitlines()[0])
    for line, name in sorted(set(identifiers(tree)), key=lambda found: (found[0], found[1])):
        if BRITISH.search(name.lower()):
            yield Finding("British", path, line, name)
    for line, text in enumerate(source.splitlines(), 1):
        if REFERENCE.search(text):
            yield Finding("reference", path, line, text.strip())


def check_script(path: str, source: str) -> Iterator[Finding]:
    """Findings of one TypeScript file: exported functions and classes named by a participle."""
    for match in EXPORTED.finditer(source):
        if is_participle(match[1]):
            yield Finding("TS participle", path, source.count("\n", 0, match.start(1)) + 1, match[1])


def findings(root: Path) -> Iterator[Finding]:
    """Findings of a checkout."""
    for file in sorted((root / "labdl").rglob("*.py")):
        yield from check_module(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    for pattern in ("*.ts", "*.tsx"):
        for file in sorted((root / "labextension" / "src").rglob(pattern)):
            yield from check_script(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))


def room(path: str) -> str:
    """Folder under which a file is counted; a file of the package itself counts alone."""
    parts = path.split("/")
    depth = 3 if parts[:2] in (["labdl", "train"], ["labextension", "src"]) and len(parts) > 3 else 2
    return "/".join(parts[:depth])


def print_table(found: list[Finding]) -> None:
    """Print one row a folder, one column a kind, and the total."""
    kinds = [*FORBIDDEN, *ALLOWED]
    counts = Counter((room(finding.path), finding.kind) for finding in found)
    rooms = sorted({room(finding.path) for finding in found})
    width = max(map(len, [*rooms, "total"]))
    print(" " * width, *(f"{kind:>13}" for kind in kinds))
    for name in rooms:
        print(f"{name:<{width}}", *(f"{counts[name, kind]:>13}" for kind in kinds))
    print(f"{'total':<{width}}", *(f"{sum(counts[name, kind] for name in rooms):>13}" for kind in kinds))


def main() -> int:
    """Run the command line; the exit status is 1 when `--check` finds a forbidden form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", help="folders or files of labdl to look at; all when omitted")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="checkout to read")
    parser.add_argument("--list", action="store_true", help="print every finding")
    parser.add_argument("--check", action="store_true", help="print forbidden forms alone and fail when there is one")
    options = parser.parse_args()
    beginnings = tuple(f"labdl/{name}" for name in options.rooms) or ("",)
    found = [finding for finding in findings(options.root) if finding.path.startswith(beginnings)]
    forbidden = [finding for finding in found if finding.kind in FORBIDDEN]
    if options.list or options.check:
        for finding in forbidden if options.check else found:
            print(f"{finding.path}:{finding.line}: {finding.kind}: {finding.text}")
    if not options.check:
        print_table(found)
    return 1 if options.check and forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
