"""What a page's script tells of a number, or of a list of prototypes, is what verale tells of it elsewhere; and what is
read as a bound is one of the exact number."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from verale.certificate import words
from verale.checker.dyadic import hex_float
from verale.report.templates import joined

py_mini_racer = pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")

TINY, LARGEST = 5e-324, 1.7976931348623157e308
CHOSEN = (
    *(0.0, TINY, 3 * TINY, 2.0**-1050, 2.0**-1022, math.nextafter(2.0**-1022, 0), 1e-308, 1e-5, 9.9999e-6, 0.1, 0.3),
    *(1 / 3, 1.0, 2.5, 99.995, 9999.5, 123456.0, 2.0**53 + 2, 1e15, 999999999999999.9, 1e22, 1e23, 2.0**1023, LARGEST),
)
SPELLINGS = (
    "0x1.0p-1050", "0x1.0000000000000p-1050", "0x1.0000000000000p-1074", "0x0.0000000000001p-1022", "0x1p+0",
    "0x0.8000000000000p+1", "0x0.0000000000001p+1075", "0x1.fffffffffffffp+1023", "0x0.8p+1024", "0x0p+9999",
    "0x0.0000000000000p-9999", "0x1.8000000000000p-1073",
)  # fmt: skip
"""As other programs may spell numbers: the checker takes all of these."""


def numbers() -> list[float]:
    generator = random.Random(0)
    values = [sign * value for value in CHOSEN for sign in (1, -1)]
    values += [struct.unpack("<d", struct.pack("<Q", generator.getrandbits(64)))[0] for _ in range(1000)]
    values += [generator.randrange(-(2**20), 2**20) * TINY for _ in range(200)]
    values += [round(generator.uniform(-100, 100), generator.randrange(6)) for _ in range(300)]
    values += [float(generator.randrange(2**53, 2**60)) for _ in range(200)]
    values += [generator.randrange(10**5) / 2**k for k in range(30) for _ in range(10)]  # ties among them
    return [value for value in values if math.isfinite(value)]


@pytest.fixture(scope="module")
def told() -> Callable[[str, Sequence[object]], list[Any]]:
    """What a function of the page's script says of each of some arguments."""
    racer = py_mini_racer.MiniRacer()
    racer.eval(joined(("numbers.js",)))

    def say(function: str, given: Sequence[object]) -> list[Any]:
        said: list[Any] = json.loads(racer.eval(f"JSON.stringify({json.dumps(given)}.map({function}))"))
        return said

    return say


def spelled(value: float) -> str:
    return value.hex().replace("0x0.0p+0", "0x0p+0")


@pytest.mark.parametrize("sign", ["", "-"])
def test_every_spelling_is_the_number_that_the_checker_reads(told, sign):
    """An upper end of -2^-1050 was told as "at most 0": a power of two among the factors was no float."""
    spellings = [sign + text for text in SPELLINGS]
    ends = told("x => [upperEnd(x), lowerEnd(x), below(fromHex(x)), String(fromHex(x))]", spellings)
    for text, (high, low, least, whole) in zip(spellings, ends, strict=True):
        exact = hex_float(text)
        assert exact is not None and Fraction(float(whole)) == exact, text
        assert (high, low, least) == (words.upper_end(exact), words.lower_end(exact), words.below(exact)), text


def test_what_is_read_as_a_bound_is_one(told):
    """Decimals are those of Python. A statement's end read as a decimal says at least as much as the statement, and a
    margin read so is proved."""
    values = numbers()
    said = told("x => [lowerEnd(x), upperEnd(x), below(fromHex(x)), about(fromHex(x)), about(fromHex(x), 2)]",
                list(map(spelled, values)))  # fmt: skip
    for value, decimals in zip(values, said, strict=True):
        expected = words.lower_end(value), words.upper_end(value), words.below(value), words.about(value)
        assert tuple(decimals) == (*expected, words.about(value, 2)), value.hex()
        low, high, least = (Fraction(Decimal(each)) for each in decimals[:3])
        assert max(least, high) <= Fraction(value) <= low, value.hex()
        assert Fraction(value) - least <= abs(Fraction(value)) / 999, value.hex()


def test_intervals_are_those_of_python(told):
    generator, pairs = random.Random(1), []
    for value in numbers()[::4]:
        upper = value
        for _ in range(generator.randrange(4)):
            upper = math.nextafter(upper, math.inf)
        pairs += [(value, upper)] if math.isfinite(upper) else []
    pairs += [(None, 0.3), (-0.1, None), (0.25, 0.5)]
    given = [[None if end is None else spelled(end) for end in pair] for pair in pairs]
    for pair, said in zip(pairs, told("x => between(...x)", given), strict=True):
        assert said == words.between(*pair, "from {} to {}"), pair


def test_prototypes_are_named_as_in_python(told):
    generator = random.Random(2)
    clauses: list[tuple[list[int], int | None]] = [([], 5), ([], None), ([0, 2, *range(4, 50)], 50), ([*range(9)], 9)]
    for _ in range(400):
        count = generator.randrange(1, 60)
        share = generator.random()
        exempt = [j for j in range(count) if generator.random() < share]
        clauses.append((exempt, generator.choice([count, None])))
    for (exempt, known), said in zip(clauses, told("x => meantBy(...x)", clauses), strict=True):
        assert said == words.meant_by(exempt, known)
