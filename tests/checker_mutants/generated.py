"""Faults that nobody thought of: small changes of the checker's syntax, each a copy of its own.

    PYTHONPATH=tests python -m checker_mutants.generated [--one-in N] [--seed S] [FILE...]

prints every change of the files (by their names in `verale/checker`; all without one) that nothing detects: the tests
that the planted faults of the file name, or the corpora. Some change nothing that can be told from outside, such as the
size of a table that is kept; each is there to be looked at. What is harmful gets a case of the corpora or a test.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import sys
from collections.abc import Iterator

from checker_mutants.faults import FAULTS, Fault
from checker_mutants.mutant import CHECKER
from support import outside
from support.syntax import put

__all__ = ["FILES", "drawn", "main"]

FILES = sorted(path.relative_to(CHECKER).as_posix() for path in CHECKER.rglob("*.py"))
_CORPORA = "corpus/test_corpora.py::test_every_case_gets_its_verdict"
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor_at": "ceil_at", "ceil_at": "floor_at"}
_NAMES |= {"floor_shift": "ceil_shift", "ceil_shift": "floor_shift"}


def drawn(file: str, one_in: int, seed: int) -> list[Fault]:
    """One in so many changes of a file of the checker, and at least one; the same ones of the same source."""
    source = (CHECKER / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    skipped = _out_of_reach(tree)
    changes = [(node, other) for node in ast.walk(tree) if id(node) not in skipped for other in _others(node)]
    some = random.Random(f"{seed} {file}").sample(changes, -(-len(changes) // one_in))
    return [Fault(file, _wrong(node, other), _changed(tree, node, other)) for node, other in some]


def _changed(tree: ast.Module, node: ast.AST, other: ast.AST) -> str:
    changed = put(copy.deepcopy(tree, {id(node): node}), node, other)
    return ast.unparse(ast.fix_missing_locations(changed))


def _wrong(node: ast.AST, other: ast.AST) -> str:
    return f"line {getattr(node, 'lineno', 0)}, {_brief(node)} -> {_brief(other)}"


def _out_of_reach(tree: ast.Module) -> set[int]:
    """The identities of nodes that say nothing to a caller: messages, types, the lists of names, and that lists which
    go together are equally long."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Raise | ast.JoinedStr):
            parts = [node]
        elif isinstance(node, ast.AnnAssign | ast.arg):
            parts = [node.annotation]
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            parts = [node.value]
        elif isinstance(node, ast.FunctionDef):
            parts = [node.returns, *node.decorator_list]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "Statement"):
            parts = [node]
        skipped |= {id(each) for part in parts if part is not None for each in ast.walk(part)}
    return skipped


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What is put in the place of a node."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield ast.Compare(node.left, [*ops[:i], other(), *ops[i + 1 :]], node.comparators)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for i in range(len(values)):
                left = [*values[:i], *values[i + 1 :]]
                yield left[0] if len(left) == 1 else ast.BoolOp(op, left)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.If(body=body, orelse=orelse) | ast.IfExp(body=body, orelse=orelse):
            for value in (True, False):
                yield type(node)(ast.Constant(value), body, orelse)  # type: ignore[arg-type]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            yield ast.BinOp(left, _OPERATIONS[type(op)](), right)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if name in _NAMES:
            yield ast.Call(ast.Name(_NAMES[name], ast.Load()), arguments, keywords)
        case ast.Expr(value=ast.Call() | ast.Yield()):
            yield ast.Pass()


def _brief(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]
    return text if len(text) < 90 else text[:87] + "..."


class _Changed(outside.OutsideFault):
    """A file of the checker as it is after a change."""

    def source(self) -> str:
        return self.change


def undetected(faults: list[Fault]) -> Iterator[Fault]:
    """Those that no test detects of those that the planted faults of their files name, nor the corpora."""
    with outside.a_copy() as folder:
        for fault in faults:
            changed = _Changed(f"checker/{fault.file}", "", fault.wrong, fault.source, "")
            named = {test.partition("[")[0] for *_, test in FAULTS.get(fault.file, ())} - {_CORPORA}
            if outside.detected_by(changed, [*sorted(named), _CORPORA], folder) is None:
                yield fault


def main(arguments: list[str] | None = None) -> int:
    """Print what nothing detects, and how much was tried."""
    parser = argparse.ArgumentParser(prog="python -m checker_mutants.generated")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of verale/checker (default: all)")
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="try one change in so many")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which of them")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="of these each N-th, from the K-th on")
    options = parser.parse_args(arguments)
    first, step = map(int, options.part.split("/"))
    faults = [fault for file in options.files or FILES for fault in drawn(file, options.one_in, options.seed)]
    faults, survivors = faults[first::step], 0
    for fault in undetected(faults):
        survivors += 1
        print(fault, flush=True)
    print(f"{len(faults)} changes, {survivors} to be looked at")
    return 0


if __name__ == "__main__":
    sys.exit(main())
