"""A module whose forward evaluates the nodes of a file; tracing it gives a graph."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections import ChainMap, Counter
from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.errors import FileFormatError
from labdl.nn.embedding import Embedding
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.ops.operator import OPERATORS
from labdl.saving.onnx.importer import functions
from labdl.saving.onnx.importer.dynamic_shapes import SIZING, as_tensor
from labdl.saving.onnx.importer.file import File, Node, Subgraph
from labdl.saving.onnx.importer.known_values import KnownValue, array_of, leaves, map_values, spec_of
from labdl.saving.onnx.importer.registry import reader_of
from labdl.saving.onnx.importer.versions import unknown_version
from labdl.spec import Spec, dtype_name, show

_WRITTEN = 65_536  # largest constant stored in the graph itself
_PLAIN = ("float32", "float64", "int32", "int64", "bool")  # dtypes of such constants
_SPENT = 2**25  # elements that an import may compute, besides twice the size of the file
_UNROLLED = 20_000  # nodes of functions and of the steps of loops
_FAILURES = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    MemoryError,
    ZeroDivisionError,
    NotImplementedError,
    RecursionError,
)


class Program(Module):
    """A module that computes the nodes of a file one after the other.

    A trace names operators itself: layers avoid the names in ``taken``, also with number suffixes.
    """

    def __init__(self, file: File, taken: Iterable[str] = ()):
        self.file = file
        self.taken = re.compile(rf"({'|'.join([*taken, 'input', 'output', 'constant'])})(_[0-9]+)?")
        self.called: set[str] = {*SIZING}  # names of operators called
        self.values: dict[str, np.ndarray] = {}  # of parameters, in the axis order of the operators
        self.made: dict[Any, str] = {}  # paths of the layers and weights created so far
        self.placed = 0  # elements of these
        self.nodes = 0  # of functions that were computed
        self.numbers: Counter[str] = Counter()  # the last number of each path that several have

    @property
    def clashes(self) -> bool:
        """True when a trace may give an operator the name of a layer."""
        named = re.compile(rf"({'|'.join(self.called)})(_[0-9]+)?")
        return any(named.fullmatch(path) for path in self.made.values())

    def forward(self, *inputs):
        return Run(self, dict(zip(self.file.inputs, inputs, strict=True))).results()


class Run:
    """One pass through the nodes; creates layers, weights and operators for the readers."""

    def __init__(self, program: Program, inputs: dict[str, Any]):
        self.program, self.file = program, program.file
        self.found: MutableMapping[str, Any] = dict(inputs)
        self.found.update({name: self.initial_value(array, name) for name, array in self.file.weights.items()})
        self.found.update({name: KnownValue(array) for name, array in self.file.constants.items()})
        self.uses = Counter(name for node in self.file.nodes for name in node.inputs if name)
        self.uses += Counter(self.file.outputs)
        self.uses += Counter(name for node in self.file.nodes for name in node.outer_names)
        self.readers = {name: node for node in self.file.nodes for name in node.inputs if name}
        self.spent = 0
        self.depth = self.expanded = 0  # functions that are being computed, and that were
        self.sources: dict[str, Node] = {}  # of values inside of functions
        self.tables = _tied_tables(self.file)

    # -- the nodes

    @staticmethod
    def initial_value(array: np.ndarray, name: str) -> KnownValue:
        """The value of an initializer: a weight, if training would change it."""
        learned = array.dtype.kind == "f" or dtype_name(array.dtype) == "bfloat16"
        return KnownValue(array, name if learned and array.ndim else "")

    def results(self):
        for node in self.file.nodes:
            if not all(name in self.found for name in filter(None, node.outputs)):
                self.compute(node)
        for name in self.file.outputs:
            if name not in self.found:
                raise FileFormatError(f"{self.file.name} has the output {name!r}, which no node computes")
        values = [self.found[name] for name in self.file.outputs]
        values = [self._constant_output(v) if isinstance(v, KnownValue) else v for v in values]
        return values[0] if len(values) == 1 else tuple(values)

    def _constant_output(self, value: KnownValue):
        """A tensor of the model with the values of an output that does not depend on its inputs."""
        if not self.file.inputs or value.open:
            raise FileFormatError(f"{self.file.name} has an output that does not depend on its inputs")
        kind = Parameter if value.weight else Buffer
        path = self._parameter(value, kind)
        return ops.logical_and(path, path) if value.dtype == "bool" else ops.positive(path)

    def compute(self, node: Node) -> None:
        fault = unknown_version(*node.operator, node.opset)
        if fault:
            raise FileFormatError(f"{self.file.name} cannot be read: {node} {fault}")
        unknown = next((name for name in node.inputs if name and name not in self.found), None)
        if unknown is not None:
            raise FileFormatError(f"{self.file.name} uses {unknown!r} in {node} before it is computed")
        inputs = [self._input(node, at, name) for at, name in enumerate(node.inputs)]
        try:
            self._read(node, inputs)
        except FileFormatError as refusal:
            if not self._compute_definition(node, inputs, refusal):
                raise

    def _read(self, node: Node, inputs: list[Any]) -> None:
        """Compute a node by the reader of its operator."""
        read = reader_of(node.kind)
        if read is None:
            raise FileFormatError(
                f"{self.file.name} uses the operator {node.kind}, which LabDL does not support ({node})"
            )
        try:
            results = read(self, node, *inputs)
        except FileFormatError:
            raise
        except _FAILURES as error:
            raise FileFormatError(f"{self.file.name} does not fit together: {node}: {error}") from error
        results = results if isinstance(results, list | tuple) else [results]
        if any(self.uses[n] or self.depth for n in node.outputs[len(results) :] if n):
            raise FileFormatError(f"{self.file.name} uses a second output of {node}, which LabDL does not support")
        for at, (name, value) in enumerate(zip(node.outputs, results, strict=False)):
            if name:  # without one, nothing can use it
                self.found[name] = _with_origin(value, node, inputs, at)

    def _compute_definition(self, node: Node, inputs: list[Any], refusal: FileFormatError) -> bool:
        """Compute a node by the operators that define its own; false if it is not defined so."""
        functions.check_depth(self.depth, node)
        try:
            nodes = functions.definition(node, self.file.functions, inputs, self.expanded + 1)
        except _FAILURES:  # attributes or inputs that the operator does not have
            return False
        if nodes is None:
            return False
        self.expanded += 1
        self.count_nodes(len(nodes))
        self.depth += 1
        self.sources |= {out: inner for inner in nodes for out in inner.outputs if out}
        try:
            for inner in nodes:
                self.compute(inner)
        except FileFormatError as error:
            own = str(refusal).removeprefix(f"{self.file.name} ")
            reason = str(error).removeprefix(f"{self.file.name} ")
            raise FileFormatError(f"{self.file.name} {own}; its definition {reason}") from error
        finally:
            self.depth -= 1
        return True

    def _input(self, node: Node, at: int, name: str):
        """The value of an input; of a table of embeddings that other nodes use too, the parameter of its layer."""
        if not name:
            return None
        value = self.found[name]
        if name not in self.tables or _looks_up(node, at):
            return value
        table: Any = self.program._modules[self.embedding(value)]
        return table.embeddings

    # -- for readers

    def embedding(self, table: KnownValue) -> str:
        """The path of the layer of a table, which is made when it is first needed."""
        key, name = ("Gather", table.key), table.weight.removesuffix(":0")
        path = self.program.made.get(key)
        if path is None:
            self._place(table.array)
            name = name.rpartition("/" if "/" in name else ".")[0]
            path = self.program.made[key] = self.free(name or "embedding")
            setattr(self.program, path, Embedding(table.shape[0], table.shape[1]))
            self.program.values[f"{path}/embeddings:0"] = table.array
        return path

    def refuse(self, node: Node, what: str) -> FileFormatError:
        return FileFormatError(f"{self.file.name} cannot be read: {node} {what}")

    def needs(self, node: Node, value, what: str) -> FileFormatError:
        """The refusal of a value that LabDL needs at import and that the model computes; it names the inputs to give."""
        name = next((n for n in node.inputs if n and self.found.get(n) is value), "")
        inputs = self.inputs_behind(name)
        advice = "its sizes follow from those of the inputs"
        if inputs:
            arguments = ", ".join(f"{n!r}: ..." for n in inputs)
            advice = f"it follows from inputs, so give their values: labdl.load(path, constants={{{arguments}}})"
        return self.refuse(node, f"computes its {what} at run time, and LabDL needs them at import; {advice}")

    def inputs_behind(self, name: str) -> list[str]:
        """The inputs of the file whose values another value is computed from, but not only from their sizes."""
        sources = {out: n for n in self.file.nodes for out in n.outputs if out}
        sources |= self.sources
        behind, waiting, visited = [], [name], set()
        while waiting:
            word = waiting.pop()
            if word in visited or not word:
                continue
            visited.add(word)
            if word in self.file.inputs:
                behind.append(word)
            elif word in sources and sources[word].kind not in ("Shape", "Size"):
                waiting += sources[word].inputs
        return [n for n in self.file.inputs if n in behind]

    def follower(self, node: Node, kind: str) -> Node | None:
        """The only consumer of a node's result, if it is of that kind."""
        name = node.outputs[0]
        reader = None if self.depth else self.readers.get(name)  # inside of functions uses are not counted
        return reader if reader is not None and self.uses[name] == 1 and reader.kind == kind else None

    def subgraph(self, graph: Subgraph, inputs: Sequence[Any], node: Node) -> list[Any]:
        """The outputs of a branch, or of the body of a loop for one step."""
        functions.check_depth(self.depth, node)
        self.count_nodes(len(graph.nodes))
        outside = self.found
        self.found = ChainMap(dict(zip(graph.inputs, inputs, strict=True)), outside)  # type: ignore[arg-type]
        self.found.update({name: self.initial_value(array, name) for name, array in graph.weights.items()})
        self.depth += 1
        try:
            for inner in graph.nodes:
                self.compute(inner)
            missing = next((name for name in graph.outputs if name not in self.found), None)
            if missing is not None:
                raise self.refuse(node, f"has the output {missing!r}, which no node computes")
            return [self.found[name] for name in graph.outputs]
        finally:
            self.depth -= 1
            self.found = outside

    def count_nodes(self, count: int) -> None:
        """Reject files whose functions and loops are far longer than they are."""
        self.program.nodes += count
        if self.program.nodes > _UNROLLED:
            raise FileFormatError(f"{self.file.name} has functions and loops of more than {_UNROLLED:,} nodes")

    def tensor(self, value):
        """Convert a known value for the trace: to a weight, a constant, or a buffer if it is large."""
        if not isinstance(value, KnownValue):
            return value
        array = value.array
        if value.open:
            return as_tensor(array)
        if value.weight:
            return self._parameter(value, Parameter)
        if array.size <= _WRITTEN and value.dtype in _PLAIN:
            return array
        return self._parameter(value, Buffer)

    def _parameter(self, value: KnownValue, kind: type[Parameter]):
        path = self.program.made.get(value.key)
        if path is None:
            self._place(value.array)
            path = self.program.made[value.key] = self.free(value.weight or "constant", leaf=True)
            setattr(self.program, path, kind(value.shape, dtype=value.dtype))
            self.program.values[f"{path}:0"] = value.array
        return self.program.__dict__[path]

    def _place(self, *arrays: np.ndarray) -> None:
        """Reject files of which many layers have a copy of one large constant."""
        self.program.placed += sum(array.size for array in arrays)
        if self.program.placed > _SPENT + 2 * self.file.size:
            raise FileFormatError(
                f"{self.file.name} has weights in so many layers that they are far larger than the file"
            )

    def free(self, name: str, leaf: bool = False) -> str:
        """An unused path for a layer or a weight of the file."""
        words = [re.sub(r"\W", "_", w, flags=re.ASCII) for w in re.split(r"[./]|::", name.removesuffix(":0")) if w]
        path = base = "/".join(words) or "layer"
        stem = f"{base.replace('/', '_')}_weight" if leaf else f"{base}_layer"
        while hasattr(self.program, path) or self.program.taken.fullmatch(path) or (leaf and self._beside(path)):
            self.program.numbers[stem] += 1
            path = f"{stem}{self.program.numbers[stem]}"
        return path

    def _beside(self, path: str) -> bool:
        """True when a weight would be placed among the parameters of a layer."""
        return path.rpartition("/")[0] in self.program._modules

    def layer(self, key, name: str, make, values: dict[str, np.ndarray], *inputs, **options):
        """Call a layer, created on first use by ``make``; ``values`` are its parameters."""
        path = self.program.made.get(key)
        if path is None:
            self._place(*values.values())
            path = self.program.made[key] = self.free(name)
            setattr(self.program, path, make())
            self.program.values.update({f"{path}/{word}:0": array for word, array in values.items()})
        return self.program._modules[path](*map(self.tensor, inputs), **{k: self.tensor(v) for k, v in options.items()})

    def call(self, name: str, *args, **options):
        """Call an operator: recorded for tensors, computed now for known values."""
        entry = OPERATORS[name]
        arguments = [v for v in leaves([*args, *options.values()]) if v is not None]
        tensors = [v for v in arguments if isinstance(v, Spec | Parameter)]
        if not tensors and not any(isinstance(v, KnownValue) and v.open for v in arguments):
            return self._compute_now(entry, args, options)
        self.program.called.add(name)
        promoting = getattr(entry.rule, "promotes", False)
        dtypes = {t.dtype for t in tensors}

        def plain(value):
            if (
                promoting
                and isinstance(value, KnownValue)
                and not (value.weight or value.open)
                and value.ndim == 0
                and value.dtype in dtypes
            ):
                number = value.array.item()  # the other operand determines the dtype
                # TensorFlow keeps tensors of Python's numbers, and takes the one of 0.0 for -0.0 or the reverse
                return value.array if number == 0 and np.signbit(number) else number
            return self.tensor(value)

        return getattr(ops, name)(*map_values(args, plain), **{k: map_values(v, plain) for k, v in options.items()})

    def _compute_now(self, entry, args, options):
        specs = entry.infer(map_values(args, spec_of), {k: map_values(v, spec_of) for k, v in options.items()})
        self.spend(*(s.shape for s in (specs if isinstance(specs, list | tuple) else [specs])))
        origin = next(
            (v.weight for v in leaves([*args, *options.values()]) if isinstance(v, KnownValue) and v.weight), ""
        )
        found = dispatch.load("numpy").implementation(entry)(
            *map_values(args, array_of), **{k: map_values(v, array_of) for k, v in options.items()}
        )
        learned = origin and f"{origin}/{entry.name}"
        return map_values(found, lambda a: KnownValue(a, learned if a.dtype.kind == "f" and a.ndim else ""))

    def spend(self, *shapes) -> None:
        """Reject small files that ask for much memory."""
        for shape in shapes:
            self.spent += math.prod(abs(n or 1) for n in shape)
            if self.spent > _SPENT + self.file.size // 2:
                raise FileFormatError(
                    f"{self.file.name} computes constants far larger than the file, the last one of shape {show(shape)}"
                )


def _looks_up(node: Node, at: int) -> bool:
    """Whether a node uses an input as a table of embeddings."""
    return (node.kind, at, node.attributes.get("axis", 0)) == ("Gather", 0, 0)


def _tied_tables(file: File) -> set[str]:
    """Weights that are a table of embeddings and something else, such as the kernel of the last layer of a language model."""
    tables = {
        name
        for name, array in file.weights.items()
        if array.ndim == 2 and array.dtype == np.float32 and min(array.shape) > 0
    }
    lookups, others = set(), set()
    for node in file.nodes:
        for at, name in enumerate(node.inputs):
            if name in tables:
                (lookups if _looks_up(node, at) else others).add(name)
    return lookups & others


def _with_origin(value, node: Node, inputs: list[Any], at: int):
    """A computed weight with its origin: the node's operator and attributes, and the values that it was computed from."""
    if not isinstance(value, KnownValue) or not value.weight or any(value is other for other in inputs):
        return value
    attributes = sorted((k, str(v)) for k, v in node.attributes.items())
    sources = [v.key if isinstance(v, KnownValue) and not v.open else None for v in inputs]
    words = repr((node.kind, attributes, sources, at))
    return dataclasses.replace(value, origin=hashlib.sha256(words.encode()).hexdigest())
