"""Building a model: shape inference, weight initialization, and placement on a backend or a device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import BackendError, ModelError
from labdl.nn import initializers
from labdl.nn.parameter import Parameter
from labdl.nn.trainable import switch_at_build
from labdl.nn.usage import report_idle_modules
from labdl.spec import Spec, show

if TYPE_CHECKING:
    from labdl.nn.module import Module


def build(
    model: Module,
    specs: tuple[Spec | None, ...],
    backend: str | None,
    seed: int | None,
    options: Mapping[str, Any],
    values: Callable[[Module], Mapping[str, Any]] | None = None,
) -> None:
    """See `Module.build`. ``values`` maps the model, once its sizes are known, to saved values that replace initial ones."""
    from labdl.nn.native import check_native_modules  # it imports this module

    _check_attributes(model)
    try:
        shapes_of(model, specs, options)
    except (ValueError, TypeError) as error:
        raise error if isinstance(error, ModelError) else ModelError(f"{type(model).__name__}: {error}") from error
    report_idle_modules(model)
    apply_ties(model)
    switch_at_build(model)
    target = dispatch.get(backend)
    check_native_modules(model, target)
    saved = None if values is None else values(model)
    start = _first_seed(seed)
    if saved is None:
        _check_memory(model, target)
    for path, parameter in model.named_parameters():
        array = None if saved is None or parameter.value is not None else parameter.from_standard(saved[path])
        _place(parameter, path, target, start, array)
    _publish(model)
    for module in model.modules():
        module._place_constants(target)
        module.__dict__.update(_ready=True, _backend=target.name)
    model.__dict__.update(_input_specs=specs, _input_options=dict(options))


def _place(parameter: Parameter, path: str, target, seed: int, saved: np.ndarray | None = None) -> None:
    """Make a parameter a variable of a backend: with saved values, the initial ones, or those that it has elsewhere."""
    if saved is not None:
        array = saved.astype(parameter.array_dtype, copy=False)
    elif parameter.value is None:
        try:
            array = initializers.draw(parameter.init, parameter.shape, parameter.array_dtype, seed, path)
        except MemoryError:
            raise ModelError(f"there is no memory for {_show_size(path, parameter)}: choose smaller sizes") from None
    elif (source := dispatch.owner(parameter.value)) is target:
        return
    else:
        array = source.to_numpy(parameter.value).astype(parameter.array_dtype, copy=False)
    array = np.asarray(array, order=parameter.order)
    is_frozen = parameter.learnable and not parameter.trainable
    parameter.value, parameter.gradient = target.variable(array, parameter.learnable), None
    if is_frozen:
        target.set_trainable(parameter.value, False)


def _first_seed(seed: int | None) -> int:
    start = dispatch.current_seed() if seed is None else seed
    return int(np.random.default_rng().integers(2**31)) if start is None else start


def place_parameter(module: Module, name: str, parameter: Parameter) -> None:
    """Initialize a parameter that a built module receives, on the module's backend: its shape is known."""
    _place(parameter, name, dispatch.get(module.backend), _first_seed(None))
    Parameter.changes += 1


def place_containers(module: Module, name: str, value: Module) -> None:
    """Do the same for a container of parameters, or of such containers, which a call would not build: it has no forward."""
    from labdl.nn.module import Module

    parts = list(value.modules())
    if value._ready or any(type(part).forward is not Module.forward for part in parts):
        return
    for path, parameter in value.named_parameters():
        place_parameter(module, f"{name}/{path}", parameter)
    _publish(value)
    for part in parts:
        part.__dict__.update(_ready=True, _backend=module.backend)


def _check_memory(model: Module, target) -> None:
    """Raises ModelError when new parameters need more memory than the machine has, of which others would run short first."""
    import psutil  # imported lazily: most programs build small models once

    new = {path: p for path, p in model.named_parameters() if p.value is None}
    present = psutil.virtual_memory().total
    advice = f"and this machine has {present / 1e9:,.0f} GB: choose smaller sizes"
    for path, parameter in new.items():
        if _bytes_of(parameter) > present:
            raise ModelError(f"there is no memory for {_show_size(path, parameter)}, {advice}")
    if target.current_device() == "cpu" and (needed := sum(map(_bytes_of, new.values()))) > present:
        raise ModelError(f"the parameters need {needed / 1e9:,.0f} GB of memory, {advice}")


def _bytes_of(parameter: Parameter) -> int:
    return math.prod(parameter.shape) * parameter.array_dtype.itemsize


def _show_size(path: str, parameter: Parameter) -> str:
    return f"the parameter {path} of shape {show(parameter.shape)}, which needs {_bytes_of(parameter) / 1e9:,.1f} GB"


def _publish(model: Module) -> None:
    """Set the attributes of each module to the values of its parameters."""
    Parameter.changes += 1
    for module in model.modules():
        for name, parameter in module._parameters.items():
            module.__dict__[name] = parameter.value


def shapes_of(model: Module, specs: tuple[Spec | None, ...], options: Mapping[str, Any]):
    """See `Module._shapes_of`."""
    flags = [(m, m._ready, m._set_up) for m in model.modules()]
    for module, _, _ in flags:
        module.__dict__["_ready"] = False
    try:
        return model(*specs, **options)
    except Exception:
        for module, _, set_up in flags:
            module.__dict__["_set_up"] = set_up  # a later call may have other shapes
        raise
    finally:
        for module, ready, _ in flags:
            module.__dict__["_ready"] = ready


def mark_unbuilt(model: Module) -> None:
    """Mark a model as not built when one of its modules is not, so that its next call builds it."""
    if not all(m._ready for m in model.modules()):
        model.__dict__["_ready"] = False


def move(model: Module, place: str) -> None:
    """See `Module.to`."""
    if place in dispatch.NAMES or place == "numpy":
        build(model, model.input_specs, place, None, model._input_options)
        return
    owner = dispatch.get(model.backend)
    if place not in owner.devices():
        raise BackendError(
            f"{place!r} is neither a backend ({', '.join(dispatch.NAMES)}) nor a device of {owner.name} "
            f"({', '.join(owner.devices())})"
        )
    model._need_build()
    for parameter in model.parameters():
        parameter.value = owner.move_variable(parameter.value, place)
        if parameter.gradient is not None:
            parameter.gradient = owner.to_device(parameter.gradient, place)
    for module in model.modules():
        if "_tensor" in module.__dict__:
            module.__dict__["_tensor"] = owner.to_device(module.__dict__["_tensor"], place)
    _publish(model)


def apply_ties(model: Module) -> None:
    """Replace each tied parameter by the one that it is tied to."""
    for path, module in model.named_modules():
        for name, to in module._ties.items():
            (owner, word), source = module._locate_parameter(name), module.get_parameter(to)
            own = owner._parameters[word]
            if own is source:
                continue
            if (own.shape, own.dtype) != (source.shape, source.dtype):
                raise ModelError(
                    f"{path or type(model).__name__} ties {name} of shape {own.shape} to {to} of shape "
                    f"{source.shape}: they cannot be one parameter"
                )
            owner._parameters[word] = source
            owner.__dict__[word] = Spec(source.shape, source.dtype) if source.value is None else source.value


def _check_attributes(model: Module) -> None:
    from labdl.nn.module import Module

    for path, module in model.named_modules():
        for name, value in module.__dict__.items():
            if isinstance(value, list | tuple) and any(isinstance(v, Module) for v in value):
                raise ModelError(
                    f"{path or type(model).__name__}.{name} is a plain list of layers, whose parameters are not found: "
                    f"write self.{name} = nn.ModuleList([...])"
                )
