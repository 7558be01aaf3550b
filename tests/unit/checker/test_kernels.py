"""Kernels at chosen arguments, against 400-bit balls and exact rationals; mpmath's own enclosures do not hold."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import flint
import mpmath
import pytest
from support import files
from support.cases import every
from support.enclosures import OF_A_KERNEL, OF_NONE

from verale.checker import arb, series
from verale.checker.arithmetic import Arithmetic
from verale.checker.dyadic import exact, hex_float, sqrt_ends
from verale.checker.errors import KernelError
from verale.checker.options import KERNELS, load_arithmetic

TRUTH_BITS = 400


@pytest.fixture(params=KERNELS, scope="module")
def kernel(request: pytest.FixtureRequest) -> Arithmetic:
    return load_arithmetic(request.param)


def truth(ball: flint.arb, bits: int) -> tuple[Fraction, Fraction]:
    """The ends of a ball, exactly, times 2^bits."""
    ends = []
    for end in (ball.lower(), ball.upper()):
        mantissa, exponent = end.man_exp()
        ends.append(Fraction(int(mantissa)) * Fraction(2) ** (int(exponent) + bits))
    return ends[0], ends[1]


def holds(ends: tuple[int, int], ball: flint.arb, bits: int) -> None:
    low, high = truth(ball, bits)
    assert ends[0] <= low
    assert high <= ends[1]


def check(ends: tuple[int, int], ball: flint.arb, bits: int) -> None:
    holds(ends, ball, bits)
    assert ends[1] - ends[0] <= 2


LOGARITHMS = [
    (1, 1, 64), (2**53 + 2, 2**53, 128), (2**200 + 1, 2**200, 128), (2**200 - 1, 2**200, 256), (2, 3, 90), (4, 3, 90),
    (1, 10**300, 128), (10**300, 1, 128), (3, 1 << 1074, 128), (1 << 1024, 1, 200), (1, 2, 1), (1, 3, 0),
]  # fmt: skip
EXPONENTS = [
    (0, 0, 128), (1, -1074, 128), (-1, -1074, 200), (1, 0, 64), (-1, 0, 64), (1, 9, 64), (-127, 0, 128),
    (-128, 0, 128), (-1, 5, 32), (-33, 0, 32), (-(10**18), -60, 256), (709, 0, 64), (1, -1, 80), (-1, -1, 80),
    (-1, -1, 1), (1, 0, 0),
]  # fmt: skip


def test_log_encloses(kernel: Arithmetic) -> None:
    with flint.ctx.workprec(TRUTH_BITS + 1100):
        for numerator, denominator, bits in LOGARITHMS:
            ball = (flint.arb(flint.fmpz(numerator)) / flint.arb(flint.fmpz(denominator))).log()
            check(kernel.log(numerator, denominator, bits), ball, bits)


def test_exp_encloses(kernel: Arithmetic) -> None:
    with flint.ctx.workprec(TRUTH_BITS + 1100):
        for mantissa, exponent, bits in EXPONENTS:
            ball = (flint.arb(flint.fmpz(mantissa)) * flint.arb(2) ** exponent).exp()
            check(kernel.exp(mantissa, exponent, bits), ball, bits)


IMPLEMENTATIONS = {"arb": arb, "mpmath": series}


@pytest.mark.parametrize("name", KERNELS)
def test_terms_that_are_left_out_decide_where_the_first_lie_on_the_grid(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the logarithm of (2^k + 1) / (2^k - 1) the first term lies on the grid and the others far below. Of the
    exponential of -1/4, with two bits and no guard bits, the first terms lie on the grid."""
    kernel = load_arithmetic(name)
    with flint.ctx.workprec(TRUTH_BITS):
        for k, bits in product((20, 30, 40), range(30, 48)):
            n, d = (1 << k) + 1, (1 << k) - 1
            for numerator, denominator in ((n, d), (d, n)):
                holds(
                    kernel.log(numerator, denominator, bits), flint.arb(flint.fmpq(numerator, denominator)).log(), bits
                )
        monkeypatch.setattr(IMPLEMENTATIONS[name], "GUARD_BITS", 0)
        for mantissa, bits in product((-1, 1), (2, 3, 4)):
            holds(kernel.exp(mantissa, -2, bits), (flint.arb(mantissa) / 4).exp(), bits)


def test_exp_that_vanishes_and_exp_that_overflows(kernel: Arithmetic) -> None:
    assert kernel.exp(-3, 1000, 128) == (0, 1)
    assert kernel.exp(-1, 7, 127) == (0, 1)
    with pytest.raises(OverflowError, match="more than"):
        kernel.exp(1, 21, 64)
    with pytest.raises(OverflowError, match="more than"):
        kernel.exp(3, 1000, 64)


def test_mpmath_itself_does_not_enclose_exp() -> None:
    """The reason for our own series: mpmath's interval exp is [1, 1] where the value is above 1."""
    x = 6.569357051766728e-21
    wrong = mpmath.iv.exp(mpmath.iv.mpf(x))
    assert (wrong.a, wrong.b) == (1.0, 1.0)
    mantissa, denominator = x.as_integer_ratio()
    for name in KERNELS:
        low, high = load_arithmetic(name).exp(mantissa, 1 - denominator.bit_length(), 128)
        assert high > (1 << 128)  # exp(x) > 1
        assert low <= math.floor((1 + Fraction(x) + Fraction(x) ** 2) * 2**128)  # exp(x) < 1 + x + x^2
        assert low > 1 << 128
        assert Fraction(high, 1 << 128) > 1 + Fraction(x)  # exp(x) > 1 + x


def test_the_integers_of_mpmath_s_backend_stay_in_the_kernel() -> None:
    """gmpy2's, of which Decimal makes no number: a message about what is not proved then ended in a TypeError."""
    kernel = load_arithmetic("mpmath")
    for ends in (kernel.log(2, 3, 20), kernel.log(5, 3, 9), kernel.exp(-3, -1, 20)):
        assert all(type(end) is int for end in ends)


def test_an_unknown_kernel() -> None:
    with pytest.raises(
        KernelError, match="'float' is unknown, expected one of proved-or-arb, proved, arb, mpmath, both, all"
    ):
        load_arithmetic("float")


@pytest.mark.parametrize(("name", "package"), [("arb", "python-flint"), ("mpmath", "mpmath")])
def test_a_kernel_that_is_not_installed(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "verale.checker." + {"arb": "arb", "mpmath": "series"}[name], None)
    with pytest.raises(KernelError, match=f"needs {package} .*: install it, or choose the other kernel"):
        load_arithmetic(name)


# Exact numbers: nothing is lost, rounding goes one way.


EXTREMES = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-30, 0.1]


@pytest.mark.parametrize("values", [EXTREMES, [0.0], [1e300, 2e300], [1e300, 2.0**-200]])
def test_exact_keeps_every_value(values: list[float]) -> None:
    matrix = exact(values, 1)
    assert [Fraction(row[0], 1 << matrix.bits) for row in matrix.rows] == [Fraction(value) for value in values]


def test_exact_takes_the_smallest_common_exponent_and_splits_rows() -> None:
    matrix = exact([0.5, 3.0, -0.25, 1.0], 2)
    assert (matrix.rows, matrix.bits) == ([[2, 12], [-1, 4]], 2)
    assert exact([], 3).rows == []


@every(
    "text",
    [  # another grammar, and what is no binary64
        "",
        "0x1", "1p+0", "0x1p0", "0X1p+0", "0x1P+0", "+0x1p+0", "0x2p+0", "0x1.p+0", "0x1.00000000000000p+0", "0x1.Ap+0",
        "0x1p+00001", "0x1p+0 ", "0x1p+0\n", "nan", "inf", "0x1p+\u0661", "--0x1p+0",
        "0x1p+1024", "0x1.8p-1074", "0x1p-1075", "0x0.0000000000001p-1023", "-0x1p+9999", "0x1p-9999",
        "0x1.0000000000001p-1030",
    ],
)  # fmt: skip
def test_hex_float_refuses_what_is_none(text: str) -> None:
    assert hex_float(text) is None


def test_hex_float_takes_every_spelling_of_a_binary64() -> None:
    assert hex_float("0x0.0000000000001p-1022") == Fraction(5e-324)
    assert hex_float("0x1.fffffffffffffp+1023") == Fraction(1.7976931348623157e308)
    assert hex_float("0x0.8p+1024") == Fraction(2) ** 1023
    assert hex_float("-0x0p+9999") == 0


@pytest.mark.parametrize("value", [0, 1, 2, 3, 4, 10**40, 10**40 + 1, 10**40 - 1, (10**33 + 7) ** 2])
def test_sqrt_ends(value: int) -> None:
    low, high = sqrt_ends(value)
    assert low * low <= value <= high * high
    assert high - low == (low * low != value)


# Every operation of both kernels, at drawn arguments, against exact numbers and the other kernel's library.


@pytest.mark.parametrize("samples", [500, pytest.param(5_000, marks=pytest.mark.long)])  # as many for either kernel
def test_every_enclosure_holds(samples: int) -> None:
    kernels = [load_arithmetic(name) for name in KERNELS]
    drawn = [(operation, (kernel,)) for operation in OF_A_KERNEL for kernel in kernels]
    for operation, of in [*drawn, *((operation, ()) for operation in OF_NONE)]:
        generator = random.Random(operation.__name__)
        assert all(operation(*of, generator) for _ in range(samples)), (operation, of)


class Inward:
    """A kernel that gives an end as one too much, or too little."""

    def __init__(self, kernel: Any, by: tuple[int, int]) -> None:
        self._kernel, self._by = kernel, by

    def __getattr__(self, name: str) -> Any:
        of_kernel, (low, high) = getattr(self._kernel, name), self._by
        match name:
            case "log" | "exp":
                return lambda *arguments: tuple(map(sum, zip(of_kernel(*arguments), (low, high), strict=True)))
            case "product":
                return lambda *arguments: [[entry + low + high for entry in row] for row in of_kernel(*arguments)]
        return of_kernel


@every("by", [(1, 0), (0, -1)])
@every("name", KERNELS)
@every("operation", OF_A_KERNEL)
def test_one_unit_inward_is_found(operation: Any, name: str, by: tuple[int, int]) -> None:
    generator = random.Random(1)
    wrong = sum(not operation(Inward(load_arithmetic(name), by), generator) for _ in range(100))
    assert wrong > 20


# mpmath computes in gmpy2's integers where gmpy2 is installed: verdicts, messages and records are the same.


IMAGE = [[0.0, 0.0]]
SIMILARITY = {"kind": "log_ratio", "epsilon": (2.0**-12).hex()}
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], similarity=SIMILARITY)
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
PROVED = files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], image=IMAGE)
UNPROVED = {
    "entailment": files.certificate(HEAD, [files.patch_statement(0, 0, 0.0, 8.0)], image=IMAGE),
    "instance": files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 2.0)], image=IMAGE),
    "refuted": files.certificate(HEAD, [], image=IMAGE, predicted=1),
}


def records(folder: Path, python: bool) -> list[dict[str, Any]]:
    """What the checker says of each certificate, in Python's integers or in those that mpmath chooses."""
    (folder / "head").write_bytes(HEAD)
    (folder / "latents").write_bytes(files.latents([IMAGE]))
    for name, data in {"": PROVED, **UNPROVED}.items():
        (folder / f"{name}.ale.json").write_bytes(data)
    names = [f"{name}.ale.json" for name in ("", *UNPROVED)]
    given = ("--head", "head", "--latents", "latents", "--kernel", "both", "--json")
    environment = {name: value for name, value in os.environ.items() if name != "MPMATH_NOGMPY"}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | ({"MPMATH_NOGMPY": "1"} if python else {})
    command = [sys.executable, "-P", "-m", "verale.checker", *names, *given]
    printed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout
    return [json.loads(line) | {"seconds": None} for line in printed.splitlines()]


@pytest.mark.skipif(find_spec("gmpy2") is None, reason="gmpy2 is not installed")
def test_verdicts_are_the_same_in_the_integers_of_gmpy2(tmp_path: Path) -> None:
    own, others = records(tmp_path, python=True), records(tmp_path, python=False)
    assert [one["reason"] for one in others] == ["", *UNPROVED]
    assert "gmpy2" not in own[0]["run"]["libraries"]
    for one, other in zip(own, others, strict=True):
        assert other["run"]["libraries"].pop("gmpy2")
        assert one == other
