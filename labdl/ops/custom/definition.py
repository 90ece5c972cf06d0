"""An operator that a user defines: its implementations, kernels and gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from labdl import dispatch
from labdl.errors import BackendError, ConfigError
from labdl.ops.custom import c_kernel
from labdl.ops.custom.numpy_body import Host, missing
from labdl.ops.infix import neutral
from labdl.ops.operator import NUMBERS_AND_BOOL, Operator, Sample, case, floats, make_function
from labdl.spec import Spec, show

_NUMPY = tuple(d for d in NUMBERS_AND_BOOL if d != "bfloat16")


class CustomOperator(Operator):
    """An operator added by a user; call it, or use it as ``labdl.ops.<name>``."""

    def __init__(
        self,
        name: str,
        rule: Callable,
        samples: Sequence[tuple[tuple, dict]],
        signature: inspect.Signature,
        doc: str,
        composed: Callable | None = None,
    ):
        host = Host(name, signature, rule)

        def body(*args, **kwargs):
            arrays, options = host.split(args, kwargs)
            results = host.bind(options).run(*map(np.asarray, arrays))
            return results if len(results) > 1 else results[0]

        body.__name__, body.__doc__, body.__signature__ = name, doc, signature  # type: ignore[attr-defined]
        samples = samples or (case(*(floats(2, 3) for _ in range(2 if host.variadic else len(host.inputs)))),)
        super().__init__(
            name=name,
            body=composed or body,
            rule=None if composed else self._infer,
            samples=samples,
            takes=_NUMPY,
            differentiable=composed is not None,
            composite=composed is not None,
            category="custom",
        )
        self.host = host
        self.own: dict[str, Callable] = {}  # implementations by backend
        self.source: tuple[str, str, tuple[str, ...]] | None = None
        make_function(self)
        if not composed:
            host.results = len(self._sampled_results())

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    # -- implementations, kernels and gradients

    def implementation(self, backend: str) -> Callable:
        """Decorator: use the function as the operator on this backend, with its own tensors and its own gradient.

        ``"numpy"`` is the default for backends without their own: it takes and returns arrays.
        """
        if backend not in dispatch.NAMES:
            raise ConfigError(f"unknown backend {backend!r}: choose one of {', '.join(dispatch.NAMES)}")

        def register(function: Callable) -> Callable:
            if backend == "numpy":
                self.host.function = function
            else:
                self.own[backend] = function
            self._refresh()
            return function

        return register

    def register_backward_function(self, function: Callable) -> Callable:
        """Decorator: the hand-written gradient of the NumPy body or the kernel.

        The function takes the gradient of the result (a tuple for several results), then the inputs, all NumPy arrays,
        and the options it names; a parameter called ``result`` receives the result of the operator. It returns the
        gradient of the input, a tuple for several inputs, None for an input without influence.
        """
        if self.composite:
            raise ConfigError(
                f"operator {self.name!r} is written with operators that differentiate by themselves: give it "
                "a shape rule and a NumPy body to write its gradient by hand"
            )
        self.host.backward = function
        self._refresh()
        return function

    def kernel(self, source: str | Path, language: str | None = None, *, flags: Sequence[str] = ()) -> CustomOperator:
        """Step 2: set the source of the kernel in "c" or "c++", as text or path of a file, and compiler flags."""
        if isinstance(source, Path):
            language = language or c_kernel.SUFFIXES.get(source.suffix)
            source = source.read_text(encoding="utf-8")
        language = language or "c"
        if language not in c_kernel.COMPILERS:
            raise ConfigError(f'language wants "c" or "c++", received {language!r}')
        self.source = (source, language, tuple(flags))
        self.host.kernels.clear()
        return self

    def register_kernel(
        self, forward: str, backward: str | None = None, *, dtype: str | Sequence[str] = "float32"
    ) -> CustomOperator:
        """Step 3: set the functions in the source that compute the operator and its gradient for a dtype.

        ``dtype`` is that of all inputs, or one for each; call again for another dtype. Compiles the source. Raises
        ConfigError with the compiler's message.
        """
        if self.source is None:
            raise ConfigError(f"operator {self.name!r} has no source: call kernel('…') before register_kernel")
        dtypes = (dtype,) * len(self.host.inputs) if isinstance(dtype, str) else tuple(dtype)
        self._check_kernel(dtypes)
        results = [(f"result_{i}" if i else "result", s.dtype) for i, s in enumerate(self._sampled_results(dtypes))]
        inputs = list(zip(self.host.inputs, dtypes, strict=True))
        upstream = [(f"{name}_gradient", kind) for name, kind in results]
        wanted = {forward: c_kernel.prototype(forward, inputs, results, self.host.options)}
        if backward:
            gradients = [(f"{name}_gradient", kind) for name, kind in inputs]
            wanted[backward] = c_kernel.prototype(backward, inputs + results + upstream, gradients, self.host.options)
        source, language, flags = self.source
        library = c_kernel.compile_library(source, language, list(wanted.values()), flags)
        found = {symbol: c_kernel.function(library, symbol, text) for symbol, text in wanted.items()}
        self.host.kernels[dtypes] = found[forward], found[backward] if backward else None
        self._refresh()
        return self

    def _check_kernel(self, dtypes: tuple[str, ...]) -> None:
        if self.host.variadic:
            raise ConfigError(f"operator {self.name!r} takes any number of inputs, a kernel takes a fixed number")
        if len(dtypes) != len(self.host.inputs) or any(d not in c_kernel.TYPES for d in dtypes):
            raise ConfigError(
                f"dtype wants one of {', '.join(c_kernel.TYPES)}, or one for each of the "
                f"{len(self.host.inputs)} inputs, received {dtypes!r}"
            )
        for name, value in self.host.options.items():
            if not isinstance(value, int | float):
                raise ConfigError(f"operator {self.name!r}: a kernel's options are numbers, and {name} is {value!r}")

    # -- calls

    def own_implementation(self, backend) -> Callable:
        """The operator as a function of this backend's tensors. Raises BackendError if there is no implementation."""
        if backend.name in self.own:
            return self.own[backend.name]
        if self.composite:
            return neutral(self.body)
        if not self.host.computes:
            raise BackendError(missing(self.name, backend.name))
        native, split = backend.host_function(self.host.bind), self.host.split

        def run(*args, **kwargs):
            given, options = split(args, kwargs)
            first = next(v for v in given if dispatch.owner_of_type(type(v)) is backend)
            tensors = [
                v if dispatch.owner_of_type(type(v)) is backend else _to_tensor(v, first, backend) for v in given
            ]
            return native(options)(*tensors)

        return run

    def native(self, backend: str, **options) -> Callable:
        """The operator with these options as a function of this backend's tensors, without dispatch.

        It is for framework compilers that cannot trace a look-up by type.
        """
        target = dispatch.get(backend)
        if backend in self.own or self.composite or hasattr(target, "implementation"):
            return functools.partial(
                self.body if hasattr(target, "implementation") else self.own_implementation(target), **options
            )
        return target.host_function(self.host.bind)(self.host.split(tuple(self.host.inputs), options)[1])

    def prepare(self, backend) -> None:
        """Resolve for a loaded backend now, so that compilers trace no look-up."""
        if not hasattr(backend, "implementation") and (self.host.computes or backend.name in self.own):
            kinds = backend.tensor_types()
            self.add_implementations(dict.fromkeys(kinds, self.own_implementation(backend)), kinds)

    def _refresh(self) -> None:
        """Reset resolved functions after an implementation, a kernel or a gradient was added."""
        self.remove_implementations()
        self.differentiable = self.host.differentiable
        kernels = {} if self.own else self.host.kernels  # a backend's own implementation may take any dtype
        self.takes = tuple({d: None for dtypes in kernels for d in dtypes}) or _NUMPY
        for backend in dispatch.loaded_backends():
            self.prepare(backend)

    # -- shapes

    def _infer(self, *args, **kwargs):
        given, options = self.host.split(args, kwargs)
        specs = [g if isinstance(g, Spec) else Spec((), "float32") for g in given]
        if not self.own:  # a backend's own implementation may take any dtype
            self.host.check_dtypes(specs)
        found = self.host.shapes(specs, dict(options))
        return found[0] if len(found) == 1 else found

    def _sampled_results(self, dtypes: Sequence[str] | None = None) -> tuple[Spec, ...]:
        """Specs of the results of the first sample, as it is or with other dtypes."""
        args, kwargs = self.samples[0]
        given, options = self.host.split(args, kwargs)
        specs = [Spec(a.shape, a.dtype) if isinstance(a, Sample) else Spec((), "float32") for a in given]
        if dtypes is not None:
            specs = [Spec(s.shape, d) for s, d in zip(specs, dtypes, strict=True)]
        try:
            return self.host.shapes(specs, dict(options))
        except Exception as error:  # any error of a user's rule for unexpected shapes
            shapes = " and ".join(show(s.shape) for s in specs)
            raise ConfigError(
                f"operator {self.name!r}: its shape rule does not take inputs of shape {shapes} "
                f"({error}): give samples=[case(floats(2, 3), …)] that it takes"
            ) from error


def _to_tensor(value, like, backend):
    """Convert a number or an array to a tensor like another; a number takes its dtype."""
    number = isinstance(value, bool | int | float)
    return backend.tensor(np.asarray(value, backend.spec_of(like).dtype if number else None))
