"""The NumPy side of a custom operator: its function or kernel, its gradient and its shapes, for arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from labdl.errors import BackendError, ConfigError, GradientError, ModelError
from labdl.ops.custom import c_kernel
from labdl.spec import Spec, show

Options = tuple[tuple[str, Any], ...]


class HostFunction(NamedTuple):
    """A NumPy function, its shapes and its gradient, which a backend wraps as a differentiable function.

    ``run`` takes arrays and returns a tuple of arrays, ``specs`` the same with Specs. The gradient takes the inputs, the
    results and the gradients of the results, and returns the gradients of the inputs; without one it raises
    GradientError, and has no gradient itself (None). ``inputs`` is None for a function of any number of inputs.
    """

    run: Callable
    specs: Callable
    inputs: int | None
    results: int
    gradient: HostFunction | None


class Host:
    """An operator on arrays: parsing of calls into tensors and options, functions, and checks of results."""

    def __init__(self, name: str, signature: inspect.Signature, rule: Callable):
        self.name, self.signature, self.rule = name, signature, rule
        parameters = signature.parameters.values()
        self.inputs = [p.name for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
        self.options = {p.name: p.default for p in parameters if p.name not in self.inputs}
        self.variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        if not self.inputs or any(v is inspect.Parameter.empty for v in self.options.values()):
            raise ConfigError(
                f"operator {name!r}: parameters without a default are tensors, at least one, and options "
                f"have a default, received {name}{signature}"
            )
        self.results = 1
        self.function: Callable | None = None
        self.backward: Callable | None = None
        self.kernels: dict[tuple[str, ...], tuple[Callable, Callable | None]] = {}  # by the inputs' dtypes

    @property
    def computes(self) -> bool:
        return self.function is not None or bool(self.kernels)

    @property
    def differentiable(self) -> bool:
        return self.backward is not None or any(backward for _, backward in self.kernels.values())

    def split(self, args: tuple, kwargs: dict) -> tuple[list, tuple[tuple[str, Any], ...]]:
        """The tensors and the options of a call. Raises TypeError where the call does not fit the signature."""
        if (len(args) != len(self.inputs) and not self.variadic) or any(name not in self.options for name in kwargs):
            try:
                bound = self.signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"operator {self.name!r}: {error}") from None
            args = tuple(bound[name] for name in self.inputs)
            kwargs = {name: value for name, value in bound.items() if name in self.options}
        return list(args), tuple(
            (name, _option(kwargs[name], value) if name in kwargs else value) for name, value in self.options.items()
        )

    # -- shapes

    def shapes(self, given: Sequence[Spec], options: dict[str, Any]) -> tuple[Spec, ...]:
        """The Specs of the results, by the rule."""
        found = self.rule(*given, **_options_of(self.rule, options))
        return (found,) if isinstance(found, Spec) else tuple(found)

    def check_dtypes(self, given: Sequence[Spec]) -> None:
        dtypes = tuple(s.dtype for s in given)
        if self.kernels and dtypes not in self.kernels:
            known = " and ".join(_dtypes(d) for d in self.kernels)
            raise TypeError(
                f"operator {self.name!r} has kernels for {known}, received {_dtypes(dtypes)}: convert with "
                "ops.astype, or register a kernel for that dtype"
            )
        if "bfloat16" in dtypes:
            raise TypeError(
                f"operator {self.name!r} computes with NumPy, which has no bfloat16: convert with ops.astype"
            )

    # -- values

    def bind(self, items: Options) -> HostFunction:
        """The operator with these options as a function of arrays, to be wrapped by a backend."""
        options = dict(items)

        def specs(*given: Spec) -> tuple[Spec, ...]:
            self.check_dtypes(given)
            return self.shapes(given, options)

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            wanted = specs(*(Spec(a.shape, str(a.dtype)) for a in arrays))
            return self._forward(_read_only(arrays), wanted, options)

        def gradient_specs(*given: Spec) -> tuple[Spec, ...]:
            return given[: len(given) - 2 * self.results]

        def pull(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            count = len(arrays) - 2 * self.results
            inputs, results, gradients = arrays[:count], arrays[count : count + self.results], arrays[-self.results :]
            return self._backward(_read_only(inputs), _read_only(results), _read_only(gradients), options)

        count = None if self.variadic else len(self.inputs)
        if not self.differentiable:
            return HostFunction(run, specs, count, self.results, self._refusal(count, self.results, ""))
        wider = None if count is None else count + 2 * self.results
        second = self._refusal(wider, count or 0, "second ")
        gradient = HostFunction(pull, gradient_specs, wider, count or 0, second)
        return HostFunction(run, specs, count, self.results, gradient)

    def _refusal(self, inputs: int | None, results: int, order: str) -> HostFunction:
        """A gradient function that raises GradientError, for so many inputs and results."""

        def refuse(*_):
            raise self._without(order)

        count = None if inputs is None else inputs + 2 * results
        return HostFunction(refuse, lambda *given: given[: len(given) - 2 * results], count, inputs or 0, None)

    def _without(self, order: str) -> GradientError:
        hint = "give one with register_backward_function, or with backward= of register_kernel"
        return GradientError(f"operator {self.name!r} has no {order}gradient: {'write it with ops' if order else hint}")

    def _forward(self, arrays, wanted: Sequence[Spec], options: dict[str, Any]) -> tuple[np.ndarray, ...]:
        if self.kernels:
            found, _ = self.kernels[tuple(str(a.dtype) for a in arrays)]
            results = [np.zeros(tuple(n or 0 for n in s.shape), s.dtype) for s in wanted]
            c_kernel.run(found, [*map(_row_major, arrays), *results], tuple(options.values()))
            return tuple(results)
        if self.function is None:
            raise BackendError(missing(self.name, "numpy"))
        return self._check_results(self.function(*arrays, **options), wanted, arrays, "function")

    def _backward(self, inputs, results, gradients, options: dict[str, Any]) -> tuple[np.ndarray, ...]:
        _, found = self.kernels.get(tuple(str(a.dtype) for a in inputs), (None, None))
        if found is not None:
            given = [np.zeros(a.shape, a.dtype) for a in inputs]
            c_kernel.run(found, [*map(_row_major, (*inputs, *results, *gradients)), *given], tuple(options.values()))
            return tuple(given)
        if self.backward is None:  # only another dtype has one
            raise self._without("")
        named = _options_of(self.backward, options | {"result": results if len(results) > 1 else results[0]})
        found = self.backward(gradients if len(gradients) > 1 else gradients[0], *inputs, **named)
        found = found if isinstance(found, list | tuple) else (found,)
        if len(found) != len(inputs):
            raise GradientError(
                f"the gradient of operator {self.name!r} returns {len(found)} arrays for {len(inputs)} inputs"
            )
        found = [np.zeros(a.shape, a.dtype) if g is None else g for g, a in zip(found, inputs, strict=True)]
        wanted = [Spec(a.shape, str(a.dtype)) for a in inputs]
        return self._check_results(found, wanted, (*inputs, *results, *gradients), "gradient")

    def _check_results(
        self, found, wanted: Sequence[Spec], given: Sequence[np.ndarray], what: str
    ) -> tuple[np.ndarray, ...]:
        """Check the shapes and dtypes of the results against the rule, and return them as arrays."""
        found = tuple(found) if isinstance(found, list | tuple) else (found,)
        arrays = [np.asarray(a) for a in found]
        shapes = [show(a.shape) for a in arrays], [show(s.shape) for s in wanted]
        if shapes[0] != shapes[1]:
            raise ModelError(
                f"operator {self.name!r}: its {what} returns {' and '.join(shapes[0])}, wanted are "
                f"{' and '.join(shapes[1])}"
            )
        fitted = []
        for array, spec in zip(arrays, wanted, strict=True):
            if not np.can_cast(array.dtype, spec.dtype, "same_kind"):
                raise ModelError(f"operator {self.name!r}: its {what} returns {array.dtype}, wanted is {spec.dtype}")
            shared = any(np.may_share_memory(array, g) for g in given)
            fitted.append(
                np.array(array, spec.dtype, order="C", copy=True)
                if shared
                else np.asarray(array, spec.dtype, order="C")
            )
        return tuple(fitted)


def missing(name: str, backend: str) -> str:
    return (
        f"operator {name!r} has no implementation for {backend}: add one with "
        f'implementation("{backend}"), or for all backends with implementation("numpy") or a kernel'
    )


def _options_of(function: Callable, options: dict[str, Any]) -> dict[str, Any]:
    """The options that the function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return {name: value for name, value in options.items() if name != "result"}
    return {name: value for name, value in options.items() if name in parameters}


def _option(value, default):
    """Normalize an option for backends: hashable, and a float if the default is one."""
    if isinstance(value, list):
        value = tuple(value)
    if type(default) is float and type(value) is int:
        return float(value)
    if type(default) in (int, bool) and type(value) is float:
        raise TypeError(f"an option whose default is {default!r} wants an integer, received {value!r}")
    return value


def _dtypes(dtypes: tuple[str, ...]) -> str:
    return dtypes[0] if len(set(dtypes)) == 1 else f"({', '.join(dtypes)})"


def _read_only(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Views that cannot be written: the memory is that of the user's tensors."""
    views = tuple(a.view() for a in map(np.asarray, arrays))
    for view in views:
        view.flags.writeable = False
    return views


def _row_major(array: np.ndarray) -> np.ndarray:
    return np.asarray(array, order="C")
