"""Command line: inspect, convert and export model files, and follow runs."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import labdl
from labdl import framework_info
from labdl.bounded.files import open_file
from labdl.doctor import command as doctor
from labdl.errors import ConfigError, LabDLError, message_of
from labdl.graph import Graph, diff, trace
from labdl.graph.analysis.check import check
from labdl.graph.analysis.cost import Cost, costs, total
from labdl.nn import build
from labdl.runs import control
from labdl.runs.terminal import commands as runs
from labdl.saving import load, open_structure, paths
from labdl.saving.export import export
from labdl.saving.parameters import ParameterFile
from labdl.translation import asked_language, translate

_FRAMEWORKS = framework_info.TRAINING


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 on success, 1 on an error, which is printed, and 2 for wrong usage.

    As for other commands it is 130 after Ctrl-C, and 141 when the reader of the output has ended.
    """
    _open_closed_streams()
    options = _parser().parse_args(runs.listing_meant(sys.argv[1:] if arguments is None else arguments))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            status = options.run(options)
        for note in caught:
            if note.category is UserWarning:
                print(f"labdl: {translate(str(note.message), asked_language())}", file=sys.stderr)
        sys.stdout.flush()  # a pipe that is closed raises here, not when Python exits
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to write has no reader
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:  # any error is printed as a message
        print(f"labdl: {_message(error)}", file=sys.stderr)
        return 1


def _open_closed_streams() -> None:
    """Discard what is printed to a stream that the shell has closed, as by ``>&-``; Python has None for it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (until the process ends)


def _message(error: Exception) -> str:
    text = translate(" ".join(message_of(error).split()), asked_language())
    return text if isinstance(error, LabDLError | OSError) else f"{type(error).__name__}: {text}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="labdl", description="Inspect, convert and export model files, train, and follow training runs."
    )
    parser.add_argument("--version", action="version", version=f"labdl {labdl.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    check = commands.add_parser("check", help="print the contents of a file and verify it")
    check.add_argument("file", type=Path, help="a structure (.labdl) or parameters (.npz)")
    check.set_defaults(run=_check)

    differ = commands.add_parser("diff", help="print the differences of two models")
    differ.add_argument("old", type=Path, help="a structure (.labdl), or the name of a zoo model")
    differ.add_argument("new", type=Path)
    differ.add_argument("--exit-code", action="store_true", help="the exit status is 1 where they differ")
    differ.set_defaults(run=_diff)

    listing = commands.add_parser("models", help="list the models of the zoo")
    listing.add_argument("--task", help='only models of this task, such as "image classification"')
    listing.set_defaults(run=_models)

    exports = commands.add_parser("export", help="export a saved model")
    exports.add_argument("file", type=Path, help="a saved model (.labdl with its .npz) or an ONNX file")
    exports.add_argument(
        "--to",
        required=True,
        choices=["onnx", *_FRAMEWORKS, "json", "svg"],
        help="onnx, the graph as json or svg, or source code for one framework",
    )
    exports.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="output file; with the suffix of a checkpoint only the weights are written",
    )
    exports.add_argument(
        "--style",
        choices=["modules", "flat"],
        default="modules",
        help="source code with the framework's own layers (the default), or with calls of functions only",
    )
    exports.set_defaults(run=_export)

    convert = commands.add_parser("convert", help="convert a checkpoint of one framework to another")
    convert.add_argument("checkpoint", type=Path)
    convert.add_argument(
        "--from", dest="source", choices=_FRAMEWORKS, help="framework of the checkpoint, if the file does not tell"
    )
    convert.add_argument("--to", required=True, choices=_FRAMEWORKS)
    convert.add_argument("--model", required=True, type=Path, metavar="FILE.labdl", help="structure of the model")
    convert.add_argument("-o", "--output", type=Path, metavar="OUT", help="output file")
    convert.add_argument("--prefix", default="", help="take the names that begin with this, such as ema. or model.")
    convert.set_defaults(run=_convert)

    conformance = commands.add_parser("conformance", help="run the conformance checks of T/AII 008-2023")
    conformance.add_argument("--backend", choices=_FRAMEWORKS, help="framework to check (default: the default backend)")
    conformance.add_argument("--clause", default="", metavar="START", help="only clauses with this prefix, such as B.4")
    conformance.add_argument("--json", action="store_true", help="print the table as JSON")
    conformance.add_argument("--strict", action="store_true", help="count missing features as failures")
    conformance.set_defaults(run=_conformance)

    _add_training(commands)
    runs.add(commands, control.append)
    doctor.add(commands)
    return parser


def _add_training(commands: argparse._SubParsersAction) -> None:
    train = commands.add_parser(
        "train",
        help="train a model with the settings of a file",
        description="Train a model with the settings of a file: those of labdl.Trainer, and model, the name of a zoo model, "
        "{name: ..., classes: 10} or a .labdl file. The run is recorded in its folder, with the parameters as model.npz. The "
        "exit status is 0 where the training ended, 1 after an error, 2 for wrong usage and 130 after Ctrl-C, which ends it "
        "after its step.",
    )
    train.add_argument("config", type=Path, help="settings (.yaml, .yml or .json)")
    train.add_argument(
        "--set",
        dest="changes",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a setting, such as epochs=5 or optimizer.learning_rate=0.01; may be repeated",
    )
    train.add_argument("--folder", type=Path, help="the folder of the run (default: output_dir, or a new one in runs)")
    train.add_argument("--resume", action="store_true", help="go on from the latest checkpoint, if there is one")
    train.add_argument("--no-progress", dest="progress", action="store_false", help="do not show the progress")
    train.set_defaults(run=_train)


def _train(options) -> int:
    from labdl.tasks.command import run  # imported lazily: the other commands need no training

    return run(options)


# -- check


def _check(options) -> int:
    with open_file(options.file) as file:
        head = file.read(4)
    if head == b"PK\3\4" or options.file.suffix == ".npz":
        return _check_parameters(options.file)
    return _check_structure(options.file)


def _check_parameters(path: Path) -> int:
    with ParameterFile(path) as file:
        wide = max(map(len, file), default=0)
        for name, entry in file.entries.items():
            print(f"  {name:{wide}}  {entry.dtype!s:8} {_shape(entry.shape)}")
        file.verify()
        values = sum(e.nbytes // e.dtype.itemsize for e in file.entries.values())
        print(f"{path.name}: {len(file):,} arrays, {values:,} values, {path.stat().st_size:,} bytes, whole")
    structure = paths(path)[0]
    return _check_pair(structure, path) if structure.exists() else 0


def _check_structure(path: Path) -> int:
    opened = open_structure(path)
    graph = opened.graph
    found, problems = graph.check()
    kinds = sorted(
        {n.type if n.type.isprintable() else repr(n.type) for n in graph.nodes.values() if n.type != "Input"}
    )
    print(f"{path.name}: a structure of format {opened.version}, whole")
    print(f"  model {graph.name!r}: {len(graph.nodes):,} nodes, {len(graph.edges):,} connections")
    if kinds:
        print(f"  of {', '.join(kinds)}")
    for word, ids in (("input ", graph.inputs()), ("output", graph.outputs())):
        for node_id in ids:
            for spec in list(found.get(node_id, {}).values())[:1]:
                print(f"  {word} {graph.nodes[node_id].name}: {_shape(spec.shape)} {spec.dtype}")
    for problem in problems:
        where = f"{graph.nodes[problem.node].name}: " if problem.node else ""
        print(f"labdl: {path.name}: {where}{problem.message}", file=sys.stderr)
    if problems:
        return 1
    print(f"  {_count(graph):,} parameters")
    weights = paths(path)[1]
    if not weights.exists():
        print(f"  no parameters beside it ({weights.name})")
        return 0
    return _check_pair(path, weights)


def _count(graph: Graph) -> int:
    model = graph.to_module()
    build.apply_ties(model)
    return model.count_parameters()


def _check_pair(structure: Path, weights: Path) -> int:
    """Check that structure and parameters match, by loading them."""
    load(structure, backend="numpy")
    print(f"{structure.name} and {weights.name} fit together")
    return 0


def _shape(shape: tuple[int | None, ...]) -> str:
    return "one number" if shape == () else " × ".join("any" if n is None else str(n) for n in shape)


# -- comparison of models


def _diff(options) -> int:
    old, new = map(_read_graph, (options.old, options.new))
    found = diff(old, new)
    print(found)
    for word, figures in (
        ("parameters", [_total(g).parameters for g in (old, new)]),
        ("operations", [_total(g).operations for g in (old, new)]),
    ):
        if figures[0] != figures[1]:
            print(f"{word}: {figures[0]:,} -> {figures[1]:,}")
    return 1 if found and options.exit_code else 0


def _read_graph(path: Path) -> Graph:
    from labdl.models import zoo  # imported lazily: it imports all models

    name = str(path)
    return trace(zoo.create(name), name=name) if name in zoo.ZOO and not path.exists() else open_structure(path).graph


def _total(graph: Graph) -> Cost:
    return total(costs(graph, check(graph)).values())


def _models(options) -> int:
    from labdl.models import list_models, zoo

    for name in list_models(options.task):
        print(f"{name:20}  {zoo.ZOO[name].parameters:>13,}  {zoo.ZOO[name].summary}")
    return 0


# -- export and convert


def _export(options) -> int:
    if not options.file.name:
        raise ConfigError(
            f"export wants a saved model, received the folder {str(options.file)!r}: give its .labdl file"
        )
    stem = options.file.with_suffix("")
    wanted = None if options.to in _FRAMEWORKS else f".{options.to}"
    beside = f"{stem.name}{wanted or f'_{options.to}.py'}"
    target = options.to if options.to in _FRAMEWORKS else None
    out = options.output or stem.with_name(beside)
    if wanted and out.suffix != wanted:
        raise ConfigError(f"{out.name} does not have the suffix of {options.to}: give it the suffix {wanted}")
    print(f"wrote {export(options.file, out, target=target, style=options.style)}")
    return 0


def _convert(options) -> int:
    from labdl.saving.native.checkpoints import convert_checkpoint

    out = options.output or options.checkpoint.with_name(
        options.checkpoint.name.split(".")[0] + framework_info.FACTS[options.to].checkpoint_suffix
    )
    model = load(options.model, backend="numpy", parameters=False)
    target = convert_checkpoint(
        model, options.checkpoint, out, framework=options.source, to=options.to, prefix=options.prefix
    )
    print(f"wrote {target}")
    return 0


# -- conformance


def _conformance(options) -> int:
    from labdl import conformance, dispatch  # imported lazily: it imports all models

    if options.backend:
        dispatch.use(options.backend)
    rows = [row for row in conformance.ROWS if row.clause.startswith(options.clause)]
    if not rows:
        raise ConfigError(f"no clause of the table starts with {options.clause!r}")
    results = []
    for result in conformance.run(rows):
        results.append(result)
        if not options.json:
            print(conformance.lines(result), flush=True)
    print(conformance.as_json(results) if options.json else conformance.summary(results))
    counts = conformance.count_by_status(results)
    return 1 if counts["failed"] or (options.strict and counts["missing"]) else 0


if __name__ == "__main__":
    sys.exit(main())
