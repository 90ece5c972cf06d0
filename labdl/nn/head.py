"""The head of a model, the layer that gives one number for each class, and its replacement: `Module.replace_head`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from labdl.errors import ModelError
from labdl.nn import build
from labdl.nn.schema import is_layer, params_of
from labdl.spec import Spec, show

if TYPE_CHECKING:
    from labdl.nn.module import Module

_SIZES = {"Linear": "out_features", **{f"Conv{rank}d": "out_channels" for rank in (1, 2, 3)}}
# of layers that may follow a head in a definition: they have no parameters
_PLAIN = (
    "activation",
    "axis_activation",
    "loss",
    "merge",
    "pooling",
    "regularization",
    "shape",
    "spatial",
    "unpooling",
)
_ADVICE = "give its path: replace_head(classes, path=...)"


def replace_head(model: Module, classes: int, path: str | None = None) -> None:
    """See `Module.replace_head`."""
    former = _head(model) if path is None else model.get_module(path)
    if not can_be_head(former):
        raise ModelError(
            f"{path} of {type(model).__name__} is a {type(former).__name__}: a head is one of {', '.join(_SIZES)}"
        )
    head = type(former)(**{**params_of(former), _SIZES[type(former).__name__]: classes})
    was_built = model.built and not model.unbuilt
    places = [(home, name) for home in model.modules() for name, part in home._modules.items() if part is former]
    if not places:
        raise ModelError(f"the model is its own head, a {type(former).__name__}: create another one")
    _untie(model, former)
    head.train(former.training)
    for home, name in places:
        setattr(home, name, head)
    if model.class_names is not None and len(model.class_names) != classes:
        model.class_names = None
    build.mark_unbuilt(model)
    if was_built:
        model.build(*model.input_specs, backend=model.backend, **model._input_options)


def can_be_head(module: Module) -> bool:
    """Whether a layer is one of those that give a number for each class: a Linear or a convolution."""
    return is_layer(module) and type(module).__name__ in _SIZES and type(module).__module__.startswith("labdl.nn.")


def find_head(model: Module) -> Module | None:
    """The head of a model, or None where it is not clear which layer that is."""
    try:
        return _head(model)
    except ModelError:
        return None


def _head(model: Module) -> Module:
    """The last layer with parameters, in the order of execution if the inputs are known. Raises ModelError for any other."""
    specs = model._input_specs
    if specs is None:
        layers, output = [part for part in model.modules() if is_layer(part) and not _is_plain(part)], None
    else:
        with _parameters_in_order(model) as layers:
            output = build.shapes_of(model, specs, model._input_options)
    paths = {id(part): path for path, part in model.named_modules()}
    candidates = [paths[id(part)] for part in layers if can_be_head(part) and id(part) in paths][-5:]
    known = f"; it has {', '.join(map(repr, candidates))}" if candidates else ""
    name = type(model).__name__
    if output is not None and not isinstance(output, Spec):
        raise ModelError(f"{name} has {len(output)} outputs, so which layer is its head is not clear: {_ADVICE}{known}")
    if not layers or not can_be_head(layers[-1]):
        last = f"a {type(layers[-1]).__name__}, which is no head" if layers else "missing"
        raise ModelError(f"the last layer with parameters of {name} is {last}: {_ADVICE}{known}")
    size = getattr(layers[-1], _SIZES[type(layers[-1]).__name__])
    if output is not None and size not in output.shape[1:]:
        raise ModelError(
            f"the last layer of {name}, {paths.get(id(layers[-1]))!r}, gives {size} channels and the model "
            f"{show(output.shape)}, so it is no head: {_ADVICE}{known}"
        )
    return layers[-1]


def _is_plain(module: Module) -> bool:
    return getattr(module, "layer_category", "") in _PLAIN


@contextmanager
def _parameters_in_order(model: Module) -> Iterator[list[Any]]:
    """Context in which shape inference lists the modules with parameters of their own, in the order of their calls.

    In evaluation mode: auxiliary heads run in training alone.
    """
    order: list[Any] = []
    modes = [(part, part.training) for part in model.modules()]

    def watch(part: Module) -> Callable:
        def infer(*inputs, **options):
            result = type(part).infer(part, *inputs, **options)
            if part._parameters:
                order.append(part)
            return result

        return infer

    try:
        for part, _ in modes:
            part.__dict__.update(infer=watch(part), training=False)
        yield order
    finally:
        for part, mode in modes:
            part.__dict__.pop("infer", None)
            part.__dict__["training"] = mode


def _untie(model: Module, former: Module) -> None:
    """Remove ties of the former head's parameters: a new head has a shape of its own."""
    for module in model.modules():
        for name, to in list(module._ties.items()):
            homes = [module.get_module(each.rpartition("/")[0]) for each in (name, to)]
            if former in homes:
                del module._ties[name]
