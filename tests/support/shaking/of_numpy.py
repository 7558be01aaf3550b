"""numpy's products, sums and solutions, and its functions.

Its array is a type of C, whose methods and operators no assignment reaches: `@` is sent through Python's own slot, and
a sum through the function of Python that numpy itself calls. Running sums are added one by one, by their definition.
Functions such as `np.exp` stay what they are, since other libraries take them apart: modules call them by another name.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from .moves import WAYS, choose, move, order, take

__all__ = ["chosen", "functions", "move_result", "shake"]

Array = Any


def shake(module: ModuleType) -> None:
    numpy: Any = module
    core, linalg = numpy._core, numpy.linalg
    _shake_products(numpy)
    core._methods.umr_sum = _reduced(core._methods.umr_sum)
    core._methods.umr_prod = _reduced(core._methods.umr_prod)
    core.fromnumeric._wrapreduction = _wrapped(core.fromnumeric._wrapreduction)
    linalg.norm = _normed(linalg.norm)
    linalg._linalg._umath_linalg = _Namespace(
        linalg._linalg._umath_linalg, solve=_solve, solve1=_solve, inv=_inv, **dict.fromkeys(_MOVED, _moved)
    )


def functions(numpy: Any) -> ModuleType:
    """numpy with functions that are moved, for modules of Python."""
    shaken = _Numpy("numpy")
    vars(shaken).update({name: _function(getattr(numpy, name)) for name in _FUNCTIONS})
    shaken.matmul = _product(numpy.matmul)  # type: ignore[attr-defined]
    return shaken


_FUNCTIONS = (
    *("arccos", "arcsin", "arctan", "arctan2", "cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p"),
    *("log2", "logaddexp", "sin", "sinh", "tan", "tanh"),
)


class _Numpy(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **named: move_result(function(*arguments, **named))


def move_result(result: Any, most: int = 1) -> Any:
    """A result, or several, moved by at most so many units in the last place."""
    if isinstance(result, tuple):
        return tuple(move_result(each, most) for each in result)
    if isinstance(result, np.ndarray):
        move(result, most)
        return result
    if isinstance(result, np.floating):
        values = np.array([result])
        move(values, most)
        return values[0]
    return result


def chosen(result: Any, other: Callable[[int], Any]) -> Any:
    """One of the results that WAYS other orders of the terms give."""
    if not isinstance(result, np.ndarray | np.floating):
        return result  # it is left to another type to multiply
    array = np.array([result]) if isinstance(result, np.floating) else result
    choose(array, [np.asarray(other(way)).reshape(array.shape) for way in range(WAYS)])
    return array[0] if isinstance(result, np.floating) else array


class _Namespace:
    """A module with some functions in place of its own; each is given the one that it replaces."""

    def __init__(self, module: ModuleType, **functions: Callable[..., Any]) -> None:
        self._module = module
        for name, function in functions.items():
            setattr(self, name, _bound(function, getattr(module, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _bound(function: Callable[..., Any], original: Any) -> Callable[..., Any]:
    return lambda *arguments, **named: function(original, *arguments, **named)


def _is_float(*arrays: Any) -> bool:
    return all(isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim for array in arrays)


# Products


def _shake_products(numpy: Any) -> None:
    numpy.dot, numpy.inner = _product(numpy.dot), _product(numpy.inner, -1)
    numpy._core.numeric.dot = numpy.dot  # which tensordot calls
    kind = numpy.ndarray
    _set_methods(
        kind,
        __matmul__=_product(kind.__matmul__),
        __rmatmul__=_turned(_product(_turned(kind.__rmatmul__))),
        dot=_product(kind.dot),
    )


def _product(function: Callable[..., Any], at: int = -2) -> Callable[..., Any]:
    """Products are added in another order, along the left factor's last dimension and this one of the right factor."""

    def call(left: Any, right: Any, *arguments: Any, **named: Any) -> Any:
        count, axis = (np.shape(left) or (1,))[-1], max(at, -np.ndim(right))
        if not _is_float(left, right) or count < 2 or count != right.shape[axis]:
            return function(left, right, *arguments, **named)

        def mixed(way: int) -> Any:
            index = order(count, way)
            return function(left.take(index, -1), right.take(index, axis))

        others = [mixed(way) for way in range(WAYS)]  # before the result, which may be written over a factor
        return chosen(function(left, right, *arguments, **named), others.__getitem__)

    return call


def _turned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: function(other, one)


_AS_NUMBER = 12
_MATRIX_MULTIPLY = 34
"""Where a type of CPython has its numeric operators, and these have `@`, counted in pointers."""


def _set_methods(kind: type, **methods: Callable[..., Any]) -> None:
    """Methods of a type of C in place of its own, and `@` by them, as it is for a class of Python."""
    gc.get_referents(kind.__dict__)[0].update(methods)  # the dictionary behind the view of it
    of_python = type("of_python", (), {"__matmul__": lambda self, other: NotImplemented})
    _operators(kind)[_MATRIX_MULTIPLY] = _operators(of_python)[_MATRIX_MULTIPLY]
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _operators(kind: type) -> Any:
    pointers = ctypes.POINTER(ctypes.c_void_p)
    table = ctypes.cast(id(kind), pointers)[_AS_NUMBER]
    return ctypes.cast(table, pointers)


# Sums


def _other_orders(array: Array, axis: Any) -> list[Array]:
    """An array with its terms along the axes in other orders; two terms have none."""
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if np.prod([array.shape[each] for each in axes]) < 3:
        return []
    arrays = []
    for way in range(WAYS):
        mixed = array
        for each in axes:
            mixed = mixed.take(order(array.shape[each], way), each) if array.shape[each] > 1 else mixed
        arrays.append(mixed)
    return arrays


def _summed(function: Callable[[Array], Any], array: Any, axis: Any, is_shaken: bool) -> Any:
    mixed = _other_orders(array, axis) if is_shaken and _is_float(array) else []
    return chosen(function(array), lambda way: function(mixed[way])) if mixed else function(array)


def _reduced(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """What sums and means of arrays call."""

    def call(array: Any, axis: Any = None, dtype: Any = None, out: Any = None, *arguments: Any, **named: Any) -> Any:
        is_plain = out is None and all(each is True for each in (*arguments[2:], named.get("where", True)))
        return _summed(lambda each: reduce(each, axis, dtype, out, *arguments, **named), array, axis, is_plain)

    return call


def _wrapped(reduction: Callable[..., Any]) -> Callable[..., Any]:
    """What `np.sum` and `np.prod` call."""

    def call(array: Any, ufunc: Any, method: str, axis: Any, dtype: Any, out: Any, **named: Any) -> Any:
        is_plain = method in ("sum", "prod") and type(array) is np.ndarray and out is None
        is_plain = is_plain and named.get("where", np._NoValue) is np._NoValue
        return _summed(lambda each: reduction(each, ufunc, method, axis, dtype, out, **named), array, axis, is_plain)

    return call


def _normed(norm: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        is_sum = ord in (None, 1, 2) and (ord is None or np.ndim(x) == 1 or isinstance(axis, int))
        return _summed(lambda each: norm(each, ord, axis, keepdims), x, axis, is_sum)

    return call


# Solutions

_MOVED = (
    *("cholesky_lo", "cholesky_up", "det", "eigh_lo", "eigh_up", "lstsq", "qr_r_raw", "qr_reduced", "svd", "svd_f"),
    "svd_s",
)


def _moved(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return move_result(function(*arguments, **named), 2)


def _solve(function: Callable[..., Any], matrix: Any, right: Any, **named: Any) -> Any:
    """With unknowns and equations in another order."""
    index, result = order(matrix.shape[-1], 0), function(matrix, right, **named)
    back, is_vector = np.argsort(index), function.__name__ == "solve1"
    with suppress(np.linalg.LinAlgError):  # it is singular for another order alone
        mixed = function(_both(matrix, index), right[..., index] if is_vector else right[..., index, :], **named)
        take(result, mixed[..., back] if is_vector else mixed[..., back, :])
    return result


def _inv(function: Callable[..., Any], matrix: Any, **named: Any) -> Any:
    """With rows and columns in another order."""
    index, result = order(matrix.shape[-1], 0), function(matrix, **named)
    with suppress(np.linalg.LinAlgError):
        take(result, _both(function(_both(matrix, index), **named), np.argsort(index)))
    return result


def _both(matrix: Any, index: Any) -> Any:
    return matrix[..., index, :][..., index]
