"""A similarity's formula as steps that machine code follows, so that no similarity has to be written a second time.

The formula is traced: `Similarity.of` is called once with stand-ins for numbers, which note what is done to them. A
formula that does something else than the operations below, or decides by its numbers what to do, has no steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import fx

from verale.errors import UsageError
from verale.head import Head, LogRatio, Similarity
from verale.head.geometry import Geometry

__all__ = ["Formula", "formula_of"]

OBSERVED, SCALE, PEAK = range(3)
"""Where the numbers stand with which a formula begins."""

ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, GREATEST, LEAST, GREATER = range(8)
EXP, LOG, LOG1P, EXPM1, SQRT, TANH, MAGNITUDE, CHOOSE = range(8, 16)

_NAMES = {
    "add": ADD,
    "sub": SUBTRACT,
    "mul": MULTIPLY,
    "truediv": DIVIDE,
    "div": DIVIDE,
    "pow": POWER,
    "maximum": GREATEST,
    "minimum": LEAST,
    "gt": GREATER,
    "ge": GREATER,
    "where": CHOOSE,
    "exp": EXP,
    "log": LOG,
    "log1p": LOG1P,
    "expm1": EXPM1,
    "sqrt": SQRT,
    "tanh": TANH,
    "abs": MAGNITUDE,
}
"""Operations of torch that are one step. That `ge` is taken for `gt` matters to no proof."""

_Expression: TypeAlias = tuple[Any, ...]
"""An operation and its operands; ("given", where) or ("constant", number)."""


class Formula(NamedTuple):
    """A similarity.

    Attributes:
        of_distance: whether its observables are squared distances.
        peaked: whether a dissimilarity is the distance from a prototype's peak.
        epsilon: of `LogRatio`, the formula of most published networks, which takes half the time without steps; 0 for
            another one.
        steps: (S, 4) an operation, and where its operands stand in `values`.
        values: (R,) observable, scale, peak, constants, and the results of the steps, the last of which is the
            similarity; without steps it is the observable. Each evaluation overwrites them.
    """

    of_distance: bool
    peaked: bool
    epsilon: float
    steps: NDArray[np.int64]
    values: NDArray[np.float64]


class _UnknownError(Exception):
    """A formula has an operation that is not one of these."""


def formula_of(head: Head) -> Formula:
    """The formula of a head's similarity, with values of its own. Raises UsageError of one that cannot be traced."""
    steps, values = _traced(head.similarity, head.geometry)
    epsilon = head.similarity.epsilon if isinstance(head.similarity, LogRatio) else 0.0
    return Formula(head.geometry.is_distance, "peak" in head.similarity.tensors, epsilon, steps, values.copy())


@cache
def _traced(similarity: Similarity, geometry: Geometry) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    def formula(observed: Any, scale: Any, peak: Any) -> Any:
        return similarity.of(observed, geometry, scale, peak)

    try:
        return _written(_expression(fx.Tracer().trace(formula)))
    except (_UnknownError, fx.proxy.TraceError, TypeError) as error:
        raise UsageError(
            f"similarity {similarity.kind} has no formula that machine code follows ({error}): write its `of` with"
            " operations of verale/search/compiled/formula.py"
        ) from error


def _expression(graph: fx.Graph) -> _Expression:
    known: dict[fx.Node, _Expression] = {}
    given = iter((OBSERVED, SCALE, PEAK))

    def operand(value: Any) -> _Expression:
        if isinstance(value, fx.Node):
            return known[value]
        if isinstance(value, int | float):
            return "constant", float(value)
        raise _UnknownError(f"it has {value!r}")

    for node in graph.nodes:
        if node.op == "placeholder":
            known[node] = "given", next(given)
        elif node.op == "output":
            return operand(node.args[0])
        elif node.op in ("call_function", "call_method"):
            name = node.target if isinstance(node.target, str) else node.target.__name__
            options = {key: operand(value) for key, value in node.kwargs.items() if value is not None}
            known[node] = _applied(name.strip("_"), [operand(each) for each in node.args if each is not None], options)
        else:
            raise _UnknownError(f"it has a {node.op}")
    raise _UnknownError("it returns nothing")


def _applied(name: str, operands: list[_Expression], options: dict[str, _Expression]) -> _Expression:
    """An operation of torch as steps."""
    zero, one = ("constant", 0.0), ("constant", 1.0)
    of, *others = operands
    if name in ("clamp", "clip") and not others[2:]:
        bounds = dict(zip(("min", "max"), others, strict=False)) | options
        below = of if "min" not in bounds else (GREATEST, of, bounds["min"])
        return below if "max" not in bounds else (LEAST, below, bounds["max"])
    if options:
        raise _UnknownError(f"it has {name} with {', '.join(options)}")
    if name in _NAMES:
        return (_NAMES[name], *operands)
    derived: dict[str, Callable[[], _Expression]] = {
        "neg": lambda: (SUBTRACT, zero, of),
        "square": lambda: (MULTIPLY, of, of),
        "reciprocal": lambda: (DIVIDE, one, of),
        "rsqrt": lambda: (DIVIDE, one, (SQRT, of)),
        "relu": lambda: (GREATEST, of, zero),
        "sigmoid": lambda: (DIVIDE, one, (ADD, one, (EXP, (SUBTRACT, zero, of)))),
        "lt": lambda: (GREATER, *reversed(operands)),
        "le": lambda: (GREATER, *reversed(operands)),
    }
    if name not in derived:
        raise _UnknownError(f"it has {name}")
    return derived[name]()


def _written(expression: _Expression) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The steps of an expression, each once, and room for their values."""
    constants: list[float] = []
    ordered: dict[_Expression, None] = {}

    def visit(each: _Expression) -> None:
        if each[0] == "constant":
            constants.append(each[1])
        elif each[0] != "given":
            for operand in each[1:]:
                visit(operand)
            ordered.setdefault(each)

    visit(expression)
    if not ordered and expression != ("given", OBSERVED):
        visit(expression := (ADD, expression, ("constant", 0.0)))
    places: dict[_Expression, int] = {("given", where): where for where in (OBSERVED, SCALE, PEAK)}
    for value in dict.fromkeys(constants):
        places["constant", value] = len(places)
    for each in ordered:
        places[each] = len(places)
    steps = [[each[0], *(places[each[1:][min(at, len(each) - 2)]] for at in range(3))] for each in ordered]
    values = [0.0, 1.0, 0.0, *dict.fromkeys(constants), *[0.0] * len(steps)]
    return np.array(steps, dtype=np.int64).reshape(-1, 4), np.array(values)
