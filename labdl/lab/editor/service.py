"""Answers to the editor's requests as plain functions, shared by the server's routes and the widgets."""

from __future__ import annotations

import dataclasses
import json
from pathlib import PurePosixPath
from typing import Any

from labdl import framework_info
from labdl.data import SOURCES
from labdl.errors import ConfigError, FileFormatError, LabDLError, ModelError
from labdl.graph.analysis.check import Problem
from labdl.graph.analysis.check import check as check_graph
from labdl.graph.analysis.cost import Cost, costs, total
from labdl.graph.analysis.fixes import Fix, fix_of
from labdl.graph.analysis.hints import hints
from labdl.graph.graph import Graph
from labdl.lab.editor import partial_graph
from labdl.lab.training.options import choices
from labdl.nn.schema import LAYERS, layer_schema, operator_schemas
from labdl.saving import structure


def layers() -> dict[str, Any]:
    """The palette, and how to draw the operators that a traced model may hold."""
    return {"layers": [*(layer_schema(cls) for cls in LAYERS.values()), *operator_schemas()]}


def check(graph: dict[str, Any]) -> dict[str, Any]:
    """Shapes, costs for one sample and problems of graph data, node by node, with their fixes."""
    try:
        given, faults = partial_graph.read(graph)
    except LabDLError as error:
        problem = {"node": None, "edge": None, "message": str(error), "fix": None}
        return {"nodes": {}, "parameters": 0, "operations": 0, "memory": 0, "problems": [problem]}
    result = check_graph(given, share_equal=True)
    found = costs(given, result)
    problems: dict[str | None, str] = {}
    for p in [*(fault for fault, _ in faults), *result.problems]:
        problems.setdefault(p.node, p.message)
    nodes = {
        node_id: {
            "outputs": {
                port: {"shape": list(s.shape), "dtype": s.dtype} for port, s in result.specs.get(node_id, {}).items()
            },
            **vars(found.get(node_id, Cost())),
            "problem": problems.get(node_id),
        }
        for node_id in given.nodes
    }
    listed = [_answer(problem, fix) for problem, fix in faults]
    listed += [_answer(p, fix_of(p, given, result) if at < FIXED else None) for at, p in enumerate(result.problems)]
    hinted = [_answer(Problem(hint.message, hint.node), hint.fix) for hint in hints(given, result)]
    return {"nodes": nodes, **dataclasses.asdict(total(found.values())), "problems": listed, "hints": hinted}


FIXED = 8  # problems for which fixes are computed: each takes a few milliseconds


def _answer(problem: Problem, fix: Fix | None) -> dict[str, Any]:
    change = None
    if fix is not None:
        values = dataclasses.asdict(fix).items()
        change = {k: v for k, v in values if v is not None or (k == "value" and fix.kind == "set")}
    return {"node": problem.node, "edge": problem.edge, "message": problem.message, "fix": change}


def code(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph as Python source. Raises ModelError."""
    return {"source": Graph.from_dict(graph).to_python()}


def drawing(graph: dict[str, Any]) -> dict[str, Any]:
    """The graph as an SVG image on a light background. Raises ModelError."""
    return {"svg": Graph.from_dict(graph).to_svg()}


def new_graph(name: str = "model") -> dict[str, Any]:
    """Graph of a new document, which has no layers."""
    return Graph({}, name=name).to_dict(tagged=True)


def decode(data: bytes, name: str) -> dict[str, Any]:
    """Graph data from the bytes of a structure file; "read_only" says why it must not be edited. Raises FileFormatError."""
    try:
        return structure.decode(data, name).to_dict(tagged=True)
    except structure.NewerFormatError as error:
        if error.graph is None:
            raise
        return error.graph.to_dict(tagged=True) | {"read_only": _newer(name, error.version)}


def read(data: bytes, name: str) -> structure.StructureFile:
    """The contents of a structure file, of a newer format as much as can be read. Raises FileFormatError."""
    try:
        return structure.read(data, name)
    except structure.NewerFormatError as error:
        if error.graph is None:
            raise
        return structure.StructureFile(error.graph, error.version, "")


def newer(data: bytes, name: str) -> str | None:
    """Why this version of LabDL must not overwrite a structure file; None if it may."""
    try:
        structure.read(data, name)
    except structure.NewerFormatError as error:
        return _newer(name, error.version)
    except FileFormatError:
        pass  # broken, or not a structure file: it may be replaced
    return None


def _newer(name: str, version: int) -> str:
    return (
        f"{name} was written by a newer version of LabDL (format {version}, this one reads up to {structure.VERSION}). "
        "Update labdl to edit it."
    )


def encode(graph: dict[str, Any]) -> bytes:
    """The bytes of a structure file from graph data; a name or setting that no file holds is as its fix would have it.

    Raises ModelError for data that is no graph.
    """
    if graph.get("read_only"):  # only a part of such a file is shown
        raise ModelError(str(graph["read_only"]))
    return structure.encode(partial_graph.read(graph)[0])


def sample_code(
    path: str, graph: dict[str, Any], backend: str | None = None, dataset: str | None = None
) -> dict[str, str]:
    """Python code that runs one sample through graph data with its document's parameters, and the backend.

    Raises ModelError for a graph with problems, ConfigError for an unknown backend or data set; every part of the request is
    checked before it becomes code.
    """
    given = Graph.from_dict(graph)
    if problems := check_graph(given).problems:
        where = given.nodes[problems[0].node].name if problems[0].node else given.name
        raise ModelError(f"a sample can only run through a model without problems; {where}: {problems[0].message}")
    if not given.inputs():
        raise ModelError(f"a sample needs an input: add an Input to {given.name!r}")
    if backend is None:
        offered = choices()
        backend = offered["defaults"]["backend"]
        if backend is None:
            raise ConfigError(f"no backend is installed. {' '.join(b['problem'] for b in offered['backends'])}")
    if backend not in framework_info.NAMES:
        raise ConfigError(f"backend wants one of {', '.join(framework_info.NAMES)}, received {backend!r}")
    if dataset is not None and dataset not in SOURCES:
        raise ConfigError(f"dataset wants one of {', '.join(SOURCES)}, received {dataset!r}")
    text = json.dumps({**dataclasses.replace(given, notes={}).to_dict(), "positions": {}})
    lines = [
        "import json",
        "",
        "from labdl.lab.editor.sample_run import run_sample",
        "",
        f"graph = json.loads({text!r})",
        f"run_sample(graph, backend={backend!r}, dataset={dataset!r}, parameters={PurePosixPath(path).stem + '.npz'!r})",
    ]
    return {"code": "\n".join(lines) + "\n", "backend": backend}
