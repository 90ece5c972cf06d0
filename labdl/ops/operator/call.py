"""The call of an operator: a look-up by type, and its error path."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable

from labdl import dispatch
from labdl.ops.operator.arguments import convert_numpy, promote_operands, refuse_lists
from labdl.ops.operator.definition import Operator
from labdl.ops.operator.inference import specs_in, to_spec
from labdl.ops.operator.kernels import implementation_for

CLEAR = (TypeError, ValueError, IndexError)  # raised by rules and bodies; other errors come from frameworks
_FROM_PYTHON = re.compile(r"^'\w+' object|^object of type|not supported between|^int\(\) argument|must be real number")
EXPLAINED = 1_000_000  # elements; larger calls may have failed for lack of memory


def make_function(entry: Operator) -> Callable:
    """The public function of an operator: looks up the first argument's type and calls the implementation.

    One function for each number of positional-only arguments: packing and unpacking costs more than the look-up. A type that
    is not in the table yet is handled as an error. Two operands are looked up by both types, so that tensors of two
    backends never meet in one call.
    """
    table, pairs, recover = entry.implementations, entry.pairs, functools.partial(recover_call, entry)
    select = entry.dispatch_argument or (lambda args: args[0])

    def unary(x, /):
        try:
            return table[x.__class__](x)
        except Exception as raised:
            error = raised
        return recover(error, (x,), {})

    def binary(x, y, /):
        try:
            return pairs[x.__class__][type(y)](x, y)  # torch.compile cannot look up the __class__ of a number
        except Exception as raised:
            error = raised
        return recover(error, (x, y), {})

    def any_number(*args, **kwargs):
        try:
            return table[args[0].__class__](*args, **kwargs)
        except Exception as raised:
            error = raised
        return recover(error, args, kwargs)

    def selecting(*args, **kwargs):
        try:
            return table[select(args).__class__](*args, **kwargs)
        except Exception as raised:
            error = raised
        return recover(error, args, kwargs)

    general = selecting if entry.dispatch_argument else any_number
    operands = len(entry.signature.parameters) if entry.is_positional else 0
    call = {1: unary, 2: binary}.get(operands, general) if entry.dispatch_argument is None else general
    functools.update_wrapper(call, entry.body)
    call.operator = entry  # type: ignore[attr-defined]
    entry.function = call
    return call


def resolve_call(entry: Operator, args, kwargs):
    """Find the implementation for these arguments, store it if the dispatch argument alone decides, and run it."""
    owner, kind = dispatch.owner(*args, *kwargs.values()), entry.dispatch_type(args)
    refuse_lists(entry, args, kwargs)
    implementation = implementation_for(entry, owner, kind)
    if owner.name != "numpy" and dispatch.owner_of_type(kind) is owner:
        entry.implementations[kind] = implementation
        if len(args) == 2 and not kwargs:
            entry.pairs.setdefault(kind, {})[type(args[1])] = implementation
    return implementation(*args, **kwargs)


def recover_call(entry: Operator, error: Exception, args, kwargs):
    """After an error: run an implementation that was not in the table, or raise the clearest error.

    The search for an implementation and the checks happen only here, so that successful calls do not pay for them.
    """
    kind = entry.dispatch_type(args)
    # a KeyError of a type is that of the look-up, even if another thread has added the type since
    if kind not in entry.implementations or (type(error) is KeyError and error.args[0] in {kind, *map(type, args)}):
        error.__traceback__ = None  # breaks the cycle of error and frame, which would keep tensors alive
        try:
            return resolve_call(entry, args, kwargs)
        except Exception as raised:
            error = raised
    if isinstance(error, MemoryError):
        raise error  # the body would need as much
    converted = convert_numpy(entry, args, kwargs)
    if converted is not None:
        return entry.function(*converted[0], **converted[1])
    if getattr(error, "labdl_clear", False) and not (entry.rule and entry.composite):
        raise error  # a composite with a rule of its own is explained by that rule, not by its parts
    try:
        owner = dispatch.owner(*args, *kwargs.values())
        if hasattr(owner, "implementation"):
            if dispatch.owner_of_type(kind) not in (owner, None):
                return owner.implementation(entry)(*args, **kwargs)  # the dispatch argument alone did not decide
        else:
            promoted = promote_operands(entry, args, kwargs, entry.infer(args, kwargs))
            if promoted is not None:
                return entry.function(*promoted[0], **promoted[1])
            if not isinstance(error, CLEAR) and not entry.random:
                clear = _error_of_body(entry, owner, args, kwargs)
                if clear is not None:
                    raise clear
    except CLEAR as clear:
        same = type(clear) is type(error) and str(clear) == str(error)
        _name_operator(entry, clear)
        clear.labdl_clear = True  # type: ignore[union-attr]
        raise clear from (None if same else error)
    error.labdl_clear = True  # type: ignore[attr-defined]
    raise error


def _name_operator(entry: Operator, error: Exception) -> None:
    """Begin a message with the name of the operator, unless it has it; those of Python itself get the signature too."""
    if len(error.args) != 1 or not isinstance(error.args[0], str) or entry.name in error.args[0]:
        return
    message = error.args[0]
    if isinstance(error, TypeError) and _FROM_PYTHON.search(message):
        message = f"an argument is of a wrong type ({message}); the arguments are {entry.signature}"
    error.args = (f"{entry.name}: {message}",)


def _error_of_body(entry: Operator, owner, args, kwargs) -> Exception | None:
    """The error that the NumPy body raises for these values, to replace a framework's own; None if it raises none."""
    shapes = [s.shape for s in specs_in([to_spec(v) for v in (*args, *kwargs.values())])]
    if sum(math.prod(n or 0 for n in shape) for shape in shapes) > EXPLAINED:
        return None
    with contextlib.suppress(Exception):  # tensors of a graph have no values
        arrays = _to_numpy(tuple(args), owner)
        options = {name: _to_numpy(v, owner) for name, v in kwargs.items()}
        try:
            entry.body(*arrays, **options)
        except CLEAR as clear:
            return clear
    return None


def _to_numpy(value, owner):
    if isinstance(value, list | tuple):
        return type(value)(_to_numpy(v, owner) for v in value)
    return owner.to_numpy(value) if dispatch.owner_of_type(type(value)) is owner else value
