"""Changes of a program by its syntax: how its source is laid out, and what its comments say, does not matter.

A change is said in one of these forms, with Python in the place of capitals:

    never TEST       the test is false: a branch that is never taken
    always TEST      it is true
    without PART     a statement, an argument, a term, a factor or a condition is left out
    OLD => NEW       an expression, or some statements, for another
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from textwrap import dedent, indent


def changed(source: str, function: str, change: str) -> str:
    """The program with a change (above) in one function: its name, after that of its class and a dot where it has one;
    "" for the whole program. The rest of it stays as it is written.

    Raises:
        ValueError: no such function, or what is changed is not there exactly once, so the change would be another one.
        SyntaxError: a part of the change, or what it makes, is no Python.
    """
    if not function:
        other = _changed(source, change)
        compile(other, "changed", "exec")
        return other
    found = _within(_tree(source), function)
    assert isinstance(found, ast.FunctionDef | ast.ClassDef) and found.end_lineno is not None
    lines, first = source.split("\n"), min(each.lineno for each in (found, *found.decorator_list)) - 1
    block = "class _:\n" if found.col_offset else ""
    other = _changed(block + "\n".join(lines[first : found.end_lineno]), change)
    compile(other, function, "exec")
    body = indent(other.removeprefix(block), " " * (found.col_offset - 4)) if block else other
    return "\n".join([*lines[:first], body, *lines[found.end_lineno :]])


@cache
def _tree(source: str) -> ast.Module:
    """Of many changes of one file; it is not changed."""
    return ast.parse(source)


def _changed(source: str, change: str) -> str:
    verb, _, what = change.strip().partition(" ")
    if verb in ("never", "always"):
        return edited(source, what, str(verb == "always"))
    if verb != "without":
        old, arrow, new = change.partition("=>")
        if not arrow:
            raise ValueError(f"no change as {__name__} has them: {change}")
        return edited(source, old, new)
    tree, (part,) = ast.parse(source), _parsed(what)
    holders = [(node, left) for node in ast.walk(tree) for left in _without(node, part)]
    if len(holders) != 1:
        return edited(source, what, "")
    return ast.unparse(put(tree, *holders[0]))


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
    others = _parsed(new)
    if nodes and not others:
        raise ValueError(f"{old!r} is no statement, and no part that can be left out")
    for body, i in places:
        body[i : i + len(wanted)] = others or [ast.Pass()] * (len(body) == len(wanted))
    for node in nodes:
        (other,) = others
        if not isinstance(other, ast.Expr):
            raise SyntaxError(f"{new!r} takes the place of an expression")
        put(tree, node, other.value)
    return ast.unparse(tree)


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


def _within(tree: ast.AST, function: str) -> ast.AST:
    """The definition of that name. Raises ValueError."""
    for name in filter(None, function.split(".")):
        kinds = ast.FunctionDef | ast.ClassDef
        found = [node for node in ast.iter_child_nodes(tree) if isinstance(node, kinds) and node.name == name]
        if len(found) != 1:
            raise ValueError(f"{function} is there {len(found)} times, expected once")
        (tree,) = found
    return tree


def _without(node: ast.AST, part: ast.stmt) -> Iterator[ast.AST]:
    """What takes the place of a node where a part of it, an expression, is left out."""
    if not isinstance(part, ast.Expr):
        return
    wanted = part.value
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (other for one, other in ((left, right), (right, left)) if _equal(one, wanted))
        case ast.BoolOp(op=op, values=values) if any(_equal(each, wanted) for each in values):
            left_over = [each for each in values if not _equal(each, wanted)]
            yield left_over[0] if len(left_over) == 1 else ast.BoolOp(op, left_over)
        case ast.Call(func=func, args=arguments, keywords=keywords) if any(_equal(each, wanted) for each in arguments):
            yield ast.Call(func, [each for each in arguments if not _equal(each, wanted)], keywords)


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(dedent(text).strip()).body


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    fields = [value for node in ast.walk(tree) for _, value in ast.iter_fields(node)]
    return [value for value in fields if isinstance(value, list) and value and isinstance(value[0], ast.stmt)]


def _same(nodes: list[ast.stmt] | list[ast.expr], wanted: list[ast.stmt] | list[ast.expr]) -> bool:
    return len(nodes) == len(wanted) and all(map(_equal, nodes, wanted))


def _equal(one: ast.AST, other: ast.AST) -> bool:
    """Whether two programs, or parts of them, are the same but for their places."""
    return type(one) is type(other) and ast.dump(one) == ast.dump(other)
