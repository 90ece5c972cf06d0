"""Attributes whose names are no identifiers of Python, in source that is read."""

from __future__ import annotations

import ast


class AttributeTransformer(ast.NodeTransformer):
    """Replaces ``getattr(self, "1conv")`` and ``setattr(self, "1conv", layer)`` by attributes, whose rules then apply."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("getattr"), [owner, ast.Constant(str(name))], []):
                return ast.copy_location(ast.Attribute(owner, name, ast.Load()), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Name("setattr"), [ast.Name("self") as owner, ast.Constant(str(name)), value], []):
                target = ast.copy_location(ast.Attribute(owner, name, ast.Store()), node)
                return ast.copy_location(ast.Assign([target], value), node)
        return node
