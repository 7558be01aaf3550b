"""A similarity in integers: its chain of steps (`read/similarities.py`) evaluated, and inverted, step by step.

**Lemma.** A similarity S falls or rises throughout with its argument x, which is the observable m, or |m - c| where the
chain begins with a peak. So over a range of x it lies between its values at the ends, exchanged where it falls. S
commutes with max pooling over x, to which the smallest or the greatest x is enough. An infinite m, of a squared
distance alone, has the similarity 0, its limit; what has no limit needs a bounded domain. *Proof.* Each step falls or
rises throughout (`read/similarities.py`), so their composition does.

**Values.** A number is carried through the steps as two integers over a common unit, between which it lies. Factors,
sums, squares, quotients, and what is cut, are exact: only roots, logarithms and exponentials round, outward, as a last
step at the unit that is asked for, else at one with `GUARD_BITS` more. *Proof.* By induction over the steps:
each takes the ends to ends, exchanged where it falls, and rounds them outward.

**Inverse.** What is said of S, that it is at least or at most some number, is said of the steps backward: y = f(x) >= v
says x >= u where f rises, x <= u where it falls, with u no greater, or no smaller, than what f takes to v. So each
step is one inverse, rounded to the safe side, and whether `at least` turns into `at most`. Where f takes no x to v, all
x satisfy it, and nothing is said, or none does, and anything may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from .dyadic import Exact, ceil_shift, floor_shift, quotient, sqrt_ends
from .read.similarities import Chain, Step

if TYPE_CHECKING:
    from .arithmetic import Arithmetic

GUARD_BITS = 64
"""More than are asked for: so many have numbers between two steps."""
_MOST_LOGARITHM = 2048
"""No logarithm of a quotient of two floats is greater."""
_Ends = tuple[int, int]
_Bounds = tuple[int | None, int | None]


@dataclass(frozen=True)
class Similarity:
    """The similarity of one head.

    Attributes:
        name: its kind in head files.
        chain: the steps, and what follows from them.
        values: the numbers of its kind, as the head file has them.
        scale, peak: (1, P), ones and zeros where the head file has none.
    """

    name: str
    chain: Chain
    values: Mapping[str, Fraction]
    scale: Exact
    peak: Exact

    @property
    def falls(self) -> bool:
        """Whether S falls with x: a squared distance or |m - c|. It rises with all else."""
        return self.chain.falls

    @property
    def unimodal(self) -> bool:
        """Whether x is not m: then x has to be bounded patch by patch, before pooling."""
        return self.chain.unimodal

    @property
    def unchanged(self) -> bool:
        """Whether S(m) = m."""
        return not self.chain.steps

    @property
    def places(self) -> int:
        """x is a multiple of 2^-b where m is one and b is at least this."""
        return self.peak.bits if self.unimodal else 0

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        """Those after the peak."""
        return self.chain.steps[self.unimodal :]

    def argument(self, prototype: int, low: int, high: int, bits: int, inward: bool = False) -> _Ends:
        """The range of x at 2^-bits, rounded outward, or inward, for m in [low, high]. With a peak c in [c_lo, c_hi]
        max(0, lo - c_hi, c_lo - hi) <= |m - c| <= max(hi - c_lo, c_hi - lo), both attained where c is exact."""
        if not self.unimodal:
            return low, high
        peak, places = self.peak.rows[0][prototype], bits - self.peak.bits
        least, most = floor_shift(peak, places), ceil_shift(peak, places)
        if inward:
            least, most = most, least
        return max(0, low - most, least - high), max(high - least, most - low)

    def at(self, arithmetic: Arithmetic, j: int, x: int, x_bits: int, bits: int, parts: int = 1) -> _Ends:
        """S with prototype j at 2^-bits, rounded outward, of x / (parts 2^x_bits)."""
        low, high, unit = x, x, parts << x_bits
        for number, step in enumerate(self._steps):
            grid = bits if number == len(self._steps) - 1 else max(bits, x_bits) + GUARD_BITS
            low, high, unit = self._taken(arithmetic, step, j, low, high, unit, grid)
        return quotient(low << bits, unit, False), quotient(high << bits, unit, True)

    def _taken(
        self, arithmetic: Arithmetic, step: Step, j: int, low: int, high: int, unit: int, bits: int
    ) -> tuple[int, int, int]:
        """Where a step takes the range from low / unit to high / unit, and the unit of that: 2^bits where it rounds."""
        match step.kind:
            case "scale":
                scale = self.scale.rows[0][j]
                return low * scale, high * scale, unit << self.scale.bits
            case "negate":
                return -high, -low, unit
            case "rectify":
                return max(0, low), max(0, high), unit
            case "square":
                return max(0, low) ** 2, max(0, high) ** 2, unit * unit
            case "exp":
                return *_exponentials(arithmetic, low, high, unit, bits), 1 << bits
            case "root":
                near, far = (max(0, end) << 2 * bits for end in (low, high))
                return sqrt_ends(near // unit)[0], sqrt_ends(-(-far // unit))[1], 1 << bits
            case "log_ratio":
                most = self._logarithm(arithmetic, step, low, unit, bits)
                least = most if low == high else self._logarithm(arithmetic, step, high, unit, bits)
                return least[0], most[1], 1 << bits
        n, d = step.numbers["number"].as_integer_ratio()
        match step.kind:
            case "add":
                return low * d + n * unit, high * d + n * unit, unit * d
            case "multiply":
                return low * n, high * n, unit * d
            case "threshold":
                low, high = (end if end * d >= n * unit else 0 for end in (low, high))
                return low, high, unit
            case _:  # reciprocal: d unit / (d x + n unit), over the product of both denominators
                near, far = (d * max(0, end) + n * unit for end in (low, high))
                if near == far:
                    return d * unit, d * unit, near
                return d * unit * near, d * unit * far, near * far

    @staticmethod
    def _logarithm(arithmetic: Arithmetic, step: Step, x: int, unit: int, bits: int) -> _Ends:
        """ln((x + over unit) / (x + under unit)), over a common denominator."""
        (a, a_unit), (b, b_unit) = (step.numbers[name].as_integer_ratio() for name in ("over", "under"))
        scaled = max(0, x) * a_unit * b_unit
        return arithmetic.log(scaled + a * b_unit * unit, scaled + b * a_unit * unit, bits)

    def ends(
        self, arithmetic: Arithmetic, j: int, low: int, high: int | None, m_bits: int, bits: int, inward: bool = False
    ) -> _Ends:
        """S at 2^-bits with prototype j, rounded outward, or inward, for m in [low, high] at 2^-m_bits; for m from low
        on where `high` is None. Where no m is in it, as of a distance below 0, any ends will do."""
        if high is None:
            if not (self.falls and self.chain.has_limit):
                raise ValueError("only a squared distance can be unbounded, and not under every similarity")
            return 0, self.at(arithmetic, j, low, m_bits, bits)[not inward]
        low, high = self.argument(j, low, high, m_bits, inward)
        worst, best = (max(0, high), low) if self.falls else (low, high)
        least = self.at(arithmetic, j, worst, m_bits, bits)
        most = least if worst == best else self.at(arithmetic, j, best, m_bits, bits)
        return least[inward], most[not inward]

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        """Bounds of x with prototype j, all at 2^-bits, rounded outward; None bounds nothing. S falls: where S(x) <= s,
        x is no less than the first, and where S(x) >= s, no more than the second. S rises: likewise where S(x) >= s and
        where S(x) <= s."""
        if self.unimodal:
            return None, None
        first, second = (self._inverted(arithmetic, j, s, bits, self.falls != least) for least in (True, False))
        return (
            None if first is None else floor_shift(first, -GUARD_BITS),
            None if second is None else ceil_shift(second, -GUARD_BITS),
        )

    def _inverted(self, arithmetic: Arithmetic, j: int, s: int, bits: int, at_least: bool) -> int | None:
        """The bound of x that S(x) >= s sets, or S(x) <= s, at 2^-(bits + GUARD_BITS); rounded to the safe side."""
        grid, value = bits + GUARD_BITS, s << GUARD_BITS
        for step in reversed(self.chain.steps):
            at_least ^= step.of.falls
            bound = self._before(arithmetic, step, j, value, grid, not at_least)
            if bound is None:
                return None
            value = bound
        return value

    def _before(self, arithmetic: Arithmetic, step: Step, j: int, y: int, bits: int, up: bool) -> int | None:
        """What a step takes to y, at 2^-bits, rounded up or down: the greatest x that may be, or the least. None where
        that bounds nothing."""
        one = 1 << bits
        match step.kind:
            case "scale":
                return quotient(y << self.scale.bits, self.scale.rows[0][j], up)
            case "negate":
                return -y
            case "rectify":
                return y if up or y > 0 else None
            case "square":
                return sqrt_ends(max(0, y) << bits)[up]
            case "root":
                return (ceil_shift if up else floor_shift)(max(0, y) ** 2, -bits)
            case "exp":
                return arithmetic.log(y, one, bits)[up] if y > 0 else None
            case "log_ratio":
                return _quotient_before(arithmetic, step, y, bits, up)
        n, d = step.numbers["number"].as_integer_ratio()
        match step.kind:
            case "add":
                return y - quotient(n << bits, d, not up)
            case "multiply":
                return quotient(y * d, n, up)
            case "threshold":
                return max(y, quotient(n << bits, d, up)) if up or y > 0 else None
            case _:  # reciprocal
                return quotient(d * one * one - n * y * one, d * y, up) if y > 0 else None


def _exponentials(arithmetic: Arithmetic, low: int, high: int, unit: int, bits: int) -> _Ends:
    """exp at 2^-bits of a range of numbers up to 0; those above count as 0, and no end exceeds 1."""
    low, high = min(0, low), min(0, high)
    places = unit.bit_length() - 1
    if unit != 1 << places:  # a mean's: exponentials are of dyadic numbers
        places += bits
        low, high = quotient(low << places, unit, False), quotient(high << places, unit, True)
    most = arithmetic.exp(high, -places, bits)
    least = most if low == high else arithmetic.exp(low, -places, bits)
    return least[0], min(1 << bits, most[1])


def _quotient_before(arithmetic: Arithmetic, step: Step, y: int, bits: int, up: bool) -> int | None:
    """x = (over - under e^y) / (e^y - 1), which falls with e^y > 1; none has y <= 0. Where y is beyond what a
    logarithm may be, x < 0 as there."""
    power = arithmetic.exp(min(y, _MOST_LOGARITHM << bits), -bits, bits)[not up]
    if power <= 1 << bits:
        return None
    (a, a_unit), (b, b_unit) = (step.numbers[name].as_integer_ratio() for name in ("over", "under"))
    part = (a * b_unit << bits) - b * a_unit * power
    return quotient(part << bits, a_unit * b_unit * (power - (1 << bits)), up)
