"""What a network costs: floating-point operations and memory of each node, counted on shapes alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labdl import dispatch, ops
from labdl.graph.check import check
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.ops.operator import Operator
from labdl.spec import Spec, show


@dataclass(frozen=True)
class Cost:
    """Of one node, for one sample. A multiplication with the addition after it counts as two operations.

    ``memory`` is what training keeps of it, in bytes: the results of its operators and its parameters.
    """

    operations: int = 0
    memory: int = 0
    parameters: int = 0


def _size(value) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return math.prod(1 if n is None else n for n in getattr(value, "shape", ()))


def _window(x, kernel, *_, **__):
    return 2 * math.prod(kernel.shape[1:])


def _attention(query, key, value, *_, **__):
    return 2 * (query.shape[-1] + value.shape[-1]) * (key.shape[-2] or 1) / value.shape[-1]


def _recurrence(x, kernel, recurrent_kernel, *_, **__):
    gates = 2 * (_size(kernel) + _size(recurrent_kernel))
    return gates / recurrent_kernel.shape[0]  # for each element of a step's hidden state


# operations for each element of the (first) result; what is not named does one
_EACH: dict[str, Callable[..., float]] = {
    "linear": lambda x, kernel, *_, **__: 2 * kernel.shape[0],
    "matmul": lambda x, y, *_, **__: 2 * (x.shape[-1] or 1),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _window),
    "scaled_dot_product_attention": _attention,
    **dict.fromkeys(("lstm", "gru", "rnn"), _recurrence),
}
_FREE = frozenset((
    "reshape", "permute_dims", "expand_dims", "squeeze", "concat", "stack", "split", "unstack", "getitem", "flatten",
    "broadcast_to", "astype", "embedding", "take", "pad", "tile", "repeat", "flip", "roll", "swapaxes", "moveaxis",
    "matrix_transpose", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "zeros_like", "ones_like", "full_like",
    "stop_gradient",
))  # fmt: skip


class _Counted(Spec):
    """A Spec whose way through a layer is counted."""

    def __init__(self, spec: Spec, tally: list):
        super().__init__(spec.shape, spec.dtype)
        object.__setattr__(self, "tally", tally)


class _CountInterpreter:
    name = "cost"
    precedence = 4

    def implementation(self, entry: Operator):
        def count(*args, **kwargs):
            values = [*args, *kwargs.values()]
            values += [v for value in values if isinstance(value, list | tuple) for v in value]
            tally = next(v.tally for v in values if isinstance(v, _Counted))  # type: ignore[attr-defined]
            results = getattr(ops, entry.name)(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
            first = results[0] if isinstance(results, list | tuple) else results
            each = 0 if entry.name in _FREE else _EACH[entry.name](*args, **kwargs) if entry.name in _EACH else 1
            if entry.name.startswith("conv_transpose"):
                operations = 2 * _size(args[0]) * math.prod(args[1].shape[1:])
            else:
                operations = round(each * _size(first))
            tally.append((operations, 0 if entry.name in ("reshape", "expand_dims", "squeeze") else _bytes(results)))
            return _counted(results, tally)

        return count

    def spec_of(self, value) -> Spec:
        return Spec(value.shape, value.dtype)


dispatch.claim(_Counted, _CountInterpreter())


def _plain(value):
    if isinstance(value, _Counted):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def _counted(value, tally):
    if isinstance(value, list | tuple):
        return type(value)(_counted(v, tally) for v in value)
    return _Counted(value, tally) if isinstance(value, Spec) else value


def _bytes(value) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    width = 2 if value.dtype == "bfloat16" else np.dtype(value.dtype).itemsize if value.dtype != "string" else 0
    return _size(value) * width


def costs(graph: Graph) -> dict[str, Cost]:
    """The cost of each node that fits, by id; unknown sizes count as 1, so a batch of unknown size is one sample."""
    result = check(graph)
    incoming, found = graph.incoming(), {}
    for node_id, specs in result.specs.items():
        made, tally = result.made[node_id], []
        if graph.nodes[node_id].type != "Input":
            _run(graph, node_id, result, incoming[node_id], tally)
        own = list(made.parameters()) if isinstance(made, Module) and not graph.nodes[node_id].shares else []
        held = sum(_bytes(Spec(p.shape, p.dtype)) for p in own)
        memory = sum(m for _, m in tally) if tally else _bytes(list(specs.values()))
        found[node_id] = Cost(sum(n for n, _ in tally), memory + held, result.counts[node_id])
    return found


def _run(graph: Graph, node_id: str, result, entering, tally) -> None:
    from labdl.graph.check import given_to, infer
    from labdl.graph.node import ports_of

    ports = {p.name: p for p in ports_of(graph.nodes[node_id])}
    values = {}
    for name, edges in entering.items():
        specs = [_counted(given_to(result, edge), tally) for _, edge in edges]
        values[name] = specs if ports[name].variadic else specs[0]
    infer(graph.nodes[node_id], result.made[node_id], ports, values)


def summary(graph: Graph) -> str:
    """A table of nodes in order of computation, with what they cost for one sample."""
    result, found = check(graph), costs(graph)
    problems = {p.node: p.message for p in result.problems}
    rows = [("Name", "Layer", "Output", "Parameters", "FLOPs", "Memory")]
    for node_id in [*graph.order()[0], *graph.order()[1]]:
        node, cost = graph.nodes[node_id], found.get(node_id, Cost())
        shapes = " ".join(show(s.shape) for s in result.specs.get(node_id, {}).values()) or problems.get(node_id, "?")
        rows.append(
            (node.name, node.type, shapes, f"{cost.parameters:,}", _short(cost.operations), f"{_short(cost.memory)}B")
        )
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([*(c.ljust(w) for c, w in zip(r[:3], widths[:3], strict=True)),
                        *(c.rjust(w) for c, w in zip(r[3:], widths[3:], strict=True))]) for r in rows]  # fmt: skip
    rule = "-" * len(lines[0])
    whole = [sum(getattr(c, f.name) for c in found.values()) for f in dataclasses.fields(Cost)]
    total = (f"{whole[2]:,} trainable parameters, {_short(whole[0])} floating-point operations and {_short(whole[1])}B of "
             "memory for one sample")  # fmt: skip
    return "\n".join([lines[0], rule, *lines[1:], rule, total])


def _short(number: int) -> str:
    """Three digits and a unit: 1.82 G."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} "
