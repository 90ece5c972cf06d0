"""Custom operators (R1.10): a name of your own that computes on every backend, from Python or from C and C++.

From Python, the body is NumPy and the gradient is optional::

    @custom.operator(rules.elementwise)
    def cube(x):
        "The third power of each element."
        return x**3

    @cube.register_backward_function
    def cube_gradient(gradient, x):
        return gradient * 3 * x**2

From C or C++, in three steps: register the primitive, give the kernel's source, register the kernel::

    swish = custom.register_primitive("swish", inputs=("x",), options={"beta": 1.0})
    swish.kernel('''
        void swish(const Float32 *x, Float32 *y, double beta) {
            for (int64_t i = 0; i < x->size; i++) y->data[i] = x->data[i] / (1 + exp(-beta * x->data[i]));
        }''')
    swish.register_kernel("swish", dtype="float32")

A kernel's parameters are the inputs, then the results it fills, then the options (double for a float, int64_t for an
integer or a boolean). A backward kernel reads the inputs, the results and the gradients of the results, fills the
gradients of the inputs, and takes the options. Each tensor is a pointer to ``{data, size, rank, shape}``: ``size`` counts
the elements, ``shape[axis]`` is a size, the data lie in row-major order, and what is to be filled comes filled with zeros.
Float32, Float64, Int32, Int64, UInt8 and Bool are declared already, as is what <math.h> and <stdint.h> hold. Other
Python threads run meanwhile.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import BackendError, ConfigError
from labdl.ops import kernel, rules
from labdl.ops.host import Host, missing
from labdl.ops.infix import neutral
from labdl.ops.operator import NUMBERS_AND_BOOL, OPERATORS, Operator, Sample, callable_of, case, floats
from labdl.spec import Spec, show

_NUMPY = tuple(d for d in NUMBERS_AND_BOOL if d != "bfloat16")


class CustomOperator(Operator):
    """An operator added by a user; call it, or use it as ``labdl.ops.<name>``."""

    def __init__(self, name: str, rule: Callable, samples: Sequence[tuple[tuple, dict]],
                 signature: inspect.Signature, doc: str, composed: Callable | None = None):  # fmt: skip
        host = Host(name, signature, rule)

        def body(*args, **kwargs):
            arrays, options = host.split(args, kwargs)
            results = host.bind(options).run(*map(np.asarray, arrays))
            return results if len(results) > 1 else results[0]

        body.__name__, body.__doc__, body.__signature__ = name, doc, signature  # type: ignore[attr-defined]
        samples = samples or (case(*(floats(2, 3) for _ in range(2 if host.variadic else len(host.inputs)))),)
        super().__init__(name=name, body=composed or body, rule=None if composed else self._infer, samples=samples,
                         takes=_NUMPY, differentiable=composed is not None, composite=composed is not None,
                         category="custom")  # fmt: skip
        self.host = host
        self.own: dict[str, Callable] = {}  # implementations by backend
        self.source: tuple[str, str, tuple[str, ...]] | None = None
        self.function = callable_of(self)
        if not composed:
            host.results = len(self._sampled_results())

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    # -- what a user adds

    def implementation(self, backend: str) -> Callable:
        """Decorator: the function is the operator on this backend, with its own tensors and its own gradient.

        ``"numpy"`` is the one for all backends that have none of their own: it takes and returns arrays.
        """
        if backend not in dispatch.NAMES:
            raise ConfigError(f"unknown backend {backend!r}: choose one of {', '.join(dispatch.NAMES)}")

        def register(function: Callable) -> Callable:
            if backend == "numpy":
                self.host.function = function
            else:
                self.own[backend] = function
            self._changed()
            return function

        return register

    def register_backward_function(self, function: Callable) -> Callable:
        """Decorator: the hand-written gradient of the NumPy body or the kernel.

        The function takes the gradient of the result (a tuple for several results), then the inputs, all NumPy arrays,
        and the options it names; a parameter called ``result`` is given what the operator returned. It returns the
        gradient of the input, a tuple for several inputs, None where one has no influence.
        """
        if self.composite:
            raise ConfigError(f"operator {self.name!r} is written with operators that differentiate by themselves: give it "
                              "a shape rule and a NumPy body to write its gradient by hand")  # fmt: skip
        self.host.backward = function
        self._changed()
        return function

    def kernel(self, source: str | Path, language: str | None = None, *, flags: Sequence[str] = ()) -> CustomOperator:
        """Step 2: the source of the kernel in "c" or "c++", as text or as the path of a file; flags are the compiler's."""
        if isinstance(source, Path):
            language = language or kernel.SUFFIXES.get(source.suffix)
            source = source.read_text(encoding="utf-8")
        language = language or "c"
        if language not in kernel.COMPILERS:
            raise ConfigError(f'language wants "c" or "c++", received {language!r}')
        self.source = (source, language, tuple(flags))
        self.host.kernels.clear()
        return self

    def register_kernel(self, forward: str, backward: str | None = None, *,
                        dtype: str | Sequence[str] = "float32") -> CustomOperator:  # fmt: skip
        """Step 3: the names of the functions in the source that compute the operator and its gradient for a dtype.

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
        wanted = {forward: kernel.prototype(forward, inputs, results, self.host.options)}
        if backward:
            gradients = [(f"{name}_gradient", kind) for name, kind in inputs]
            wanted[backward] = kernel.prototype(backward, inputs + results + upstream, gradients, self.host.options)
        source, language, flags = self.source
        library = kernel.compile_library(source, language, list(wanted.values()), flags)
        found = {symbol: kernel.function(library, symbol, text) for symbol, text in wanted.items()}
        self.host.kernels[dtypes] = found[forward], found[backward] if backward else None
        self._changed()
        return self

    def _check_kernel(self, dtypes: tuple[str, ...]) -> None:
        if self.host.variadic:
            raise ConfigError(f"operator {self.name!r} takes any number of inputs, a kernel takes a fixed number")
        if len(dtypes) != len(self.host.inputs) or any(d not in kernel.TYPES for d in dtypes):
            raise ConfigError(f"dtype wants one of {', '.join(kernel.TYPES)}, or one for each of the "
                              f"{len(self.host.inputs)} inputs, received {dtypes!r}")  # fmt: skip
        for name, value in self.host.options.items():
            if not isinstance(value, int | float):
                raise ConfigError(f"operator {self.name!r}: a kernel's options are numbers, and {name} is {value!r}")

    # -- how it is found and run

    def on(self, backend) -> Callable:
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
                v if dispatch.owner_of_type(type(v)) is backend else _converted(v, first, backend) for v in given
            ]
            return native(options)(*tensors)

        return run

    def native(self, backend: str, **options) -> Callable:
        """The operator with these options as a function of this backend's tensors and nothing else, without dispatch.

        That is what a framework's own compiler takes where it cannot follow a look-up by type.
        """
        target = dispatch.get(backend)
        if backend in self.own or self.composite or hasattr(target, "implementation"):
            return functools.partial(self.body if hasattr(target, "implementation") else self.on(target), **options)
        return target.host_function(self.host.bind)(self.host.split(tuple(self.host.inputs), options)[1])

    def prepare(self, backend) -> None:
        """Resolve for a loaded backend now: a compiler that traces a call then has nothing to look up."""
        if not hasattr(backend, "implementation") and (self.host.computes or backend.name in self.own):
            self.implementations.update(dict.fromkeys(backend.tensor_types(), self.on(backend)))

    def _changed(self) -> None:
        """Forget what was resolved, after an implementation, a kernel or a gradient has come."""
        self.implementations.clear()
        self.differentiable = self.host.differentiable
        kernels = {} if self.own else self.host.kernels  # a backend's own implementation may take any dtype
        self.takes = tuple({d: None for dtypes in kernels for d in dtypes}) or _NUMPY
        for backend in _backends:
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
        except Exception as error:  # whatever a user's rule raises for shapes it was not made for
            shapes = " and ".join(show(s.shape) for s in specs)
            raise ConfigError(f"operator {self.name!r}: its shape rule does not take inputs of shape {shapes} "
                              f"({error}): give samples=[case(floats(2, 3), …)] that it takes") from error  # fmt: skip


def operator(rule: Callable | None = None, *samples) -> Callable[[Callable], CustomOperator]:
    """Decorator: the function becomes the operator ``labdl.ops.<its name>``.

    With a shape rule the body is NumPy: parameters without a default are tensors, the others options. Without one the
    body is written with labdl's operators, and has its shape and its gradient from them. A custom operator of the same
    name is replaced. Raises ConfigError for the name of a built-in operator.
    """

    def register(function: Callable) -> CustomOperator:
        doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
        composed = function if rule is None else None
        entry = CustomOperator(function.__name__, rule or rules.elementwise, samples, signature, doc, composed)
        _add(entry)
        if composed is None:
            entry.implementation("numpy")(function)
        return entry

    return register


def register_primitive(
    name: str,
    rule: Callable = rules.elementwise,
    *,
    inputs: Sequence[str] = ("x",),
    options: dict[str, Any] | None = None,
    samples: Sequence = (),
    doc: str = "",
) -> CustomOperator:
    """Step 1: a new operator ``labdl.ops.<name>`` of these inputs and options (with their defaults).

    ``rule`` gives the Spec of the result, or a tuple of several, from the Specs of the inputs and the options that it
    names (`labdl.ops.rules` has many). ``samples`` are calls to try, wanted where inputs of shape (2, 3) do not fit the
    rule. A custom operator of the same name is replaced. Raises ConfigError for the name of a built-in operator.
    """
    kinds = inspect.Parameter
    try:
        signature = inspect.Signature(
            [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in inputs]
            + [kinds(n, kinds.KEYWORD_ONLY, default=v) for n, v in (options or {}).items()]
        )
    except (ValueError, TypeError) as error:
        raise ConfigError(f"operator {name!r}: inputs and options are different Python names: {error}") from error
    entry = CustomOperator(name, rule, tuple(samples), signature, doc)
    _add(entry)
    return entry


def unregister(name: str) -> None:
    """Remove a custom operator. Raises ConfigError for an unknown or a built-in one."""
    if not isinstance(OPERATORS.get(name), CustomOperator):
        known = ", ".join(n for n, entry in OPERATORS.items() if isinstance(entry, CustomOperator))
        raise ConfigError(f"there is no custom operator {name!r}: there is {known or 'none'}")
    del OPERATORS[name]
    delattr(sys.modules["labdl.ops"], name)


def _add(entry: CustomOperator) -> None:
    package, name = sys.modules["labdl.ops"], entry.name
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ConfigError(f"an operator's name is a Python name, received {name!r}")
    if hasattr(package, name) and not isinstance(OPERATORS.get(name), CustomOperator):
        raise ConfigError(f"labdl.ops.{name} exists already and is built in: choose another name")
    OPERATORS[name] = entry
    setattr(package, name, entry.function)


def _converted(value, like, backend):
    """A number or an array beside a backend's tensor, as such a tensor; a number takes the tensor's dtype."""
    number = isinstance(value, bool | int | float)
    return backend.tensor(np.asarray(value, backend.spec_of(like).dtype if number else None))


_backends: list = []  # those that are loaded


def _welcome(backend) -> None:
    _backends.append(backend)
    for entry in OPERATORS.values():
        if isinstance(entry, CustomOperator):
            entry.prepare(backend)


dispatch.on_load(_welcome)
