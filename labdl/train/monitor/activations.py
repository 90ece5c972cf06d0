"""Watching a model compute: what each of its modules gives, and each node of its graph."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from labdl.graph.module import GraphModule
from labdl.nn.module import Module


class Sight(NamedTuple):
    """A module, or a node of a graph that has none, has computed.

    ``name`` is its path, or the node's name; ``node`` the node of the model's graph to which it belongs, or again its path.
    """

    name: str
    node: str
    kind: str
    given: tuple
    outputs: Any


@contextmanager
def watching(model: Module, see: Callable[[Sight], None]) -> Iterator[None]:
    """Call ``see`` whenever a part of the model has computed; those inside come before those around them.

    A layer that stands in a graph twice is seen under the name of each of its nodes.
    """
    at: list[tuple[str, str]] = []  # the nodes at work, outermost first, each with the path of its layer

    def of_module(path: str, module: Module, forward: Callable) -> Callable:
        def run(*args, **kwargs):
            outputs = forward(*args, **kwargs)
            name = path
            for node, layer in at:
                if path == layer or path.startswith(f"{layer}/"):
                    name = node + path.removeprefix(layer)
            see(Sight(name, at[0][0] if at else path, type(module).__name__, (*args, *kwargs.values()), outputs))
            return outputs

        return run

    def of_graph(path: str, module: GraphModule) -> Callable:
        compute, home = module._compute, f"{path}/" if path else ""
        nodes = {slot: module.graph.nodes[node] for (node, _), slot in module._slots.items() if node}

        def run(step, values):
            node = nodes[step.first]
            at.append((home + node.name, home + step.layer))
            try:
                outputs = compute(step, values)
                if step.function is not None:
                    see(Sight(home + node.name, at[0][0], node.type, tuple(values[i] for i in step.taken), outputs))
                return outputs
            finally:
                at.pop()

        return run

    former = [
        (module, name, module.__dict__.get(name))
        for _, module in model.named_modules()
        for name in ("forward", *["_compute"] * isinstance(module, GraphModule))
    ]
    try:
        for path, module in model.named_modules():
            if isinstance(module, GraphModule):
                module.__dict__["_compute"] = of_graph(path, module)
            module.__dict__["forward"] = of_module(path, module, module.forward)
        yield
    finally:
        for module, name, value in former:
            module.__dict__.pop(name, None) if value is None else module.__dict__.update({name: value})


def layers_of(model: Module) -> list[str]:
    """The names of what a person sees as the layers of a model: the nodes of its graph, or its innermost layers' paths."""
    from labdl.nn.schema import is_layer

    if isinstance(model, GraphModule):
        return [node.name for node in model.graph.nodes.values() if node.type != "Input"]
    found: list[str] = []
    inside: tuple[str, ...] = ()
    for path, module in model.named_modules():
        if path and path.startswith(inside):
            continue
        if is_layer(module) or module._parameters or not module._modules:
            found.append(path or type(module).__name__)
        if path and is_layer(module):
            inside = (*inside, f"{path}/")
    return found


def node_of(layers: Container[str], name: str) -> str:
    """The layer, one of these, to which a parameter belongs; its module's path where none of them has it."""
    words = name.removesuffix(":0").split("/")
    lengths = range(len(words), 0, -1)
    return next((whole for n in lengths if (whole := "/".join(words[:n])) in layers), "/".join(words[:-1]))
