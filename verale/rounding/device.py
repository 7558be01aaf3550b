"""A device is examined before it is trusted: what bounds take for granted of its float64, at the ends of its ranges.

Whatever a device computes is compared with exact rationals, or with 300 bits where it is irrational:

- + - * /, and `root`, are rounded to the nearest, also of subnormal numbers, and overflow to infinity;
- `up` and `down` give the next number;
- a product and then a difference are rounded twice: not if they are fused to one operation;
- exponents of numbers are exact;
- exp, log, log1p and torch's own square root are off by no more than `TRANSCENDENTAL_ULPS`;
- products of matrices and sums are off by no more than `gamma` allows, whatever cancels and however far apart the
  factors lie: not if they are computed in float32 or TF32, or put together of slices of whole rows, as libraries
  emulate float64 on units for fewer bits.

It is an examination, not a proof: no device is tried on all numbers. It finds what is wrong in kind, such as subnormal
numbers that are taken for 0 (`torch.set_flush_denormal`), or a fast mode that rounds otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import torch
from torch import Tensor

from verale.errors import UsageError, first_line, option
from verale.rounding.enclosure import TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, down, gamma, root, up

OPERATIONS: Mapping[str, Callable[..., Tensor]] = {
    "addition": torch.add,
    "subtraction": torch.sub,
    "multiplication": torch.mul,
    "division": torch.div,
    "root": root,
    "up": up,
    "down": down,
    "product and difference": lambda one, other, third: one * other - third,
    "exponent": lambda values: torch.frexp(values).exponent.double(),
    "sqrt": torch.sqrt,
    "exp": torch.exp,
    "log": torch.log,
    "log1p": torch.log1p,
    "matrix product": torch.matmul,
    "batched product": lambda one, other: torch.bmm(one[None], other[None])[0],
    "sum of products": lambda one, other: (one[:, :, None] * other).sum(1),
}
"""What is examined, by name."""

_LARGEST, _LEAST = float.fromhex("0x1.fffffffffffffp+1023"), 2.0**-1074
_ENDS = (
    *(0.0, _LEAST, 3 * _LEAST, UNDERFLOW - _LEAST, UNDERFLOW, 1.5 * UNDERFLOW, 2.0**-537, 1 / 3, 1 - UNIT),
    *(1.0, 1 + 2 * UNIT, 2.0**53 - 1, 1.1 * 2.0**511, 2.0**1023, _LARGEST),
)
"""Subnormal numbers, and those beside them; those whose products and sums are subnormal, exact, ties, or overflow."""
_EXPONENTS = (-746.0, -745.1, -744.0, -708.4, -37.0, -1.0, -(2.0**-54), 0.0, 2.0**-1074, 1e-9, 709.7, 709.79, 1.0)
_ABOVE_MINUS_ONE = (0.0, _LEAST, UNDERFLOW, 1e-300, 1e-17, 2.0**-27, 0.4142, 1e4, 2.0**53, 1e300, _LARGEST, 3.0, 1.0)
_POSITIVE = (_LEAST, UNDERFLOW, 1e-300, 0.5, 1 - UNIT, 1 + 2 * UNIT, 1.4142, 2.0**53, 1e300, _LARGEST)

_ARITHMETIC: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "addition": lambda x, y: x + y,
    "subtraction": lambda x, y: x - y,
    "multiplication": lambda x, y: x * y,
    "division": lambda x, y: x / y,
}
_DEPTH, _ROWS, _COMPARED = 300, 40, 5
"""Terms of each sum, rows and columns, and how many of each are compared: kernels for large matrices are others."""
_GRADES = torch.arange(_DEPTH, dtype=torch.float64) * 3
"""Exponents of factors that lie far apart, in a row falling and in a column rising: no term is much below another."""


@cache
def require_device(device: str | torch.device) -> None:
    """Raise UsageError, which says what to do, unless torch has a device and float64 on it, and the examination is
    passed. A process examines a device once."""
    try:
        wrong = next(failures(device), None)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise UsageError(
            f"device {str(device)!r} cannot be used here ({first_line(error)}); try {option('device', 'cpu')}"
        ) from error
    if wrong is not None:
        raise UsageError(
            f"device {str(device)!r} does not compute as proofs need it: {wrong}; try {option('device', 'cpu')}, and"
            " see verale doctor"
        )


def failures(device: str | torch.device, operations: Mapping[str, Callable[..., Tensor]] = OPERATIONS) -> Iterator[str]:
    """What a device computes wrong, a line for each operation: its first wrong result.

    Args:
        device: of torch.
        operations: as `OPERATIONS`; of tensors on the device.

    Raises: what torch raises where a device, or float64 on it, is not there.
    """
    for examined in (_arithmetic, _fused, _neighbours, _roots, _exponents, _transcendental, _sums):
        yield from examined(operations, torch.device(device))


def _results(operation: Callable[..., Tensor], device: torch.device, *arguments: Tensor) -> list[Any]:
    results: list[Any] = operation(*(each.to(device) for each in arguments)).cpu().tolist()
    return results


def _floats(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _arithmetic(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    signed = (*_ENDS, *(-each for each in _ENDS if each))
    pairs = [(x, y) for x in _ENDS for y in signed]
    one, other = _floats(pairs).unbind(1)
    for name, exactly in _ARITHMETIC.items():
        results = _results(operations[name], device, one.contiguous(), other.contiguous())
        for (x, y), result in zip(pairs, results, strict=True):
            if name == "division" and not y:
                continue
            expected = _nearest(exactly(Fraction(x), Fraction(y)))
            if result != expected:
                yield f"{name} of {x!r} and {y!r} is {result!r}, expected {expected!r}"
                break


def _fused(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    """A product minus its own rounded value is 0, unless the product was never rounded."""
    factors = [(1 + UNIT * (2 * step + 2), 1 + UNIT * (4 * step + 6)) for step in range(16)]
    one, other = _floats([*factors, (1 / 3, 3.0), (0.1, 10.0), (1.1 * 2.0**511, 1.7 * 2.0**511)]).unbind(1)
    third = _floats([x * y for x, y in zip(one.tolist(), other.tolist(), strict=True)])
    arguments = (one.contiguous(), other.contiguous(), third)
    results = _results(operations["product and difference"], device, *arguments)
    for x, y, z, result in zip(*(each.tolist() for each in arguments), results, strict=True):
        if result != 0:
            yield f"product and difference of {x!r}, {y!r} and {z!r} is {result!r}, expected 0.0"
            break


def _exponents(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    values = [each for each in _ENDS if each]
    for value, result in zip(values, _results(operations["exponent"], device, _floats(values)), strict=True):
        if result != math.frexp(value)[1]:
            yield f"exponent of {value!r} is {result!r}, expected {math.frexp(value)[1]}"
            break


def _nearest(value: Fraction) -> float:
    """The nearest float; ties go to the even one. Python divides whole numbers so."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _neighbours(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    values = [*_ENDS, *(-each for each in _ENDS), math.inf, -math.inf]
    for name, towards in (("up", math.inf), ("down", -math.inf)):
        for value, result in zip(values, _results(operations[name], device, _floats(values)), strict=True):
            if result != math.nextafter(value, towards):
                yield f"{name} of {value!r} is {result!r}, expected {math.nextafter(value, towards)!r}"
                break


def _roots(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    for value, result in zip(_ENDS, _results(operations["root"], device, _floats(_ENDS)), strict=True):
        if not (math.isfinite(result) and _is_nearest_root(result, Fraction(value))):
            yield f"root of {value!r} is {result!r}, expected the nearest to {math.sqrt(value)!r}"
            break


def _is_nearest_root(result: float, value: Fraction) -> bool:
    below, above = ((Fraction(result) + Fraction(math.nextafter(result, end))) / 2 for end in (-math.inf, math.inf))
    return max(below, Fraction(0)) ** 2 <= value <= above**2


def _transcendental(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    from mpmath import MPContext

    context = MPContext()
    context.prec = 300
    for name, values, exactly in (
        ("sqrt", _ENDS, context.sqrt),
        ("exp", _EXPONENTS, context.exp),
        ("log", _POSITIVE, context.log),
        ("log1p", _ABOVE_MINUS_ONE, lambda x: context.log(1 + x) if x > 1e-30 else x - x * x / 2),
    ):
        # Vectors of a processor, and what is left of the last one, may be computed apart.
        results = _results(operations[name], device, _floats(values).repeat(9))
        for value, result in zip(values * 9, results, strict=True):
            true = exactly(context.mpf(value))
            if result == math.inf and true > _LARGEST:
                continue
            allowed = 2 * TRANSCENDENTAL_ULPS * UNIT * abs(true) + (0 if true > UNDERFLOW else UNDERFLOW)
            if not (math.isfinite(result) and abs(context.mpf(result) - true) <= allowed):
                yield f"{name} of {value!r} is {result!r}, expected {float(true)!r} within {TRANSCENDENTAL_ULPS} ulps"
                break


def _sums(operations: Mapping[str, Callable[..., Tensor]], device: torch.device) -> Iterator[str]:
    """Of each sum of products, most cancels; factors are whole multiples of 2^-53, then scaled, all alike or apart."""
    generator = torch.Generator().manual_seed(0)
    one, other = (
        2 * torch.rand(size, generator=generator, dtype=torch.float64) - 1
        for size in ((_ROWS, _DEPTH), (_DEPTH, _ROWS))
    )
    one[:, _DEPTH // 2 :], other[_DEPTH // 2 :] = -one[:, : _DEPTH // 2], other[: _DEPTH // 2]
    one[:, 0] += UNIT
    apart = torch.exp2(_GRADES)[:, None]
    graded = one / apart.T, other * apart * torch.exp2(_GRADES[-1] / -2)
    cases = [(one, other, (0, 505, -300, -520)), (*graded, (0,))]
    exact = [_exact_sums(first, second) for first, second, _ in cases]
    for name in ("matrix product", "batched product", "sum of products"):
        wrong = (
            line
            for (first, second, exponents), true in zip(cases, exact, strict=True)
            for line in _wrong_sums(operations[name], device, first, second, exponents, true)
        )
        if line := next(wrong, None):
            yield f"{name} of {_DEPTH} terms {line}"


def _exact_sums(one: Tensor, other: Tensor) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """Some entries of the product of two matrices, and the sums of their terms' sizes."""
    exact = {}
    for row in range(_COMPARED):
        for column in range(_ROWS - _COMPARED, _ROWS):
            factors = zip(one[row].tolist(), other[:, column].tolist(), strict=True)
            terms = [Fraction(x) * Fraction(y) for x, y in factors]
            exact[row, column] = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
    return exact


def _wrong_sums(
    operation: Callable[..., Tensor],
    device: torch.device,
    one: Tensor,
    other: Tensor,
    exponents: tuple[int, ...],
    exact: Mapping[tuple[int, int], tuple[Fraction, Fraction]],
) -> Iterator[str]:
    for exponent in exponents:
        scale = 2.0**exponent
        results = _results(operation, device, one * scale, other * scale)
        for (row, column), (total, sizes) in exact.items():
            true, result = total * Fraction(scale) ** 2, results[row][column]
            allowed = Fraction(gamma(_DEPTH + 1)) * sizes * Fraction(scale) ** 2 + _DEPTH * Fraction(UNDERFLOW)
            if not (math.isfinite(result) and abs(Fraction(result) - true) <= allowed):
                yield f"is {result!r}, expected {_nearest(true)!r} within {float(allowed)!r}"
