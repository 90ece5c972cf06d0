"""Source of another framework as source of LabDL: its imports, classes and layers, by the tables of `labdl.interop.names`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from labdl import nn
from labdl.errors import ConfigError, suggest_name
from labdl.graph.codegen.calls import Names
from labdl.graph.parsing.functional import FunctionCalls
from labdl.graph.parsing.grammar import is_name, refuse
from labdl.interop import names
from labdl.interop.names import Reading
from labdl.nn import foreign
from labdl.ops import OPERATORS

_ROOTS = {
    module.partition(".")[0]: framework for framework, each in names.FRAMEWORKS.items() for module in each.modules
}
_ROOTS["tensorflow"] = "tensorflow"
_MODULES = {module: framework for framework, each in names.FRAMEWORKS.items() for module in each.modules}
_MODULES |= {"keras": "tensorflow", "keras.models": "tensorflow"}
_CONTAINERS = {
    **dict.fromkeys(("Module", "Layer", "Cell", "Model"), "Module"),
    **dict.fromkeys(("Sequential", "SequentialCell"), "Sequential"),
    **dict.fromkeys(("ModuleList", "LayerList", "CellList"), "ModuleList"),
    **dict.fromkeys(("ModuleDict", "LayerDict", "CellDict"), "ModuleDict"),
}
_INPUTS = ("Input", "InputLayer")
_FORWARD = ("call", "construct")  # names of a module's forward in Keras and MindSpore
_OF_MODELS = ("build", "compile", "summary", "fit", "evaluate", "eval", "train")  # calls that say nothing of the layers
_ACTIVATION = "Activation"
_FUNCTIONS = ("relu", "relu6", "selu", "sigmoid", "silu", "softsign", "tanh")  # of one tensor, the same everywhere
Constructors = dict[str, Callable]


def to_labdl(tree: ast.Module) -> tuple[ast.Module, Constructors]:
    """The source with ``nn.Linear`` and so on for the layers of the framework that it imports, and what they create.

    Source that imports no other framework is unchanged. Raises ReadingError, with the line, for a class that LabDL has no
    equal layer for.
    """
    reader, own = _Reader(), None
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            reader.add_import(statement)
            own = own or (statement if str(getattr(statement, "module", "")).startswith("labdl") else None)
    if reader.framework is None:
        return tree, {}
    body = [statement for statement in map(reader.statement, tree.body) if statement is not None]
    changed = reader.visit(ast.Module(body, []))
    if own is not None and reader.constructors:
        refuse(own, f"layers of labdl and of {names.FRAMEWORKS[reader.framework].title}: a source has those of one")
    return ast.fix_missing_locations(changed), reader.constructors


class _Reader(ast.NodeTransformer):
    def __init__(self):
        self.framework: str | None = None
        self.paths: dict[str, str] = {}  # what an imported name stands for, such as "torch.nn"
        self.constructors: Constructors = {}
        self.models: set[str] = set()  # variables with models of Keras
        self.names: Names | None = None  # attributes of the class that is being read
        self.added: list[ast.stmt] = []  # layers that it holds for functions of its forward
        self.functions = FunctionCalls(self._layer_of, self._add_layer)

    # -- statements

    def add_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            module = alias.name if isinstance(statement, ast.Import) else f"{statement.module}.{alias.name}"
            framework = _ROOTS.get(module.partition(".")[0])
            if framework is None:
                continue
            if self.framework is not None and self.framework != framework:
                both = " and of ".join(names.FRAMEWORKS[each].title for each in (self.framework, framework))
                refuse(statement, f"layers of {both}: a source has those of one")
            self.framework = framework
            bound = alias.asname or alias.name.partition(".")[0]
            self.paths[bound] = module if alias.asname or isinstance(statement, ast.ImportFrom) else bound

    def statement(self, statement: ast.stmt) -> ast.stmt | None:
        """A statement of the source; None for imports of the framework, and for what says nothing of the layers."""
        match statement:
            case ast.Import() | ast.ImportFrom():
                root = getattr(statement, "module", None) or statement.names[0].name
                return None if root.partition(".")[0] in (*_ROOTS, "collections") else statement
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function) as call):
                kind = self._class(function)
                if kind in _INPUTS or kind == "Model":
                    self.models.add(name)
                    return None
                if kind == "Sequential":
                    self.models.add(name)
                    return None if not call.args and not call.keywords else statement
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments)):
                if name in self.models and method == "add" and len(arguments) == 1:
                    if isinstance(arguments[0], ast.Call) and self._class(arguments[0].func) in _INPUTS:
                        return None
                    return ast.copy_location(ast.Expr(arguments[0]), statement)
                if name in self.models and method in _OF_MODELS:
                    return None
        return statement

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        held = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and is_name(part.value, "self")}
        self.names, self.added = Names(*held), []
        self.generic_visit(node)
        if self.added:
            begin = next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
            if begin is None:
                begin = ast.FunctionDef("__init__", _self_alone(), ast.parse("super().__init__()").body, [])
                node.body.insert(0, ast.copy_location(begin, node))
            begin.body += self.added
        self.names, self.added = None, []
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in _FORWARD:
            node.name = "forward"
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    # -- expressions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
            return node
        function = (self._path(node.func) or "").rpartition(".")[2]
        if function in _FUNCTIONS and len(node.args) == 1 and not node.keywords:
            operator = ast.Attribute(ast.Name("ops", ast.Load()), function, ast.Load())
            return ast.copy_location(ast.Call(operator, [self.visit(node.args[0])], []), node)
        rewritten = self.functions.rewrite(node, self._path(node.func))
        if rewritten is not None:
            is_inner = rewritten is getattr(node.func, "value", None)  # of a method that changes nothing
            return self.visit(rewritten) if is_inner else self._visit_parts(rewritten)  # type: ignore[arg-type]
        kind = self._class(node.func)
        if _CONTAINERS.get(kind or "") == "Sequential":
            node.args = [self._value(item) for item in self._items(node.args) if not self._is_input(item)]
            node.keywords = [k for k in node.keywords if k.arg != "name"]
        node.keywords = [k for k in node.keywords if k.arg != "training"]
        after = next((k for k in node.keywords if k.arg == "activation" and kind and kind != _ACTIVATION), None)
        entry = names.activation(str(self.framework))
        if entry and after is not None and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            node.keywords.remove(after)
            reading = Reading(str(self.framework), _ACTIVATION, entry)
            self.constructors[_ACTIVATION] = functools.partial(_create, reading)
            then = ast.Call(_of_nn(_ACTIVATION), [after.value], [])
            pair = ast.Call(_of_nn("Sequential"), [self.generic_visit(node), then], [])  # type: ignore[list-item]
            return ast.copy_location(pair, node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._resolve(node) or self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._resolve(node) or node

    def _resolve(self, node: ast.Attribute | ast.Name) -> ast.AST | None:
        path = self._path(node)
        if path is None or path in _MODULES:
            return None
        module, _, name = path.rpartition(".")
        framework = str(self.framework)
        entry = names.functions(framework).get(name) if module in names.FRAMEWORKS[framework].function_modules else None
        if entry is not None:
            self.constructors[name] = functools.partial(_change, Reading(framework, name, entry))
            return ast.copy_location(_of_nn(name), node)
        if module not in _MODULES:
            function = path.rpartition(".")[2]
            hint = f": write ops.{function}" if function in OPERATORS else ""
            refuse(node, f"{path} is not a layer{hint}")
        if name in _CONTAINERS:
            return ast.copy_location(_of_nn(_CONTAINERS[name]), node)
        entry = names.classes(_MODULES[module]).get(name)
        if entry is None:
            refuse(node, f"{path} is not a layer{suggest_name(name, names.classes(_MODULES[module]))}")
        reading = Reading(_MODULES[module], name, entry)
        if not entry.equal:
            refuse(node, foreign.describe(reading))
        self.constructors[name] = functools.partial(_create, reading)
        return ast.copy_location(_of_nn(name), node)

    def _visit_parts(self, call: ast.Call) -> ast.AST:
        """Visit the arguments of a call whose function is LabDL's already."""
        call.args = [self.visit(argument) for argument in call.args]
        for keyword in call.keywords:
            keyword.value = self.visit(keyword.value)
        return call

    def _layer_of(self, kind: str) -> ast.expr:
        framework = str(self.framework)
        entry = names.classes(framework).get(kind)
        if entry is None or not entry.equal:
            self.constructors[kind] = getattr(nn, kind)
        else:
            self.constructors[kind] = functools.partial(_create, Reading(framework, kind, entry))
        return _of_nn(kind)

    def _add_layer(self, name: str, call: ast.Call) -> ast.expr:
        """The layer as an attribute of the class; the constructor itself where there is no class."""
        call = self._visit_parts(call)  # type: ignore[assignment]
        if self.names is None:
            return call
        word = self.names.new(name)
        held = ast.Attribute(ast.Name("self", ast.Load()), word, ast.Store())
        self.added.append(ast.copy_location(ast.Assign([held], call), call))
        return ast.Attribute(ast.Name("self", ast.Load()), word, ast.Load())

    # -- parts

    def _path(self, node: ast.AST) -> str | None:
        """The dotted name in the framework of an expression such as ``nn.Linear``."""
        words: list[str] = []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.paths:
            return None
        whole = ".".join([self.paths[node.id], *reversed(words)])
        return f"{whole}.".replace("tensorflow.keras.", "keras.").rstrip(".")

    def _class(self, node: ast.AST) -> str | None:
        """Name of the framework's class that an expression stands for."""
        module, _, name = (self._path(node) or "").rpartition(".")
        return name if module in _MODULES else None

    def _is_input(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._class(node.func) in _INPUTS

    def _items(self, arguments: list[ast.expr]) -> list[ast.expr]:
        """The layers of a container: its arguments, or those of the list or the OrderedDict that is its only argument."""
        match arguments:
            case [ast.List(elts=items) | ast.Tuple(elts=items)]:
                return items
            case [ast.Call(func=ast.Name(id="OrderedDict"), args=[ast.List(elts=items)])]:
                return items
        return arguments

    def _value(self, item: ast.expr) -> ast.expr:
        """A layer, without the name that it has in a pair."""
        match item:
            case ast.Tuple(elts=[ast.Constant(value=str()), layer]):
                return layer
        return item


def _create(reading: Reading, *args, **kwargs):
    return foreign.create(reading, args, kwargs)


def _change(reading: Reading, *args, **kwargs):
    """The layer, changed by a function of `labdl.nn`."""
    try:
        [(name, settings)] = reading.entry.translate(args, kwargs)
    except ConfigError as error:
        raise ConfigError(f"{reading}: {error}") from None
    return getattr(nn, name)(**settings)


def _self_alone() -> ast.arguments:
    return ast.arguments([], [ast.arg("self")], None, [], [], None, [])


def _of_nn(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("nn", ast.Load()), name, ast.Load())
