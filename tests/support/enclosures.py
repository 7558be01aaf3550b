"""Draw arguments for every operation of both kernels and of `dyadic`: whether the enclosure holds.

Exact results are compared with Python's integers and fractions. Logarithms and exponentials are compared with the other
kernel's library, at 400 bits more than are asked for: arb with mpmath's `mp`, allowing for its error of a few units in
the last place, mpmath with arb's balls. The two ends must also be neighbours or have one number between them.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction

import flint
from mpmath import libmp

from verale.checker.arithmetic import Arithmetic
from verale.checker.dyadic import ceil_at, ceil_shift, exact, floor_at, floor_shift, hex_float, sqrt_ends

TRUTH_BITS = 400
_ERROR_BITS = 8  # mpmath's results are taken to err by 2^8 units in the last place, far more than they do
_BITS = (0, 1, 64, 128, 150, 256, 320)


def log(kernel: Arithmetic, generator: random.Random) -> bool:
    """ln(n / d): quotients of any size, next to 1, of denormals, of huge numbers; sometimes 1280 bits."""
    bits = generator.choice(_BITS) if generator.random() < 0.99 else 1280
    match generator.randrange(4):
        case 0:  # next to 1
            denominator = generator.getrandbits(60) + (1 << 60)
            shift = generator.choice((0, 0, 100, 1000))
            denominator <<= shift
            numerator = denominator + generator.choice((-1, 1)) * (generator.getrandbits(generator.randrange(60)) + 1)
        case 1:  # binary64 numbers, denormal to huge
            numerator, denominator = abs(_binary64(generator)).as_integer_ratio()
            numerator += numerator == 0
        case 2:  # as log_ratio needs it: (x + 1) / (x + epsilon)
            x, shift = abs(_mantissa(generator, 200)), generator.randrange(200)
            scale = generator.choice((1, 7, 1 << 52))
            numerator, denominator = (x << 1074) + (scale << 1074 + shift), (x << 1074) + (scale << shift)
        case _:
            numerator = abs(_mantissa(generator, 1100)) + 1
            denominator = abs(_mantissa(generator, 1100)) + 1
    ends = kernel.log(numerator, denominator, bits)
    precision = bits + TRUTH_BITS
    near = max(0, denominator.bit_length() - abs(numerator - denominator).bit_length())  # bits lost next to 1
    if kernel.name == "arb":
        quotient = libmp.from_rational(numerator, denominator, precision + near)
        return _enclosed(ends, *_around(libmp.mpf_log(quotient, precision), bits, precision))
    with flint.ctx.workprec(precision + near):
        return _enclosed(
            ends, *_ball((flint.arb(flint.fmpz(numerator)) / flint.arb(flint.fmpz(denominator))).log(), bits)
        )


def exp(kernel: Arithmetic, generator: random.Random) -> bool:
    """exp(m 2^e): arguments next to 0, negative ones of any size, near where it vanishes, up to 2^10."""
    mantissa, exponent, bits = _argument(generator)
    return _enclosed(kernel.exp(mantissa, exponent, bits), *_true_exp(kernel, mantissa, exponent, bits))


def product(kernel: Arithmetic, generator: random.Random) -> bool:
    """The product of two small matrices, entry by entry."""
    rows, inner, columns = (generator.randrange(1, 5) for _ in range(3))
    left = [[_mantissa(generator, 300) for _ in range(inner)] for _ in range(rows)]
    right = [[_mantissa(generator, 300) for _ in range(columns)] for _ in range(inner)]
    entries = [[sum(row[k] * right[k][j] for k in range(inner)) for j in range(columns)] for row in left]
    return kernel.product(kernel.matrix(left), right) == entries


def roots(generator: random.Random) -> bool:
    """`sqrt_ends`."""
    value = _square(generator)
    low, high = sqrt_ends(value)
    return low >= 0 and low * low <= value <= high * high and high - low == (low * low != value)


def shifts(generator: random.Random) -> bool:
    """`floor_shift` and `ceil_shift`, compared with fractions."""
    value, shift = _mantissa(generator, 300), generator.randrange(-400, 100)
    scaled = value * Fraction(2) ** shift
    return (floor_shift(value, shift), ceil_shift(value, shift)) == (math.floor(scaled), math.ceil(scaled))


def grid(generator: random.Random) -> bool:
    """`floor_at` and `ceil_at`, compared with fractions."""
    bits = generator.choice((0, 1, 128, 1280))
    value = Fraction(_mantissa(generator, 300), abs(_mantissa(generator, 300)) + 1)
    if generator.random() < 0.5:
        value = Fraction(_binary64(generator))
    scaled = value * 2**bits
    return (floor_at(value, bits), ceil_at(value, bits)) == (math.floor(scaled), math.ceil(scaled))


def spelled(generator: random.Random) -> bool:
    """`hex_float`, compared with the number's bits and with Python's reading; also of texts that are not binary64."""
    value = _binary64(generator)
    if hex_float(value.hex()) != Fraction(value):
        return False
    digits = f"{generator.getrandbits(52):013x}"[: generator.randrange(1, 14)]
    text = f"{generator.choice(('', '-'))}0x{generator.randrange(2)}.{digits}p{generator.randrange(-1090, 1040):+d}"
    try:
        nearest = float.fromhex(text)
    except OverflowError:
        return hex_float(text) is None
    sign, digits, power = text[0] == "-", text.split("x")[1].split("p")[0], int(text.split("p")[1])
    whole = Fraction(int(digits.replace(".", ""), 16), 16 ** len(digits[2:])) * Fraction(2) ** power
    whole = -whole if sign else whole
    return hex_float(text) == (whole if whole == Fraction(nearest) else None)


def stored(generator: random.Random) -> bool:
    """`exact`: a tensor's numbers at one exponent."""
    values = [_binary64(generator) for _ in range(generator.randrange(1, 5))]
    matrix = exact(values, 1)
    return [Fraction(row[0], 1 << matrix.bits) for row in matrix.rows] == [Fraction(value) for value in values]


OF_A_KERNEL: tuple[Callable[[Arithmetic, random.Random], bool], ...] = (log, exp, product)
OF_NONE: tuple[Callable[[random.Random], bool], ...] = (roots, shifts, grid, spelled, stored)


def _true_exp(kernel: Arithmetic, mantissa: int, exponent: int, bits: int) -> tuple[Fraction, Fraction]:
    """Ends of exp(mantissa 2^exponent) 2^bits, by the other kernel's library."""
    if mantissa == 0:
        return Fraction(1 << bits), Fraction(1 << bits)
    if mantissa < 0 and (bits + 1) << max(0, -exponent) < -mantissa << max(0, exponent):
        return Fraction(0), Fraction(1, 2)  # 0 < exp(x) < 2^x < 2^-(bits + 1)
    size = mantissa.bit_length() + exponent  # |x| < 2^size; exp(x) differs from 1 by at least |x| / 2
    precision = bits + TRUTH_BITS + max(-size, 2 << max(0, size))
    if kernel.name == "arb":
        return _around(libmp.mpf_exp(libmp.from_man_exp(mantissa, exponent), precision), bits, precision)
    with flint.ctx.workprec(precision):
        return _ball(flint.arb((flint.fmpz(mantissa), flint.fmpz(exponent))).exp(), bits)


def _enclosed(ends: tuple[int, int], low: Fraction, high: Fraction) -> bool:
    return ends[0] <= low and high <= ends[1] and ends[1] - ends[0] <= 2


def _around(value: tuple[int, int, int, int], bits: int, precision: int) -> tuple[Fraction, Fraction]:
    """An interval about a floating-point number of mpmath, times 2^bits."""
    sign, mantissa, exponent, _ = value
    middle = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** (int(exponent) + bits)
    error = abs(middle) / 2 ** (precision - _ERROR_BITS)
    return middle - error, middle + error


def _ball(ball: flint.arb, bits: int) -> tuple[Fraction, Fraction]:
    """The ends of a ball, times 2^bits."""
    low, high = (end.man_exp() for end in (ball.lower(), ball.upper()))
    return _dyadic(*low, bits), _dyadic(*high, bits)


def _dyadic(mantissa: flint.fmpz, exponent: flint.fmpz, bits: int) -> Fraction:
    """mantissa 2^(exponent + bits)."""
    return Fraction(int(mantissa)) * Fraction(2) ** (int(exponent) + bits)


def _argument(generator: random.Random) -> tuple[int, int, int]:
    """mantissa, exponent and bits for exp."""
    bits = generator.choice(_BITS) if generator.random() < 0.99 else 1280
    match generator.randrange(4):
        case 0:  # next to 0
            exponent = -generator.randrange(60, 1100)
            return _mantissa(generator, generator.randrange(1, 54)), exponent, bits
        case 1:  # near where it vanishes
            vanishing = math.floor(bits * generator.choice((0.693, 0.6931471805599453, 1.0)) * 2**20)
            return -abs(vanishing + generator.randrange(-(2**20), 2**20)), -20, bits
        case 2:  # any size up to 2^10, huge ones below
            exponent = generator.randrange(-120, -43)
            mantissa = _mantissa(generator, 53)
            return (-abs(mantissa), exponent + generator.choice((0, 0, 60, 1000)), bits) if mantissa < 0 else (
                mantissa, min(exponent, 10 - mantissa.bit_length()), bits)  # fmt: skip
        case _:
            mantissa, denominator = _binary64(generator).as_integer_ratio()
            exponent = 1 - denominator.bit_length()
            return (mantissa if mantissa.bit_length() + exponent <= 9 else -abs(mantissa)), exponent, bits


def _mantissa(generator: random.Random, most: int) -> int:
    """An integer of either sign, of any number of bits up to `most`."""
    return generator.choice((-1, 1)) * generator.getrandbits(generator.randrange(1, most + 1))


def _square(generator: random.Random) -> int:
    value = abs(_mantissa(generator, 4500))
    if generator.random() < 0.5:
        value = max(0, math.isqrt(value) ** 2 + generator.choice((-1, 0, 1)))
    return value


def _binary64(generator: random.Random) -> float:
    """A finite binary64: of any bits, denormal, next to 1, next to an end of the range."""
    match generator.randrange(4):
        case 0:
            bits = generator.getrandbits(52)  # denormal, or 0
        case 1:
            bits = (1023 << 52) + generator.choice((-1, 1)) * generator.getrandbits(generator.randrange(1, 52))
        case 2:
            bits = generator.choice((0, 1, (1 << 52) - 1, 1 << 52, (2047 << 52) - 1, (2046 << 52)))
        case _:
            bits = generator.getrandbits(63) % (2047 << 52)
    (value,) = struct.unpack("<d", struct.pack("<Q", bits | generator.getrandbits(1) << 63))
    return float(value)
