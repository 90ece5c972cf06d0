"""Observation of a forward pass: inputs and outputs of each module and each graph node of a model."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from labdl.graph.module import GraphModule
from labdl.nn.module import Module


class ModuleCall(NamedTuple):
    """One call of a module, or of a graph node without a module.

    ``name`` is the path of the module or the name of the node; ``node`` the node of the model's graph to which it belongs,
    or its path where the model is not a graph.
    """

    name: str
    node: str
    kind: str
    inputs: tuple
    outputs: Any


@contextmanager
def observe_calls(model: Module, callback: Callable[[ModuleCall], None]) -> Iterator[None]:
    """Call ``callback`` after each module and graph node of the model has computed, inner ones before outer ones.

    A layer that several nodes of a graph share is reported under the name of each of them.
    """
    active: list[tuple[str, str]] = []  # nodes that are computing, outermost first, each with the path of its layer

    def wrap_forward(path: str, module: Module, forward: Callable) -> Callable:
        def run(*args, **kwargs):
            outputs = forward(*args, **kwargs)
            name = path
            for node, layer in active:
                if path == layer or path.startswith(f"{layer}/"):
                    name = node + path.removeprefix(layer)
            node = active[0][0] if active else path
            callback(ModuleCall(name, node, type(module).__name__, (*args, *kwargs.values()), outputs))
            return outputs

        return run

    def wrap_compute(path: str, module: GraphModule) -> Callable:
        compute, prefix = module._compute, f"{path}/" if path else ""
        nodes = {slot: module.graph.nodes[node] for (node, _), slot in module._slots.items() if node}

        def run(step, values):
            node = nodes[step.first]
            active.append((prefix + node.name, prefix + step.layer))
            try:
                outputs = compute(step, values)
                if step.function is not None:
                    inputs = tuple(values[i] for i in step.taken)
                    callback(ModuleCall(prefix + node.name, active[0][0], node.type, inputs, outputs))
                return outputs
            finally:
                active.pop()

        return run

    originals = [
        (module, name, module.__dict__.get(name))
        for _, module in model.named_modules()
        for name in ("forward", *["_compute"] * isinstance(module, GraphModule))
    ]
    try:
        for path, module in model.named_modules():
            if isinstance(module, GraphModule):
                module.__dict__["_compute"] = wrap_compute(path, module)
            module.__dict__["forward"] = wrap_forward(path, module, module.forward)
        yield
    finally:
        for module, name, value in originals:
            module.__dict__.pop(name, None) if value is None else module.__dict__.update({name: value})


def layer_names(model: Module) -> list[str]:
    """Names of the layers of a model for display: the nodes of its graph, or the paths of its innermost layers."""
    from labdl.nn.schema import is_layer

    if isinstance(model, GraphModule):
        return [node.name for node in model.graph.nodes.values() if node.type != "Input"]
    names: list[str] = []
    inside: tuple[str, ...] = ()
    for path, module in model.named_modules():
        if path and path.startswith(inside):
            continue
        if is_layer(module) or module._parameters or not module._modules:
            names.append(path or type(module).__name__)
        if path and is_layer(module):
            inside = (*inside, f"{path}/")
    return names


def layer_classes(model: Module) -> list[str]:
    """The classes of the layers of `layer_names`, in the same order."""
    if isinstance(model, GraphModule):
        return [node.type for node in model.graph.nodes.values() if node.type != "Input"]
    classes = {path or type(module).__name__: type(module).__name__ for path, module in model.named_modules()}
    return [classes[name] for name in layer_names(model)]


def layer_of(layers: Container[str], name: str) -> str:
    """The one of these layers to which a parameter belongs; the path of its module if there is none."""
    words = name.removesuffix(":0").split("/")
    lengths = range(len(words), 0, -1)
    return next((whole for n in lengths if (whole := "/".join(words[:n])) in layers), "/".join(words[:-1]))
