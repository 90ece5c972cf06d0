"""ONNX readers of branches and loops: what is known at import is followed, loops of a known length are unrolled."""

from __future__ import annotations

import itertools

import numpy as np

from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.registry import reads

_LONGEST = 1_000  # steps of a loop


def _truth(value) -> bool | None:
    """The value of a condition, None where it is known at run time only."""
    return bool(value.array.reshape(-1)[0]) if isinstance(value, KnownValue) and not value.open else None


@reads("If")
def branch(r, node, condition):
    """If: the branch of a known condition; of another one both, between whose results the condition chooses."""
    then, other = node.attributes["then_branch"], node.attributes["else_branch"]
    truth = _truth(condition)
    if truth is not None:
        return r.subgraph(then if truth else other, (), node)
    pairs = [*zip(r.subgraph(then, (), node), r.subgraph(other, (), node), strict=True)]
    if any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in pairs):
        raise r.refuse(node, "chooses at run time between results of different shapes or dtypes")
    if condition.shape not in ((), (1,)):
        raise r.refuse(node, f"has a condition of shape {condition.shape}, and it must be one boolean")
    condition = r.call("reshape", condition, ())
    return [r.call("where", condition, a, b) for a, b in pairs]


@reads("Loop")
def loop(r, node, count, condition=None, *states):
    """Loop: its steps one after the other, until a condition that is known at import ends it."""
    body, states, collected = node.attributes["body"], list(states), []
    if count is not None and not (isinstance(count, KnownValue) and not count.open):
        raise r.needs(node, count, "number of steps")
    most = _LONGEST + 1 if count is None else int(count.array.reshape(-1)[0])
    go_on = condition is None or _truth(condition)
    for step in itertools.count():
        if go_on is None:
            raise r.refuse(node, "ends by a condition that is known at run time only: export it with a fixed length")
        if not go_on or step >= most:
            break
        if step >= _LONGEST:
            raise r.refuse(node, f"has more than {_LONGEST:,} steps, which LabDL would unroll")
        index = KnownValue(np.array(step, "int64"))
        following, *results = r.subgraph(body, (index, KnownValue(np.array(True)), *states), node)
        states, rest = results[: len(states)], results[len(states) :]
        collected.append(rest)
        go_on = _truth(following)
    if len(node.outputs) > len(states) and not collected:
        raise r.refuse(node, "collects the results of no steps, whose shape is unknown")
    return [*states, *(r.call("stack", list(column), axis=0) for column in zip(*collected, strict=True))]


@reads("Scan")
def scan(r, node, *inputs):
    """Scan: its steps along an axis of known size."""
    a = node.attributes
    count, body = a["num_scan_inputs"], a["body"]
    states, sequences = list(inputs[: len(inputs) - count]), inputs[len(inputs) - count :]
    axes = [v % len(x.shape) for v, x in zip(a.get("scan_input_axes", [0] * count), sequences, strict=True)]
    backward = a.get("scan_input_directions", [0] * count)
    sizes = {x.shape[axis] for x, axis in zip(sequences, axes, strict=True)}
    if len(sizes) != 1 or None in sizes:
        raise r.refuse(node, f"runs along axes of unknown or different sizes {sorted(map(str, sizes))}")
    (length,) = sizes
    if not 0 < length <= _LONGEST:
        raise r.refuse(node, f"has {length:,} steps, and LabDL unrolls 1 to {_LONGEST:,}")
    collected = []
    for step in range(length):
        parts = []
        for x, axis, reverse in zip(sequences, axes, backward, strict=True):
            place = length - 1 - step if reverse else step
            parts.append(r.call("getitem", x, (*(slice(None),) * axis, place)))
        results = r.subgraph(body, (*states, *parts), node)
        states = results[: len(states)]
        collected.append(results[len(states) :])
    outputs = len(body.outputs) - len(states)
    places, reverses = (a.get(f"scan_output_{word}", [0] * outputs) for word in ("axes", "directions"))
    body_outputs = []
    for column, axis, reverse in zip(zip(*collected, strict=True), places, reverses, strict=True):
        body_outputs.append(r.call("stack", list(column)[:: -1 if reverse else 1], axis=axis))
    return [*states, *body_outputs]
