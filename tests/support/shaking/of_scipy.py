"""scipy's products with sparse matrices, and its solver of linear programmes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from .moves import order
from .of_numpy import chosen, move_result

__all__ = ["shake"]


def shake(module: ModuleType) -> None:
    if module.__name__ == "scipy.optimize":
        module.linprog = _solved(module.linprog)  # type: ignore[attr-defined]
        return
    rows: Any = module._compressed._cs_matrix  # type: ignore[attr-defined]
    for name in ("_matmul_vector", "_matmul_multivector"):
        setattr(rows, name, _product(getattr(rows, name)))


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    """Each row is added in another order."""

    def call(matrix: Any, other: Any) -> Any:
        def mixed(way: int) -> Any:
            index = order(matrix.shape[1], way)
            return function(matrix[:, index].sorted_indices(), other[index])  # a row is added as it is stored

        return chosen(function(matrix, other), mixed) if matrix.shape[1] > 1 else function(matrix, other)

    return call


def _solved(linprog: Callable[..., Any]) -> Callable[..., Any]:
    """The values of a solution are moved by two units in the last place. Which of several solutions it is stays."""

    def call(*arguments: Any, **named: Any) -> Any:
        result = linprog(*arguments, **named)
        for part in (result, *(result.get(name) for name in ("eqlin", "ineqlin", "lower", "upper"))):
            for name in ("fun", "x", "slack", "con", "residual", "marginals"):
                if part is not None and part.get(name) is not None:
                    part[name] = move_result(part[name], 2)
        return result

    return call
