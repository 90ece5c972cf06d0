"""Write the tables of docs/coming-from-*.md: each class of a framework, what it is in LabDL, and what differs.

They are read from `labdl.interop.names`. `python scripts/name_tables.py [folder]`.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from labdl import nn
from labdl.errors import ConfigError
from labdl.interop import names
from labdl.interop.names import Reading
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, Entry, parse_signature
from labdl.nn.foreign import create

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- names: begin -->\n", "<!-- names: end -->\n"
MANY = 8  # classes
PAGES = {
    "torch": "coming-from-pytorch.md",
    "tensorflow": "coming-from-keras.md",
    "paddle": "coming-from-paddlepaddle.md",
    "mindspore": "coming-from-mindspore.md",
}


def only_defaults(entry: Entry) -> list[str]:
    """Arguments of which only the default is accepted."""
    parameters = parse_signature(entry.signature).parameters
    return [name for name in parameters if entry.rule(name) == DEFAULT_ONLY]


def common_defaults(framework: str) -> list[str]:
    """Those of many classes, which are told once."""
    found = Counter(name for entry in names.classes(framework).values() for name in only_defaults(entry))
    return sorted(name for name, count in found.items() if count >= MANY)


def arguments(entry: Entry, common: list[str]) -> str:
    """What becomes of the arguments whose names or values differ."""
    parameters = parse_signature(entry.signature).parameters
    told: list[str] = []
    only = [name for name in only_defaults(entry) if name not in common]
    for given, rule in entry.rules.items():
        each = [name for name in given.split() if name in parameters]
        theirs = ", ".join(f"`{name}`" for name in each)
        if not each or rule in (IGNORED, DEFAULT_ONLY):
            continue
        if callable(rule):
            doc = " ".join((rule.__doc__ or "").split())
            doc = doc if doc.startswith("None") else doc[:1].lower() + doc[1:]
            told += [f"{theirs}: {doc}"] if doc else []
        elif rule != given:
            told.append(f"{theirs}: `{rule}`")
    told += [f"{' '.join((check.__doc__ or '').split())}" for check in entry.checks.values()]
    told += [f"`{name}={value!r}` of LabDL" for name, value in entry.fixed.items()]
    return "; ".join([*told, *([f"only the default of {', '.join(f'`{name}`' for name in only)}"] if only else [])])


def rows(framework: str) -> Iterator[str]:
    """Classes with the same meaning, those of one entry in one row."""
    groups: dict[tuple[str, str], list[str]] = {}
    common = common_defaults(framework)
    for name, entry in sorted(names.classes(framework).items()):
        if entry.equal:
            told = arguments(entry, common)
            ours, *rest = [f"`nn.{entry.ours}`", told, entry.note] if entry.ours else [entry.note, told]
            cells = ours, ". ".join(filter(None, rest))
            groups.setdefault(cells, []).append(name)
    for name, entry in names.functions(framework).items():
        modules = [module.removeprefix("torch.nn.") for module in names.FRAMEWORKS[framework].function_modules]
        groups[f"`nn.{entry.ours}`", arguments(entry, common)] = [f"{module}.{name}" for module in modules]
    for (ours, told), each in groups.items():
        yield f"| {', '.join(f'`{name}`' for name in each)} | {ours} | {told} |"


def listed(framework: str, missing: bool) -> Iterator[str]:
    """Classes that differ, or those that LabDL has no layer for, with one reason in one row."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, entry in sorted(names.classes(framework).items()):
        if not entry.equal and (not entry.ours) == missing:
            groups.setdefault((entry.ours, entry.difference), []).append(name)
    for (ours, sentence), each in groups.items():
        theirs = ", ".join(f"`{name}`" for name in each)
        yield f"| {theirs} | {sentence} |" if missing else f"| {theirs} | `nn.{ours}` | {sentence} |"


def probes(entry: Entry) -> Iterator[tuple[tuple, dict]]:
    """Calls that several classes of one name may take: some numbers by place, and a default by name."""
    defaults = [(p.name, p.default) for p in parse_signature(entry.signature).parameters.values()]
    named = [{name: value} for name, value in defaults if type(value) in (int, float)]
    for kwargs in ({}, *named):
        for args in ((2,), (0.75,), (), (2, 2), (2, 2, 2)):
            yield args, kwargs


def other_meaning(reading: Reading) -> tuple[str, str, str] | None:
    """A call that `labdl.nn` reads otherwise than the framework, without an error: the call, what it is there and in LabDL."""
    for args, kwargs in probes(reading.entry):
        try:
            theirs = create(reading, args, kwargs)
            ours = getattr(nn, reading.name)(*args, **kwargs)
        except (ConfigError, AttributeError):
            continue
        if type(theirs) is type(ours) and repr(theirs) != repr(ours):
            call = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
            return f"nn.{reading.name}({call})", f"nn.{theirs}", f"nn.{ours}"
    return None


def silent(framework: str) -> Iterator[str]:
    """Classes whose name LabDL reads as its own or as PyTorch's, with the first call of each that means something else."""
    for name, entry in sorted(names.classes(framework).items()):
        found = other_meaning(Reading(framework, name, entry)) if entry.equal and entry.ours in nn.LAYERS else None
        if found:
            yield "| " + " | ".join(f"`{text}`" for text in found) + " |"


def silent_table(framework: str) -> list[str]:
    title = names.FRAMEWORKS[framework].title
    found = list(silent(framework))
    if not found:
        return []
    return [
        "## Same name, other meaning",
        "",
        "LabDL reads these calls as its own, or as PyTorch's, without an error: write the settings of the second column.",
        "",
        f"| call | in {title} it is | LabDL creates |",
        "|---|---|---|",
        *found,
        "",
    ]


def tables(framework: str) -> str:
    title = names.FRAMEWORKS[framework].title
    lines = [
        *silent_table(framework),
        "## Equal",
        "",
        "With the same arguments they compute the same; a test compares each with the framework's own class. The last column",
        "says what the arguments of other names are called in LabDL, and of which only the default is accepted; that is so",
        f"everywhere for {', '.join(f'`{name}`' for name in common_defaults(framework))}.",
        "",
        f"| {title} | LabDL | arguments |",
        "|---|---|---|",
        *rows(framework),
        "",
        "## Different",
        "",
        "A name that LabDL does not have itself raises an error that says the same.",
        "",
        f"| {title} | LabDL | difference |",
        "|---|---|---|",
        *listed(framework, missing=False),
        "",
        "## Without a layer",
        "",
        f"| {title} | reason, or what to use |",
        "|---|---|",
        *listed(framework, missing=True),
    ]
    return "\n".join(lines) + "\n"


def fill(text: str, framework: str) -> str:
    """The page with the tables of today."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{tables(framework)}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    for framework, page in PAGES.items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        (folder / page).write_text(fill(text, framework), encoding="utf-8")
