"""Arrays as inputs of a model: the Specs to build it for, and the conversion to the dtypes that it was built for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.data.conversion import INDICES, as_array, fit_input, is_table
from labdl.errors import ConfigError, ModelError
from labdl.nn.index_limits import check_indices, index_limits
from labdl.nn.named_inputs import describe_inputs, place_named, takes_by_name
from labdl.nn.signature import arguments_as_built, given_inputs, place_inputs
from labdl.spec import DTYPES, FLOATS, Spec

if TYPE_CHECKING:
    from labdl.nn.module import Module

_TRIED = 4  # inputs of integers, each of which doubles the number of combinations


def build_for(
    model: Module,
    arrays: Sequence[np.ndarray] | Mapping[str, np.ndarray],
    backend: str | None = None,
    seed: int | None = None,
) -> None:
    """Build a model for arrays, by place or by name: see `specs_for`; one that knows inputs by name or omitted ones for these.

    Raises ModelError.
    """
    if isinstance(arrays, Mapping):
        specs = specs_for(model, [*arrays.values()], [*arrays])
        model.build(backend=backend, seed=seed, **dict(zip(arrays, specs, strict=True)))
        return
    placed, named = model._input_specs, model._input_options
    if placed is not None and (named or None in placed) and len(given_inputs(model)) == len(arrays):
        model.build(*placed, backend=backend, seed=seed, **named)
    else:
        model.build(*specs_for(model, arrays), backend=backend, seed=seed)


def specs_for(model: Module, arrays: Sequence[np.ndarray], names: Sequence[str] | None = None) -> tuple[Spec, ...]:
    """The Specs to build a model for: floating-point inputs as float32, and others as well unless it takes indices.

    ``names`` are those of the arguments for the arrays, by default the first ones.

    Whether it takes indices is found by shape inference: an embedding refuses floating-point numbers. One array (N,) is
    that of a single feature, (N, 1), if the model does not accept it as it is.
    """
    kept = [_own_spec(a) for a in arrays]
    numbers = [Spec(spec.shape, "float32") for spec in kept]
    if [spec.dtype for spec in kept] == ["float32"] * len(kept) and kept[0].ndim > 1:
        return tuple(kept)  # no choice
    open_ = [at for at, spec in enumerate(kept) if spec.dtype not in FLOATS][:_TRIED]
    choices = [(numbers[at], spec) if at in open_ else (spec,) for at, spec in enumerate(kept)]
    if len(kept) > 1:  # a boolean mask beside other inputs
        choices = [tuple(reversed(c)) if c[-1].dtype == "bool" else c for c in choices]
    candidates = list(itertools.product(*choices))
    if len(kept) == 1 and kept[0].ndim == 1:
        candidates.append((Spec((None, 1)),))
    for candidate in candidates:
        placed, named = candidate, {}
        if names is not None:
            placed, named = place_inputs(model, (), dict(zip(names, candidate, strict=True)))
        try:
            model._shapes_of(*placed, **named)
        except Exception:  # a forward of the user may raise anything; the build of the first candidate raises it again
            continue
        return candidate
    return candidates[-1] if open_ and kept[0].ndim > 1 else candidates[0]


def _own_spec(array: np.ndarray) -> Spec:
    name = str(array.dtype)
    if array.dtype.kind == "f":
        name = "float32"
    elif array.dtype.kind in "iu" and name not in INDICES:
        name = "int64"
    if name not in DTYPES:
        fit_input(array, Spec((None, *array.shape[1:])))  # raises for text and objects
    return Spec((None, *array.shape[1:]), name)


def fit_inputs(model: Module, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Convert the arrays among the inputs of a built model to the dtypes that it was built for.

    They are by place, or those of `given_inputs`.
    """
    specs: Sequence[Spec | None] | None = model._input_specs
    if specs is None:  # part of a model that was built as a whole
        specs = specs_for(model, arrays) if all(isinstance(a, np.ndarray) for a in arrays) else ()
    elif len(arrays) != len(specs):
        specs = [spec for _, spec in given_inputs(model)]
    if len(arrays) != len(specs):
        return tuple(arrays)
    return tuple(
        fit_input(a, spec) if isinstance(a, np.ndarray) and spec is not None else a
        for a, spec in zip(arrays, specs, strict=True)
    )


def has_data(inputs: Sequence[Any], backend: str | None) -> bool:
    """Whether some inputs of a call are data rather than tensors: arrays, lists of numbers, pandas frames, a dictionary.

    The tensors of the backend ``numpy`` are arrays.
    """
    return any(map(_is_mapping if backend == "numpy" else _is_data, inputs))


def tensors_for_call(
    model: Module, inputs: Sequence[Any], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs of a call as tensors of the model's backend; an unbuilt model is built, on the default backend."""
    backend = dispatch.get(model.backend)
    if len(inputs) == 1 and type(inputs[0]) is dict:
        inputs, options = _arguments_of_entries(model, inputs[0], options)
    given: Sequence[Any] = [as_array(v, "the input") if _is_data(v) else v for v in inputs]
    if model.built:
        given = fit_inputs(model, given)
    elif options or not all(isinstance(v, np.ndarray) for v in given):  # built by the call, for the tensors as they are
        given = [_narrow(v) for v in given]
    else:
        build_for(model, given, backend=model.backend)
        given = fit_inputs(model, given)
    if any(isinstance(a, np.ndarray) and a.dtype.kind in "OU" for a in given):
        raise ConfigError("the input holds text or objects, the model takes numbers: convert it first")
    if model._input_specs is not None:
        check_indices(tuple([a for a in given if a is not None]), index_limits(model))
    named = {name: _narrow(v) for name, v in options.items()}
    return tuple(map(_to_tensor(backend), given)), {name: _to_tensor(backend)(v) for name, v in named.items()}


def _arguments_of_entries(
    model: Module, entries: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call for inputs in a dictionary; a model that is not built is built for arrays."""
    if options or not takes_by_name(model, entries):
        also = " and others by name" if options else ""
        raise ModelError(f"{type(model).__name__}: the inputs are {describe_inputs(model, entries)}{also}")
    values = {name: as_array(v, f"the input {name}") if _is_data(v) else v for name, v in entries.items()}
    if model.unbuilt:
        if not all(isinstance(v, np.ndarray) for v in values.values()):
            return (), values
        build_for(model, values, backend=model.backend)
    placed = place_named(model, values)
    return arguments_as_built(model, placed if isinstance(placed, tuple) else (placed,))


def _to_tensor(backend: Any) -> Callable[[Any], Any]:
    return lambda value: backend.tensor(value) if isinstance(value, np.ndarray) else value


def _narrow(value: Any) -> Any:
    """Arrays of float64, NumPy's default, as float32."""
    return value.astype("float32") if isinstance(value, np.ndarray) and value.dtype == np.float64 else value


def _is_mapping(value: Any) -> bool:
    return type(value) is dict


def _is_data(value: Any) -> bool:
    return type(value) in (np.ndarray, dict) or (type(value) is list and _is_nested_number(value)) or is_table(value)


def _is_nested_number(value: Any) -> bool:
    while type(value) is list and value:
        value = value[0]
    return isinstance(value, int | float | np.number)
