"""`labdl runs` in a terminal: list, watch, show, export and control the runs of a folder."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from labdl.errors import ConfigError
from labdl.runs.listing.listing import Catalog, Listing, list_runs
from labdl.runs.reading.record import Record, open_run
from labdl.runs.terminal.tables import describe, sort_runs, table

_MOST = 30  # runs listed without --all
_LOOK, _ANSWER = 1.0, 5.0  # seconds between updates, and within which a run should answer
_VERBS = ("list", "show", "export", "tell")


def _html(record: Record, path: Path) -> Path:
    record.figure().write_html(str(path))
    return path


def _svg(record: Record, path: Path) -> Path:
    record.to_svg(path)
    return path


def _png(record: Record, path: Path) -> Path:
    record.to_png(path)
    return path


_FORMATS: dict[str, tuple[str, Callable[[Record, Path], Path]]] = {
    "csv": (".csv", Record.to_csv),
    "arrow": (".arrow", Record.to_arrow),
    "tensorboard": ("-tensorboard", Record.to_tensorboard),
    "svg": (".svg", _svg),
    "png": (".png", _png),
    "html": (".html", _html),
}


def listing_meant(arguments: Sequence[str]) -> list[str]:
    """Insert the verb ``list`` into arguments of the form `labdl runs FOLDER`."""
    words = list(arguments)
    if words[:1] == ["runs"] and (len(words) == 1 or words[1] not in (*_VERBS, "-h", "--help")):
        words.insert(1, "list")
    return words


def add(commands: argparse._SubParsersAction, leave: Callable[..., str]) -> None:
    """Add the parsers of `labdl runs` and its verbs; ``leave(folder, command, value)`` sends one, returns its identity."""
    runs = commands.add_parser(
        "runs",
        help="list, show, export and control trainings",
        description="Recorded trainings; without a verb they are listed.",
    )
    verbs = runs.add_subparsers(metavar="VERB", required=True)

    lists = verbs.add_parser("list", help="list the runs below a folder; this word may be left out")
    lists.add_argument("folder", nargs="?", type=Path, default=Path("."))
    lists.add_argument("--watch", action="store_true", help="update the list until Ctrl-C")
    lists.add_argument("--json", action="store_true", help="all runs as JSON")
    lists.add_argument("--sort", metavar="FIGURE", help="the best first, such as val_loss; or by seconds, step, epoch")
    lists.add_argument("--all", action="store_true", help=f"more than {_MOST} runs")
    lists.set_defaults(run=_list)

    show = verbs.add_parser("show", help="show one run with its epochs")
    show.add_argument("which", metavar="RUN", help="its folder, or the beginning of its name")
    show.set_defaults(run=_show)

    export = verbs.add_parser("export", help="export one run")
    export.add_argument("which", metavar="RUN")
    export.add_argument("--to", required=True, choices=list(_FORMATS))
    export.add_argument("-o", "--output", type=Path, metavar="OUT", help="what to write, by default named as the run")
    export.set_defaults(run=_export)

    tell = verbs.add_parser("tell", help="send a command to a running training")
    tell.add_argument("which", metavar="RUN")
    tell.add_argument(
        "command", help="pause, resume, stop, checkpoint, step, branch, learning_rate=0.001 or add_epochs=5"
    )
    tell.set_defaults(run=_send, leave=leave)


def _list(options) -> int:
    catalog = Catalog(options.folder)
    if options.watch:
        if options.json or not sys.stdout.isatty():
            raise ConfigError("--watch is for people at a terminal: leave it out here")
        return _watch(catalog, options)
    listing = Listing(catalog.folder, catalog.look(budget=None), catalog.truncation)
    if options.sort:
        listing = sort_runs(listing, options.sort)
    if options.json:
        print(orjson.dumps([dataclasses.asdict(run) for run in listing]).decode())
    else:
        print(table(listing, most=None if options.all else _MOST))
    return 0


def _watch(catalog: Catalog, options) -> int:
    import shutil

    height = 0
    try:
        while True:
            listing = Listing(catalog.folder, catalog.look(), catalog.truncation)
            if options.sort and len(listing):
                listing = sort_runs(listing, options.sort)
            room = max(1, shutil.get_terminal_size().lines - 4)
            lines = table(listing, most=room if options.all else min(room, _MOST)).splitlines()
            # move up to the first line of the last output and clear from there
            sys.stdout.write(f"\x1b[{height}A\x1b[J" * bool(height) + "".join(f"{line}\n" for line in lines))
            sys.stdout.flush()
            height = len(lines)
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        return 0


def _show(options) -> int:
    print(describe(_find(options.which)))
    return 0


def _export(options) -> int:
    record = _find(options.which)
    suffix, write = _FORMATS[options.to]
    print(f"wrote {write(record, options.output or Path(record.id + suffix))}")
    return 0


def _send(options) -> int:
    record = _find(options.which)
    if not record.alive:
        raise ConfigError(f"{record.id} is {record.status}: it takes no commands")
    command, given, value = options.command.partition("=")
    identity = options.leave(record.folder, command, _number(value) if given else None)
    until = time.monotonic() + _ANSWER
    while time.monotonic() < until:
        answers = [event for event in record.refresh().events("command") if event.get("id") == identity]
        if answers:
            print(f"{command}: {answers[0].get('status')} after step {answers[0].get('step')}")
            return _report_refusal(answers[0])
        time.sleep(0.1)
    print(f"{command}: the run has not answered yet and will carry it out")
    return 0


def _report_refusal(answer: dict) -> int:
    if answer.get("status") != "refused":
        return 0
    print(f"labdl: {answer.get('message')}", file=sys.stderr)
    return 1


def _number(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _find(which: str) -> Record:
    """A run by its folder, or by the beginning of its name below this one."""
    if (Path(which) / "events.jsonl").is_file() or Path(which).name == "events.jsonl":
        return open_run(which)
    runs = list_runs(".")
    found = [run for run in runs if which in (run.id, run.path, run.name)] or [
        run for run in runs if run.id.startswith(which)
    ]
    if len(found) == 1:
        return open_run(runs.folder / found[0].path)
    if not found:
        raise ConfigError(f"there is no run {which!r} here: give its folder; `labdl runs` lists those below this one")
    raise ConfigError(f"{which!r} is the beginning of several runs: {', '.join(run.path for run in found[:5])}")
