"""Faults that nobody thought of: small changes of the checker's syntax, each a copy of its own.

    python -m verale.soundness.checker_mutants.generated [--one-in N] [--seed S] [FILE...]

prints every change of the files (by their names in `verale/checker`; all without one) that no attack detects. Some
change nothing that can be told from outside, such as the size of a table that is kept; each is there to be looked at.
What is harmful gets a case of the corpora or an attack, and a place among the faults that are planted by hand.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from verale.soundness.checker_mutants.attacks import ATTACKS, detected_by
from verale.soundness.checker_mutants.mutant import CHECKER, Fault

__all__ = ["changes", "main"]

_SECONDS = 60
"""An attack on a copy that loops for ever ends."""
_QUICK = ATTACKS[: next(number for number, (name, _) in enumerate(ATTACKS) if name == "next to the grid")]
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


def changes(file: str) -> list[Fault]:
    """Every change of a file of the checker."""
    source = (CHECKER / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    faults, skipped = [], _out_of_reach(tree)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for other in _others(node):
            changed = _Put(node, other).visit(copy.deepcopy(tree, {id(node): node}))
            text = ast.unparse(ast.fix_missing_locations(changed))
            wrong = f"line {node.lineno}, {_brief(node)} -> {_brief(other)}"  # type: ignore[attr-defined]
            faults.append(Fault(file, wrong, source, text))
    return faults


class _Put(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self._node, self._other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        return self._other if node is self._node else self.generic_visit(node)


def _out_of_reach(tree: ast.Module) -> set[int]:
    """The identities of nodes that say nothing to a caller: messages, types and the lists of names."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Raise | ast.JoinedStr):
            parts = [node]
        elif isinstance(node, ast.AnnAssign | ast.arg):
            parts = [node.annotation]
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


@contextmanager
def _limited() -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {_SECONDS} seconds")

    old = signal.signal(signal.SIGALRM, end)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def main(arguments: list[str] | None = None) -> int:
    """Print what no attack detects, and how much was tried."""
    parser = argparse.ArgumentParser(prog="python -m verale.soundness.checker_mutants.generated")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of verale/checker (default: all)")
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="try one change in so many")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which of them")
    parser.add_argument("--quick", action="store_true", help="leave out the attacks on rules and kernels")
    options = parser.parse_args(arguments)
    every = sorted(path.relative_to(CHECKER).as_posix() for path in CHECKER.rglob("*.py"))
    detected = tried = 0
    for file in options.files or every:
        faults = changes(file)
        faults = random.Random(f"{options.seed} {file}").sample(faults, -(-len(faults) // options.one_in))
        for fault in faults:
            tried += 1
            with _limited():
                found = detected_by(fault, _QUICK if options.quick else ATTACKS)
            detected += found is not None
            if found is None:
                print(f"{fault}", flush=True)
        print(f"{file}: {len(faults)} changes tried", file=sys.stderr, flush=True)
    print(f"{tried} changes, {detected} detected, {tried - detected} to be looked at")
    return 0


if __name__ == "__main__":
    sys.exit(main())
