"""TensorFlow's own operations, logged while they run eagerly."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false, reportOptionalMemberAccess=false

import contextlib
import functools
import inspect

import tensorflow as tf
from tensorflow.python.framework import op_callbacks, op_def_registry, ops

from labdl.backends.protocol.call_recorder import SourceWords
from labdl.backends.tensorflow.facts import FACTS
from labdl.errors import ModelError

_ASSIGNS = {"AssignVariableOp": ".assign", "AssignAddVariableOp": ".assign_add", "AssignSubVariableOp": ".assign_sub"}
_READS = ("numpy", "__bool__", "__float__", "__int__", "__index__", "__array__")


class _OperationLog:
    """A callback that logs each operation as a call of ``tf.raw_ops``."""

    def __init__(self, tape):
        self.tape = tape
        self.variables = {id(v.handle): v for v in tape.tensors if isinstance(v, tf.Variable)}

    def __call__(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        op_type = _text(op_type)
        settings = dict(zip(map(_text, attrs[::2]), attrs[1::2], strict=True))
        variable = self.variables.get(id(inputs[0])) if inputs else None
        if variable is not None and op_type == "ReadVariableOp":
            self.tape.call(".value", (variable,), {}, outputs[0])
        elif variable is not None and op_type in _ASSIGNS:
            self.tape.call(_ASSIGNS[op_type], (variable, inputs[1]), {}, (), writes=True)
        else:
            if variable is not None:
                self.tape.call("attribute handle", (variable,), {}, inputs[0])
            given, results = _arguments_by_name(op_type, list(inputs), list(outputs), settings)
            self.tape.call(f"tf.raw_ops.{op_type}", (), given, results)


@functools.cache
def _words(op_type: str) -> frozenset:
    return frozenset(inspect.signature(getattr(tf.raw_ops, op_type)).parameters)


def _arguments_by_name(op_type: str, inputs: list, outputs: list, settings: dict):
    """Arguments by name and results, lists of tensors as lists."""
    definition = op_def_registry.get(op_type)
    if definition is None:
        raise ModelError(f"the model runs {op_type}, a function that TensorFlow has compiled and that has no source")

    def take(arguments, tensors):
        for arg in arguments:
            if arg.number_attr:
                yield arg.name, [tensors.pop(0) for _ in range(settings[arg.number_attr])]
            elif arg.type_list_attr:
                yield arg.name, [tensors.pop(0) for _ in range(len(settings[arg.type_list_attr]))]
            else:
                yield arg.name, tensors.pop(0)

    given = dict(take(definition.input_arg, inputs))
    known = {a.name for a in (*definition.input_arg, *definition.attr)}
    renamed = iter(sorted(_words(op_type) - known - {"name"}))  # the Python function may call an argument "axis"
    given = {name if name in _words(op_type) else next(renamed): value for name, value in given.items()}
    kinds = {a.name: (a.type, a.HasField("default_value") and a.default_value) for a in definition.attr}
    for name, value in settings.items():
        if name in _words(op_type) and name not in given:
            kind, default = kinds[name]
            made = _setting(kind, value)
            if not default or _setting(kind, _plain(kind, default)) != made:
                given[name] = made
    results = tuple(value for _, value in take(definition.output_arg, outputs))
    return given, results[0] if len(results) == 1 else results


def _plain(kind: str, default):
    """A default value in the form that TensorFlow reports."""
    field = default.WhichOneof("value")
    value = getattr(default, field)
    if field == "list":
        return [v for _, values in value.ListFields() for v in values]
    return value


def _setting(kind: str, value):
    if kind == "type":
        return tf.dtypes.as_dtype(value)
    if kind == "list(type)":
        return [tf.dtypes.as_dtype(v) for v in value]
    if kind == "shape":
        return list(tf.TensorShape(value)) if not isinstance(value, list | tuple) else list(value)
    if isinstance(value, list | tuple):
        return [_text(v) for v in value]
    return bool(value) if kind == "bool" else _text(value)


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


@contextlib.contextmanager
def recorder(live: bool = False):
    """Gives ``record(function, tape)``: it runs the function and logs the operations (see `graph.lowering.tape.Tape`)."""

    def record(function, tape):
        notes = _OperationLog(tape)
        noted["tape"] = tape
        op_callbacks.add_op_callback(notes)
        try:
            return function()
        finally:
            op_callbacks.remove_op_callback(notes)
            noted["tape"] = None

    def reading(method):
        def run(value, *args, **kwargs):
            if noted["tape"] is not None:
                noted["tape"].read(value)
            return method(value, *args, **kwargs)

        return run

    noted: dict = {"tape": None}
    kind = ops._EagerTensorBase
    former = {name: getattr(kind, name) for name in _READS}
    for name, method in former.items():
        setattr(kind, name, reading(method))
    try:
        yield record
    finally:
        for name, method in former.items():
            setattr(kind, name, method)


def literal(value) -> str | None:
    """Source text of values that only TensorFlow has."""
    if isinstance(value, tf.DType):
        return f"tf.{value.name}"
    if isinstance(value, tf.Tensor) and value.dtype == tf.resource:
        generator = tf.random.get_global_generator()
        return "tf.random.get_global_generator().state.handle" if value is generator.state.handle else None
    return None


SOURCE: SourceWords = {
    "title": FACTS.title,
    "imports": ("import numpy as np", "import tensorflow as tf"),
    "functions": {},
    "base": "tf.Module",
    "method": "__call__",
    "mode": ", training=False",
    "training": "training",
    "size": "tf.shape({x})[{axis}]",
    "parameter": 'self.{name} = tf.Variable({array}, name="{name}")',
    "buffer": 'self.{name} = tf.Variable({array}, name="{name}", trainable=False)',
    "unsaved": "self.{name} = tf.constant({array})",
    "constant": "tf.constant({array})",
    "numbers": 'tf.cast({values}, "{dtype}")',
    "reserved": tuple(dir(tf.Module())),
}
