"""Changes of a program by its syntax: how its source is laid out, and what its comments say, does not matter."""

from __future__ import annotations

import ast
from textwrap import dedent

__all__ = ["edited", "put", "replaced"]


def edited(source: str, old: str, new: str) -> str:
    """The program with `new` in the place of `old`: an expression, or a statement or some that follow each other.

    Both are given as Python; an empty `new` takes statements away.

    Raises:
        ValueError: `old` is not there exactly once, so the change would be another one, or none.
        SyntaxError: one of the three is no Python.
    """
    tree, wanted = ast.parse(source), _parsed(old)
    places = [(body, i) for body in _bodies(tree) for i in range(len(body)) if _same(body[i : i + len(wanted)], wanted)]
    nodes = []
    if isinstance(wanted[0], ast.Expr) and not places:
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _same([node], [wanted[0].value])]
    if len(places) + len(nodes) != 1:
        raise ValueError(f"{old!r} is there {len(places) + len(nodes)} times, expected once")
    others = _parsed(new) or [ast.Pass()]
    for body, i in places:
        body[i : i + len(wanted)] = others
    for node in nodes:
        (other,) = others
        if not isinstance(other, ast.Expr):
            raise SyntaxError(f"{new!r} takes the place of an expression")
        put(tree, node, other.value)
    return ast.unparse(ast.fix_missing_locations(tree))


def replaced(source: str, old: str, new: str) -> str:
    """Any text with `new` in the place of `old`. Raises ValueError: `old` is not there exactly once."""
    if (count := source.count(old)) != 1:
        raise ValueError(f"{old!r} is there {count} times, expected once")
    return source.replace(old, new)


def put(tree: ast.AST, node: ast.AST, other: ast.AST) -> ast.AST:
    """The program with one node in the place of another, which is in it."""
    return _Put(node, other).visit(tree)


class _Put(ast.NodeTransformer):
    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self._node, self._other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._node:
            return self._other
        self.generic_visit(node)
        return node


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(dedent(text)).body


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    fields = [value for node in ast.walk(tree) for _, value in ast.iter_fields(node)]
    return [value for value in fields if isinstance(value, list) and value and isinstance(value[0], ast.stmt)]


def _same(nodes: list[ast.stmt] | list[ast.expr], wanted: list[ast.stmt] | list[ast.expr]) -> bool:
    return len(nodes) == len(wanted) and all(map(_equal, nodes, wanted))


def _equal(one: ast.AST, other: ast.AST) -> bool:
    return type(one) is type(other) and ast.dump(one) == ast.dump(other)
