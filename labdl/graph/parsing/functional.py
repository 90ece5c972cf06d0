"""Functions and methods of another framework in a forward, as layers of the class or operators of LabDL."""

from __future__ import annotations

import ast
from collections.abc import Callable

from labdl.interop.names import functional

_FUNCTION_MODULES = ("torch", "torch.nn.functional")
_SIZES = ("view", "reshape")


class FunctionCalls:
    """Rewrites calls such as ``F.max_pool2d(x, 2)`` in one class.

    ``layer_of`` returns the constructor of a class of the framework by its name; ``add`` holds a layer in the class and
    returns the expression for it.
    """

    def __init__(self, layer_of: Callable[[str], ast.expr], add: Callable[[str, ast.Call], ast.expr]):
        self._layer_of, self._add = layer_of, add

    def rewrite(self, call: ast.Call, path: str | None) -> ast.AST | None:
        """The call in LabDL's words; None for another one. ``path`` is the dotted name of a function of the framework."""
        if path is None:
            return self._method(call)
        module, _, name = path.rpartition(".")
        if module in ("keras.layers", "tensorflow.keras.layers"):
            return self._keras(call, name)
        if module not in _FUNCTION_MODULES or not call.args:
            return None
        if name in functional.LAYERS:
            return self._layer(call, functional.LAYERS[name], name, call.args[0], call.args[1:])
        if name in functional.OPERATORS:
            return self._operator(call, functional.OPERATORS[name], call.args)
        return None

    def _method(self, call: ast.Call) -> ast.AST | None:
        match call.func:
            case ast.Attribute(value=ast.Name(id="self")):
                return None  # a layer of the class
            case ast.Attribute(value=value, attr=name) if not _of_self(value):
                pass
            case _:
                return None
        if name in _SIZES and len(call.args) > 1 and not call.keywords and _is_batch(call.args[0]):
            return self._resize(call, value, call.args[1:])
        if name == "contiguous" and not call.args:
            return value
        if name == "permute" and call.args and not call.keywords:
            axes = call.args if len(call.args) > 1 else [call.args[0]]
            permutation = ast.Tuple(axes, ast.Load()) if len(axes) > 1 else axes[0]
            return self._operator(call, functional.Operator("permute_dims"), [value, permutation])
        if name in functional.METHODS:
            return self._layer(call, functional.METHODS[name], name, value, call.args)
        if name in functional.METHOD_OPERATORS:
            return self._operator(call, functional.OPERATORS[name], [value, *call.args])
        return None

    def _resize(self, call: ast.Call, x: ast.expr, sizes: list[ast.expr]) -> ast.AST | None:
        """``x.view(x.size(0), -1)`` is a Flatten, with sizes it is a Reshape of each sample."""
        numbers = [_number(size) for size in sizes]
        if numbers == [-1]:
            return self._layer(call, "Flatten", "flatten", x, [])
        if None in numbers:
            return None
        shape = ast.Tuple(sizes, ast.Load())
        return self._layer(call, "Reshape", "reshape", x, [shape])

    def _layer(self, call: ast.Call, kind: str, name: str, x: ast.expr, settings: list[ast.expr]) -> ast.AST:
        settings = settings[: functional.MOST_SETTINGS.get(name, len(settings))]
        keywords = [k for k in call.keywords if k.arg not in functional.SWITCHES]
        layer_call = ast.copy_location(ast.Call(self._layer_of(kind), settings, keywords), call)
        return ast.copy_location(ast.Call(self._add(name, layer_call), [x], []), call)

    def _operator(self, call: ast.Call, operator: functional.Operator, arguments: list[ast.expr]) -> ast.AST:
        tensors = len(arguments) - len(operator.arguments)
        if operator.arguments:
            tensors = 1
        keywords = [
            ast.keyword(name, value) for name, value in zip(operator.arguments, arguments[tensors:], strict=False)
        ]
        renamed = dict(operator.renamed)
        keywords += [ast.keyword(renamed.get(str(k.arg), k.arg), k.value) for k in call.keywords]
        function = ast.Attribute(ast.Name("ops", ast.Load()), operator.name, ast.Load())
        return ast.copy_location(ast.Call(function, arguments[:tensors], keywords), call)

    def _keras(self, call: ast.Call, name: str) -> ast.AST | None:
        match call.args:
            case [ast.List(elts=items) | ast.Tuple(elts=items)] if name in functional.KERAS_LISTS and len(items) > 1:
                pass
            case _:
                return None
        function = ast.Attribute(ast.Name("ops", ast.Load()), functional.KERAS_LISTS[name], ast.Load())
        if name == "concatenate":
            axis = next((k.value for k in call.keywords if k.arg == "axis"), ast.Constant(-1))
            return ast.copy_location(ast.Call(function, [call.args[0]], [ast.keyword("axis", axis)]), call)
        result = items[0]
        for item in items[1:]:
            result = ast.copy_location(ast.Call(function, [result, item], []), call)
        return result


def _is_batch(node: ast.expr) -> bool:
    """``-1``, ``x.size(0)``, ``x.shape[0]`` and ``len(x)``: the samples of a batch."""
    match node:
        case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)]):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
    return _number(node) == -1


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def _of_self(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("self", "nn")
