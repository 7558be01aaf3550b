"""The functions that extraction replaces by OCaml's and Zarith's: they compute what Coq's compute.

`proofs/rocq/Extract.v` lists them. Numbers are small, near powers of two, where Zarith changes from machine integers to
larger ones, and large. Naturals are machine integers; those that the reader lets through are no more than 2^20.
"""

from __future__ import annotations

import math
import random
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support.proved import build

SMALL = range(-9, 10)
EDGES = [sign * ((1 << bits) + near) for bits in (30, 31, 62, 63, 64, 128) for near in (-1, 0, 1) for sign in (-1, 1)]
NATURALS = [*range(9), 2**20 - 1, 2**20, 2**30, 2**31, 2**40]


def integers() -> list[int]:
    generator = random.Random(0)
    return [*SMALL, *EDGES, *(generator.choice((-1, 1)) * generator.getrandbits(n) for n in (40, 61, 65, 200, 1000))]


def floor(a: int, b: int) -> int:
    return a // b if b else 0


UNARY: dict[str, Callable[[int], int]] = {
    "Z.opp": lambda a: -a,
    "Z.abs": abs,
    "Z.div2": lambda a: a // 2,
    "Z.sqrt": lambda a: math.isqrt(a) if a > 0 else 0,
    "Z.log2": lambda a: a.bit_length() - 1 if a > 0 else 0,
}
BINARY: dict[str, Callable[[int, int], int]] = {
    "Z.add": lambda a, b: a + b,
    "Z.sub": lambda a, b: a - b,
    "Z.mul": lambda a, b: a * b,
    "Z.min": min,
    "Z.max": max,
    "Z.compare": lambda a, b: (a > b) - (a < b),
    "Z.leb": lambda a, b: a <= b,
    "Z.ltb": lambda a, b: a < b,
    "Z.eqb": lambda a, b: a == b,
    "Z.div": floor,
}
OF_NATURALS: dict[str, Callable[[int, int], int]] = {
    "Nat.add": lambda a, b: a + b,
    "Nat.sub": lambda a, b: max(0, a - b),
    "Nat.div": floor,
    "Nat.modulo": lambda a, b: a % b if b else a,
    "Nat.leb": lambda a, b: a <= b,
    "Nat.ltb": lambda a, b: a < b,
}


def cases() -> dict[str, str]:
    """Lines, and what Coq's functions give."""
    numbers = integers()
    expected: dict[str, str] = {}
    for name, one in UNARY.items():
        expected |= {f"{name} {a}": str(one(a)) for a in numbers}
    for a, b in product(numbers, numbers):
        expected |= {f"{name} {a} {b}": str(int(each(a, b))) for name, each in BINARY.items()}
        # Coq's remainder has the sign of the divisor, as Python's; by 0 it is the number itself.
        expected[f"Z.div_eucl {a} {b}"] = f"{floor(a, b)} {a % b if b else a}"
    for a, b in product(NATURALS, NATURALS):
        expected |= {f"{name} {a} {b}": str(int(each(a, b))) for name, each in OF_NATURALS.items()}
        if a * b < 2**62:
            expected[f"Nat.mul {a} {b}"] = str(a * b)
    for a in NATURALS:
        expected |= {f"Z.of_nat {a}": str(a), f"Z.to_nat {a}": str(a), f"Nat.pred {a}": str(max(0, a - 1))}
        expected[f"Pos.of_succ_nat {a}"] = str(a + 1)
    for a in numbers:
        expected[f"Z.to_nat {a}"] = "failure" if a >= 2**62 else str(max(0, a))
        expected |= {f"Z.pow {a} {b}": str(a**b) if b >= 0 else "0" for b in range(-2, 12)}
        expected |= {f"Z.shiftl {a} {b}": str(a << b if b >= 0 else a >> -b) for b in (*SMALL, 62, 64, 300, -62, -300)}
        expected[f"Z.shiftl {a} {2**64}"] = "failure"
        # The checker asks for one digit at least, from a place that is not negative.
        for start, size in product((0, 1, 30, 31, 62, 64, 300), (1, 30, 31, 32, 62, 63, 64, 200)):
            expected[f"slice {a} {start} {size}"] = str((a >> start) & ((1 << size) - 1))
    return expected


@pytest.fixture(scope="module")
def program(built: Path) -> str:
    return str(build(built, "replaced"))


def test_what_is_replaced_computes_the_same(program: str) -> None:
    expected = cases()
    given = "".join(f"{line}\n" for line in expected)
    result = subprocess.run([program], input=given, capture_output=True, text=True, timeout=300, check=True)
    answers = result.stdout.splitlines()
    wrong = [
        (line, said, right) for (line, right), said in zip(expected.items(), answers, strict=True) if said != right
    ]
    assert wrong == []


def test_every_function_that_extract_replaces_is_tried() -> None:
    text = (Path(__file__).parents[4] / "proofs" / "rocq" / "Extract.v").read_text()
    replaced = {line.split()[2] for line in text.splitlines() if line.startswith("Extract Constant ")}
    tried = {line.split()[0] for line in cases()}
    assert replaced - {"Z.geb", "Z.gtb"} <= tried, "the checker uses neither of those two"
