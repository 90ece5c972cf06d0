"""Collecting the nodes and weights of an ONNX graph while a model's forward runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ModelError, UnknownValueError
from labdl.graph.names import UnusedNames
from labdl.nn.embedding import Embedding
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.ops.infix import neutral
from labdl.ops.operator import Operator
from labdl.saving.onnx.exporter.registry import writer_of
from labdl.saving.onnx.exporter.value import Value, map_values, values_in
from labdl.saving.onnx.standard import DTYPES, package
from labdl.spec import COMPLEX, Spec, dtype_name

_FOLDED = 65_536  # largest constant folded at export if it comes from parameters
_NUMBERS = bool | int | float


class Writer:
    """Builder of the graph. Modules call it as the observer of a trace, operators through `Value`."""

    def __init__(self, model: Module):
        self.onnx = package()
        self.model = model
        self.paths = {id(m): path for path, m in model.named_modules()}
        self.scopes: list[str] = []
        self.names = UnusedNames()
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}  # initializers by name
        # named constants; the arrays are kept alive, so that their ids are not reused
        self.known: dict[Any, tuple[str, np.ndarray]] = {}
        self.parameters: dict[int, Value] = {}
        self.placed: list[tuple[Module, str, Any]] = []
        self.tables: set[str] = set()  # origins of tables of embeddings, which a last layer may use too

    # -- names

    def inside(self, name: str) -> str:
        """A name under the layer that is being written."""
        return self.names.new("/".join(filter(None, (self.scopes[-1] if self.scopes else "", name))))

    def place(self) -> str:
        """The layer that is being written, for errors."""
        path = self.scopes[-1] if self.scopes else ""
        return f"layer {path!r} of {type(self.model).__name__}" if path else type(self.model).__name__

    # -- modules

    def call(self, module: Module, inputs, options):
        """Write the nodes of a module; its parameters are replaced by values during the export."""
        home = self.paths.get(id(module), "")
        self.scopes.append(home)
        try:
            named = {k: _plain(v) for k, v in options.items() if isinstance(v, Spec)}
            module.prepare(*(v if v is None else _plain(dispatch.spec_of(v)) for v in inputs), **named)
            for name, parameter in module._parameters.items():
                self.placed.append((module, name, module.__dict__[name]))
                module.__dict__[name] = value = self.parameter(parameter, "/".join(filter(None, (home, name))))
                if isinstance(module, Embedding):
                    self.tables.add(value.origin)
            return module.forward(*inputs, **options)
        finally:
            self.scopes.pop()

    def restore(self) -> None:
        for module, name, value in reversed(self.placed):
            module.__dict__[name] = value
        self.placed.clear()

    def parameter(self, parameter: Parameter, path: str) -> Value:
        value = self.parameters.get(id(parameter))
        if value is None:
            array = dispatch.owner(parameter.value).to_numpy(parameter.value)
            value = self.parameters[id(parameter)] = self.constant(array, parameter.dtype, f"{path}:0")
        return value

    # -- values

    def constant(self, array, dtype: str | None = None, origin: str = "") -> Value:
        array = np.asarray(array)
        return Value(self, Spec(array.shape, dtype or dtype_name(array.dtype)), array=array, origin=origin)

    def lift(self, value) -> Any:
        """Convert arrays and native tensors to values; numbers, strings and options are returned unchanged."""
        if isinstance(value, Value | Spec):
            return value
        if isinstance(value, np.generic):
            return value.item()
        owner = dispatch.owner_of_type(type(value))
        if owner is not None and hasattr(owner, "to_numpy"):  # not a tensor of an interpreter
            return self.constant(owner.to_numpy(value), dispatch.spec_of(value).dtype)
        return value

    def name_of(self, value: Value) -> str:
        """The name of a value in the file; its array is written with the first node that uses it."""
        if value.name or value.array is None:
            return value.name
        # small constants are identified by their contents, large ones by the array object
        small = value.array.nbytes <= 1024
        key = (value.dtype, value.shape, value.origin, value.array.tobytes() if small else id(value.array))
        name, _ = self.known.get(key, ("", None))
        if not name:
            name = self.names.new(value.origin) if value.origin else self.inside("Constant")
            self.known[key] = name, value.array
            tensor = self.tensor(value, name)
            if value.origin:
                self.weights[name] = tensor
            else:
                self.nodes.append(self.onnx.helper.make_node("Constant", [], [name], name=name, value=tensor))
        object.__setattr__(value, "name", name)
        return name

    def tensor(self, value: Value, name: str):
        array: Any = value.array
        if value.dtype == "string":
            return self.onnx.helper.make_tensor(name, DTYPES["string"], array.shape, array.ravel().tolist())
        dtype = dispatch.load("numpy").dtype(value.dtype)
        return self.onnx.numpy_helper.from_array(np.ascontiguousarray(array, dtype).reshape(array.shape), name)

    def node(self, kind: str, inputs: list[str], count: int, attributes: dict[str, Any]) -> list[str]:
        """One node; returns the names of its outputs."""
        name = self.inside(kind)
        outputs = [name, *(self.names.new(f"{name}_{i}") for i in range(1, count))]
        while inputs and not inputs[-1]:
            inputs.pop()  # optional ones at the end are left out
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, outputs, name=name, **attributes))
        return outputs

    # -- operators

    def operator(self, entry: Operator, args, kwargs):
        """Write a call of an operator: by its writer, or a composite by those of its parts."""
        args, kwargs = map_values(tuple(args), self.lift), {k: map_values(v, self.lift) for k, v in kwargs.items()}
        given = list(values_in([*args, *kwargs.values()]))
        if not entry.random and all(v.array is not None for v in given):
            folded = self._fold_constants(entry, args, kwargs, given)
            if folded is not None:
                return folded
        write = writer_of(entry)
        if write is not None:
            result = self._write(write, entry, args, kwargs)
            if result is not NotImplemented:
                return result
        if entry.composite:
            try:
                return neutral(entry.body)(*args, **kwargs)
            except UnknownValueError:  # the parts depend on values
                if not entry.without_onnx:
                    raise
        what = "" if write is None else " with these arguments"
        reason = f" ({entry.without_onnx})" if entry.without_onnx else ""
        raise ModelError(
            f"ops.{entry.name} in {self.place()} has no ONNX form{what}{reason}: replace it by other operators"
        ) from None

    def _specs(self, entry: Operator, args, kwargs):
        """Specs of the results, inferred without values: with values a composite would write its parts."""
        return entry.infer(map_values(args, _plain), {k: map_values(v, _plain) for k, v in kwargs.items()})

    def _fold_constants(self, entry: Operator, args, kwargs, given: Sequence[Value]):
        """Fold the result into constants; None if that would store a large parameter twice, or untie one."""
        specs = self._specs(entry, args, kwargs)
        origin = next((v.origin for v in given if v.origin), "")
        sizes = [s.element_count or 0 for s in (specs if isinstance(specs, list | tuple) else [specs])]
        if "string" in {v.dtype for v in given} or (origin and sum(sizes) > _FOLDED) or origin in self.tables:
            return None
        numpy = dispatch.load("numpy")
        arrays = map_values(args, _array), {k: map_values(v, _array) for k, v in kwargs.items()}
        results = numpy.implementation(entry)(*arrays[0], **arrays[1])
        return map_values(
            results, lambda r: self.constant(r, origin=origin and f"{origin.removesuffix(':0')}_{entry.name}:0")
        )

    def _write(self, write, entry: Operator, args, kwargs):
        specs = self._specs(entry, args, kwargs)
        bound = entry.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        common = entry.promoted_dtype(bound.arguments)
        emit = Emit(self, entry, specs)
        dtypes = {
            s.dtype for s in [*values_in([*args, *kwargs.values()]), *(specs if isinstance(specs, tuple) else [specs])]
        }
        if dtypes & {*COMPLEX}:
            raise emit.lacks("its operators do not support complex numbers")
        for name, value in bound.arguments.items():
            if common and "free" in entry.roles.get(name, ()):
                bound.arguments[name] = map_values(value, lambda v: emit.operand(v, common))
        first = next(values_in(list(bound.arguments.values())))
        emit.dtype = common or first.dtype
        results = write(emit, *bound.args, **bound.kwargs)
        if results is NotImplemented:
            return NotImplemented
        if isinstance(specs, Spec):
            return self._result(results, specs)
        return tuple(self._result(r, s) for r, s in zip(results, specs, strict=True))

    def _result(self, result, spec: Spec) -> Value:
        return result if isinstance(result, Value) else Value(self, spec, result)


class Emit:
    """Emits nodes for a writer: ``emit("Add", x, 1.0)`` adds a node and returns the name of its output.

    Inputs are values, names, numbers (in the dtype of the operands), or lists of integers (as int64); None leaves one out.
    ``spec`` is the Spec of the operator's result, or a tuple of them.
    """

    def __init__(self, writer: Writer, entry: Operator, spec):
        self.writer, self.entry, self.spec = writer, entry, spec
        self.dtype = "float32"

    def __call__(self, kind: str, *inputs, outputs: int = 1, **attributes) -> Any:
        names = [self._input(v) for v in inputs]
        found = self.writer.node(kind, names, outputs, {k: v for k, v in attributes.items() if v is not None})
        return found[0] if outputs == 1 else found

    def _input(self, value) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, list | tuple):
            value = np.array(value, "int64")
        if isinstance(value, _NUMBERS):
            value = self.number(value, self.dtype)
        return self.writer.name_of(self.writer.lift(value))

    def number(self, value: _NUMBERS, dtype: str) -> Value:
        """A number as a tensor without axes."""
        return self.writer.constant(np.asarray(value, dispatch.load("numpy").dtype(dtype)), dtype)

    def constant(self, array, dtype: str | None = None) -> Value:
        return self.writer.constant(array, dtype)

    def operand(self, value, dtype: str):
        """A tensor or a number in a dtype."""
        if isinstance(value, _NUMBERS):
            return self.number(value, dtype)
        return self.cast(value, dtype) if isinstance(value, Value) else value

    def cast(self, x: Value, dtype: str) -> Value:
        return x if x.dtype == dtype else ops.astype(x, dtype)

    def value(self, name: str, shape, dtype: str) -> Value:
        """The output of a node as a tensor for LabDL's operators."""
        return Value(self.writer, Spec(tuple(shape), dtype), name)

    def lacks(self, what: str) -> ModelError:
        """The error for arguments that ONNX cannot express."""
        return ModelError(f"ops.{self.entry.name} in {self.writer.place()} cannot be written as ONNX: {what}")


def _plain(value):
    return value.plain() if isinstance(value, Value) else value


def _array(value):
    return value.array if isinstance(value, Value) else value
