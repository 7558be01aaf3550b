"""How a deployed head computes in binary32 (certificates/v1.md, "Deployment"), and what each step may lose.

With u = 2^-24, <n> stands for any factor in [(1 - u)^n, (1 - u)^-n], n >= 0 real, and gamma_n = n u / (1 - n u).

- An operation gives (x op y)<1> + e with |e| <= 2^-126, of operands each of which may have become 0 if it is smaller
  than 2^-126: so underflow is covered, gradual or to zero. A sum may be kept in more precision and rounded at its end.
- **Products.** <m><n> = <m + n>, 1 / <n> = <n>, and a root of <n> is a <n / 2>. |<n> - 1| <= gamma_n for n >= 1 and
  n u < 1. *Proof.* (1 - u)^n >= 1 - n u by Bernoulli, so <n> lies in [1 - n u, 1 / (1 - n u)].
- **Sums.** Let n terms be summed in any order, each of which has a factor <m>. The sum is off by at most gamma_(m + n)
  times the sum of their sizes. *Proof.* A term passes at most n - 1 additions, and one rounding at the end.
- **Ulps.** A function within k units in the last place is off by at most 2 k u of its value and k 2^-126, where
  k <= 1024. So it is f <2 k + 1>, but for underflow. *Proof.* A unit in the last place of y is at most 2^-23 |y|, or
  2^-149. -ln(1 - 2 k u) <= 2 k u / (1 - 2 k u) <= (2 k + 1) u, as 2 k (2 k + 1) u <= 1; so (1 - u)^(2 k + 1) <=
  e^(-(2 k + 1) u) <= 1 - 2 k u, and 1 / (1 - 2 k u) >= 1 + 2 k u.

Reference: Higham, Accuracy and Stability of Numerical Algorithms, lemmas 3.1 and 3.3, and section 3.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from operator import eq
from struct import pack, unpack

from .dyadic import Exact
from .errors import UnprovedError

FORMULAS = ("direct", "expanded", "cdist")
"""How squared distances are computed; other observables have one formula each."""
UNIT = Fraction(1, 2**24)
TINY = Fraction(1, 2**126)
LARGEST = Fraction(2**126)
"""No binary32 number of this size or smaller has overflowed."""
_MOST_ULPS = 1024
_ULPS = re.compile(r"(log|exp|sqrt)=([0-9]{1,4})")


@dataclass(frozen=True)
class Deployment:
    """A formula for squared distances, and within how many units in the last place logarithms, exponentials and roots
    are computed, 1 to 1024 of them.

    Raises:
        ValueError: a formula that is unknown, or other numbers.
    """

    formula: str
    log: int = 4
    exp: int = 4
    sqrt: int = 1

    def __post_init__(self) -> None:
        if self.formula not in FORMULAS:
            raise ValueError(f"formula {self.formula!r} is unknown, expected one of {', '.join(FORMULAS)}")
        for name, ulps in (("log", self.log), ("exp", self.exp), ("sqrt", self.sqrt)):
            if not 1 <= ulps <= _MOST_ULPS:
                raise ValueError(f"{name} is within {ulps} units in the last place, expected 1 to {_MOST_ULPS}")


def parse_deployment(formula: str | None, ulps: str | None) -> Deployment | None:
    """What a command line asks for: a formula, and "log=4,exp=4,sqrt=1" or some of these. Raises ValueError."""
    if formula is None:
        if ulps is not None:
            raise ValueError("ulps are given without a formula")
        return None
    given: dict[str, int] = {}
    for part in ulps.split(",") if ulps else ():
        match = _ULPS.fullmatch(part)
        if match is None or match[1] in given:
            raise ValueError(f"ulps has {part!r}, expected a list such as log=4,exp=4,sqrt=1")
        given[match[1]] = int(match[2])
    return Deployment(formula, **given)


def gamma(roundings: int | Fraction) -> Fraction:
    """gamma_n. Raises UnprovedError unless n u <= 1/8, so that gamma_n <= 1/7."""
    lost = roundings * UNIT
    if 8 * lost > 1:
        raise unproved(f"sums of about {int(roundings)} roundings are too long to bound in binary32")
    return lost / (1 - lost)


def unproved(why: str) -> UnprovedError:
    """The error that says that the claim is not proved."""
    return UnprovedError("deployment", f"the deployed head: {why}")


def are_binary32(tensor: Exact) -> bool:
    """Whether all entries are finite binary32 numbers: whether they stay the same where they are rounded to some."""
    entries, unit = [entry for row in tensor.rows for entry in row], 1 << tensor.bits
    numbers = f"<{len(entries)}f"
    try:
        rounded = unpack(numbers, pack(numbers, *[entry / unit for entry in entries]))
        return all(map(eq, map(float(unit).__mul__, rounded), entries))  # exact: by a power of 2
    except OverflowError:  # of an entry, or of a unit that one entry needs which is smaller than all of them
        return False


def is_binary32(value: Fraction) -> bool:
    """Whether a dyadic number is a finite binary32 number."""
    return are_binary32(Exact([[value.numerator]], value.denominator.bit_length() - 1))
