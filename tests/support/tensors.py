"""Tensors of exact numbers, on which the formulas of `verale.head` compute: the search's own, without its rounding.

`Exact` has the operations of torch that these formulas use, on Fractions or on balls; a formula with another operation
fails with an AttributeError or a KeyError. Mixed operands become balls. A comparison that no ball decides raises
ValueError. Call what makes balls within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isinf
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import torch
from support.arithmetic import ball, ends


class Exact:
    """A tensor: of balls, if any entry is one or infinite, else of Fractions or of truth values.

    Args:
        values: a tensor, an array, nested lists, or a number.
    """

    device = torch.device("cpu")

    def __init__(self, values: Any) -> None:
        array = np.asarray(values.tolist() if isinstance(values, torch.Tensor) else values, dtype=object)
        kinds = set(map(type, array.flat))
        if flint.arb in kinds or (float in kinds and any(map(_is_infinite, array.flat))):
            array = array if kinds == {flint.arb} else _each(ball, array)
        elif not kinds <= {bool, Fraction}:
            array = _each(lambda each: each if isinstance(each, bool) else Fraction(each), array)
        self.array = array

    @classmethod
    def __torch_function__(cls, function: Any, types: object, values: Any = (), options: Any = None) -> Any:
        return _FUNCTIONS[function.__name__](*values, **(options or {}))

    # Shapes.

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def T(self) -> Exact:  # noqa: N802, as torch has it
        return Exact(self.array.T)

    def __getitem__(self, index: Any) -> Exact:
        return Exact(self.array[index])

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Exact]:
        return map(Exact, self.array)

    def numel(self) -> int:
        return int(self.array.size)

    def split(self, size: int) -> list[Exact]:
        return [self[start : start + size] for start in range(0, len(self), size)]

    def new_tensor(self, value: Any) -> Exact:
        return Exact(value)

    def tolist(self) -> Any:
        return self.array.tolist()

    # Arithmetic.

    def __add__(self, other: Any) -> Exact:
        return _paired(operator.add, self, other)

    def __sub__(self, other: Any) -> Exact:
        return _paired(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Exact:
        return _paired(operator.sub, other, self)

    def __mul__(self, other: Any) -> Exact:
        return _paired(operator.mul, self, other)

    def __truediv__(self, other: Any) -> Exact:
        return _paired(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Exact:
        return _paired(operator.truediv, other, self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Exact:
        return Exact(-self.array)

    def __matmul__(self, other: Exact) -> Exact:
        return _paired(lambda a, b: a * b, self[..., None, :], other.T).sum(-1)

    def square(self) -> Exact:
        return Exact(self.array * self.array)

    def abs(self) -> Exact:
        return Exact(_each(abs, self.array))

    def sqrt(self) -> Exact:
        return Exact(_each(lambda each: ball(each).sqrt(), self.array))

    def exp(self) -> Exact:
        return Exact(_each(lambda each: ball(each).exp(), self.array))

    def log1p(self) -> Exact:
        return Exact(_each(lambda each: (1 + ball(each)).log(), self.array))

    def sum(self, dim: int, keepdim: bool = False) -> Exact:
        return Exact(np.sum(self.array, axis=dim, keepdims=keepdim))

    def mean(self, dim: int) -> Exact:
        return self.sum(dim) / self.shape[dim]

    def norm(self, dim: int, keepdim: bool = False) -> Exact:
        return self.square().sum(dim, keepdim).sqrt()

    # Order.

    def __ge__(self, other: Any) -> Exact:
        return _paired(_compared(operator.ge, operator.lt), self, other)

    def __gt__(self, other: Any) -> Exact:
        return _paired(_compared(operator.gt, operator.le), self, other)

    def clamp(self, min: float) -> Exact:
        return _paired(_greater, self, min)

    def amax(self, dim: int, keepdim: bool = False) -> Exact:
        return Exact(np.frompyfunc(_greater, 2, 1).reduce(self.array, axis=dim, keepdims=keepdim))

    def masked_fill(self, mask: torch.Tensor, value: float) -> Exact:
        return _where(Exact(mask), value, self)

    def topk(self, count: int, dim: int) -> SimpleNamespace:
        """The greatest in order. Each round takes the maximum out by comparing pairs, so the results enclose the true
        order statistics even where balls overlap."""
        left, taken = list(np.moveaxis(self.array, dim, 0)), []
        for _ in range(count):
            highest, *others = left
            left = []
            for each in others:
                left.append(_each(_less, highest, each))
                highest = _each(_greater, highest, each)
            taken.append(highest)
        return SimpleNamespace(values=Exact(np.moveaxis(np.array(taken, dtype=object), 0, dim)))


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and isinf(value)


def _each(function: Callable[..., Any], *arrays: Any) -> Any:
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)


def _paired(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Exact:
    """Entry by entry; both become balls where one of them has some."""
    one, other = (each if isinstance(each, Exact) else Exact(each) for each in (left, right))
    arrays = [one.array, other.array]
    of_balls = [each.size > 0 and isinstance(each.flat[0], flint.arb) for each in arrays]
    if any(of_balls):
        arrays = [each if known else _each(ball, each) for each, known in zip(arrays, of_balls, strict=True)]
    return Exact(_each(function, *arrays))


def _compared(holds: Callable[[Any, Any], Any], fails: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def decided(left: Any, right: Any) -> bool:
        if not holds(left, right) and not fails(left, right):
            raise ValueError("two numbers cannot be compared at this precision")
        return bool(holds(left, right))

    return decided


def _greater(left: Any, right: Any) -> Any:
    return left.max(right) if isinstance(left, flint.arb) else max(left, right)


def _less(left: Any, right: Any) -> Any:
    return left.min(right) if isinstance(left, flint.arb) else min(left, right)


def _where(condition: Exact, chosen: Any, other: Any) -> Exact:
    first, second = (each if isinstance(each, Exact) else Exact(each) for each in (chosen, other))
    return Exact(_each(lambda holds, one, two: one if holds else two, condition.array, first.array, second.array))


def _softmax(values: Exact, dim: int) -> Exact:
    """1 / sum_i exp(z_i - z_j) over the last axis, which no size of z overflows."""
    return 1 / (values[..., None, :] - values[..., :, None]).exp().sum(dim)


def _frexp(values: Exact) -> tuple[Exact, None]:
    """The mantissas, as torch has them: in size from 1/2 to 1, but for a ball's about twice that. That of 0 is 1/2."""

    def mantissa(value: Any) -> Any:
        end = ends(value)[1]
        power = Fraction(2) ** (end.numerator.bit_length() - end.denominator.bit_length())
        return ball(value) / ball(power) if end else ball(0.5)

    return Exact(_each(mantissa, values.array)), None


def _joined(values: Sequence[Exact], dim: int = 0) -> Exact:
    return Exact(np.concatenate([each.array for each in values], axis=dim))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "to": lambda tensor, like: Exact(tensor),
    "stack": lambda values: Exact(np.stack([each.array for each in values])),
    "cat": _joined,
    "where": _where,
    "exp": Exact.exp,
    "log1p": Exact.log1p,
    "softmax": _softmax,
    "frexp": _frexp,
}
"""Functions of torch, and methods of its tensors that take exact ones, by their names."""
