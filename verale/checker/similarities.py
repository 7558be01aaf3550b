"""The similarities of certificates/v1.md, one class each: where it is defined, its JSON and tensor, its formula. A new
one is a class here and an entry of `SIMILARITIES`; no other file of the checker changes.

**Lemma.** A similarity S falls or rises throughout with its argument x, which is the observable m, or for a quadratic
one |m - c|. So over a range of x it lies between its values at the ends, exchanged where it falls; each class says why
it is monotone. S commutes with max pooling over x, to which the smallest or the greatest x is enough. An infinite m, of
a squared distance alone, has the similarity 0, its limit; what has no limit needs a bounded domain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from .dyadic import Exact, about, ceil_at, ceil_shift, floor_at, floor_shift, quotient, sqrt_ends
from .errors import FormatError

if TYPE_CHECKING:
    from .arithmetic import Arithmetic

COSINES = ("cosine", "rooted_cosine")
GEOMETRIES = ("euclidean", *COSINES, "inner_product", "softmax")
_Ends = tuple[int, int]
_Bounds = tuple[int | None, int | None]
_Fields = Mapping[str, tuple[Callable[[Fraction], bool], str]]


@dataclass(frozen=True)
class Similarity(ABC):
    """The similarity of one head.

    Attributes:
        name: in head files.
        geometries: those it is defined for.
        fields: of its JSON besides the kind; all are numbers. For each what v1.md allows, and how that is said.
        tensor, default: the tensor with one number a prototype that it may have; the number where a file has none.
        has_limit: whether it tends to 0 as a squared distance grows, so that the domain may be unbounded.
        in_unit: whether it lies in [0, 1], as soft trees need.
        focal: whether poolings may subtract a mean from it; as a function of a squared distance it has to be convex
            then, and `at` has to heed `parts` (`reading.pooling`).
        unimodal: whether x is not m: then x has to be bounded patch by patch, before pooling.
        unchanged: whether S(m) = m.
        geometry: the head's.
        values: of the fields.
        own: (1, P), the tensor.
    """

    name: ClassVar[str]
    geometries: ClassVar[tuple[str, ...]]
    fields: ClassVar[_Fields] = {}
    tensor: ClassVar[str | None] = None
    default: ClassVar[int] = 0
    has_limit: ClassVar[bool] = True
    in_unit: ClassVar[bool] = False
    focal: ClassVar[bool] = False
    unimodal: ClassVar[bool] = False
    unchanged: ClassVar[bool] = False

    geometry: str
    values: Mapping[str, Fraction]
    own: Exact

    @property
    def falls(self) -> bool:
        """Whether S falls with x: a squared distance or |m - c|. It rises with all else."""
        return self.geometry == "euclidean" or self.unimodal

    @property
    def places(self) -> int:
        """x is a multiple of 2^-b where m is one and b is at least this."""
        return self.own.bits if self.unimodal else 0

    @classmethod
    def check(cls, values: Mapping[str, Fraction], own: Sequence[float]) -> None:
        """Raises FormatError where a number is not one that v1.md allows.

        Args:
            values: of the fields.
            own: of the tensor, where a file has it.
        """
        for field, (right, expected) in cls.fields.items():
            if not right(values[field]):
                raise FormatError(f"similarity: {field} is {about(values[field])}, expected {expected}")
        for j, scale in enumerate(own if cls.tensor == "scale" else ()):
            if scale <= 0:
                raise FormatError(f"scale: entry {j} is not positive, expected what shrinks or stretches a distance")

    def argument(self, prototype: int, low: int, high: int, bits: int, inward: bool = False) -> _Ends:
        """The range of x at 2^-bits, rounded outward, or inward, for m in [low, high]."""
        return low, high

    @abstractmethod
    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        """S at 2^-bits, rounded outward, of x / (parts 2^x_bits).

        Args:
            x: not negative where S falls.
            own: the prototype's entry of `own`.
            parts: 1 unless S is focal and of squared distances: a mean is divided exactly.
        """

    def ends(
        self, arithmetic: Arithmetic, j: int, low: int, high: int | None, m_bits: int, bits: int, inward: bool = False
    ) -> _Ends:
        """S at 2^-bits with prototype j, rounded outward, or inward, for m in [low, high] at 2^-m_bits; for m from low
        on where `high` is None. Where no m is in it, as of a distance below 0, any ends will do."""
        own = self.own.rows[0][j]
        if high is None:
            if not (self.falls and self.has_limit):
                raise ValueError("only a squared distance can be unbounded, and not under every similarity")
            return 0, self.at(arithmetic, low, m_bits, own, bits)[not inward]
        low, high = self.argument(j, low, high, m_bits, inward)
        worst, best = (max(0, high), low) if self.falls else (low, high)
        least = self.at(arithmetic, worst, m_bits, own, bits)
        most = least if worst == best else self.at(arithmetic, best, m_bits, own, bits)
        return least[inward], most[not inward]

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        """Bounds of x with prototype j, all at 2^-bits, rounded outward; None bounds nothing. S falls: where S(x) <= s,
        x is no less than the first, and where S(x) >= s, no more than the second. S rises: likewise where S(x) >= s and
        where S(x) <= s.

        Soundness: S is monotone, and they enclose where S(x) = s. If S does not take s, one side holds of every x, and
        has no bound, and the other of none.
        """
        return None, None


def _between(value: Fraction) -> bool:
    return 0 < value < 1


class Identity(Similarity):
    """m. It rises."""

    name = "identity"
    geometries = (*COSINES, "inner_product", "softmax")
    focal = True
    unchanged = True

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        return _rounded(x, bits - x_bits)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        return s, s


class _Scaled(Similarity):
    """One with a positive scale s for each prototype."""

    tensor = "scale"
    default = 1


class LogRatio(_Scaled):
    """ln((s m + 1) / (s m + E)), 0 < E < 1, of a squared distance. It falls: the derivative of ln((x + 1) / (x + E)) is
    (E - 1) / ((x + 1)(x + E)) < 0. It is convex (`reading.pooling`)."""

    name = "log_ratio"
    geometries = ("euclidean",)
    fields: ClassVar[_Fields] = {"epsilon": (_between, "between 0 and 1, both excluded")}
    focal = True

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        """With x = n / parts, ln((x + 1) / (x + E)) = ln((n + parts) / (n + parts E))."""
        epsilon = self.values["epsilon"]
        places = epsilon.denominator.bit_length() - 1  # epsilon is dyadic: numerator / 2^places
        product_bits = x_bits + self.own.bits
        scaled = x * own << places
        one, shift = 1 << product_bits + places, epsilon.numerator << product_bits
        return arithmetic.log(scaled + parts * one, scaled + parts * shift, bits)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        """For the scale s and the activation a, s m = (1 - E e^a) / (e^a - 1), which falls with e^a > 1. No m has
        a <= 0; where a > 1024 > ln(1 / E), m < 0 as for a = 1024."""
        epsilon, one, own = self.values["epsilon"], 1 << bits, self.own.rows[0][j]
        low, high = arithmetic.exp(min(s, 1024 << bits), -bits, bits)

        def distance(power: int, up: bool) -> int | None:
            part = epsilon.denominator * one - epsilon.numerator * power << self.own.bits + bits
            return quotient(part, epsilon.denominator * own * (power - one), up) if power > one else None

        return distance(high, False), distance(low, True)


class Negated(_Scaled):
    """-s m of a squared distance. It falls, without a limit."""

    name = "negated"
    geometries = ("euclidean",)
    has_limit = False

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        return _rounded(-x * own, bits - x_bits - self.own.bits)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        return _quotients((-s, -s), self.own, j)


class ExpDistance(Similarity):
    """exp(-(m + E)^(1/2)), E >= 0, of a squared distance. It falls. As m >= 0 it does not exceed 1: an end that says
    otherwise is cut."""

    name = "exp_distance"
    geometries = ("euclidean",)
    fields: ClassVar[_Fields] = {"epsilon": (lambda epsilon: epsilon >= 0, "at least 0")}
    in_unit = True

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        epsilon = self.values["epsilon"]
        places = epsilon.denominator.bit_length() - 1
        root_bits = max(bits, x_bits, places)
        square = (x << 2 * root_bits - x_bits) + (epsilon.numerator << 2 * root_bits - places)
        near, far = sqrt_ends(square)
        return arithmetic.exp(-far, -root_bits, bits)[0], min(1 << bits, arithmetic.exp(-near, -root_bits, bits)[1])

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        """(ln a)^2 - E for the activation a, which falls with a <= 1. No m has a <= 0."""
        if s <= 0:
            return None, None
        far, near = (max(0, -end) for end in arithmetic.log(s, 1 << bits, bits))
        epsilon = self.values["epsilon"]
        low, high = near * near - ceil_at(epsilon, 2 * bits), far * far - floor_at(epsilon, 2 * bits)
        return floor_shift(low, -bits), ceil_shift(high, -bits)


class Exponential(_Scaled):
    """exp(-s m) of a squared distance, which falls; exp(-s (1 - m)) of a cosine, which rises. As m >= 0, and m <= 1 for
    a cosine, it does not exceed 1: an end that says otherwise is cut."""

    name = "exponential"
    geometries = ("euclidean", *COSINES)
    in_unit = True

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        distance = x if self.geometry == "euclidean" else max(0, (1 << x_bits) - x)
        low, high = arithmetic.exp(-distance * own, -x_bits - self.own.bits, bits)
        return low, min(1 << bits, high)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        """-ln a / s for the scale s and the activation a, or 1 less that. No m has a <= 0."""
        if s <= 0:
            return None, None
        low, high = arithmetic.log(s, 1 << bits, bits)
        near, far = _quotients((-high, -low), self.own, j)
        return (near, far) if self.geometry == "euclidean" else ((1 << bits) - far, (1 << bits) - near)


class Quadratic(Similarity):
    """-(m - c)^2 with a peak c for each prototype. It is not monotone in m. It falls with x = |m - c|, and m in
    [lo, hi] says, for c in [c_lo, c_hi],
        max(0, lo - c_hi, c_lo - hi) <= x <= max(hi - c_lo, c_hi - lo),
    both attained where c is known exactly."""

    name = "quadratic"
    geometries = ("euclidean", *COSINES, "inner_product")
    tensor = "peak"
    has_limit = False
    unimodal = True

    def argument(self, prototype: int, low: int, high: int, bits: int, inward: bool = False) -> _Ends:
        peak, places = self.own.rows[0][prototype], bits - self.own.bits
        least, most = floor_shift(peak, places), ceil_shift(peak, places)
        if inward:
            least, most = most, least
        return max(0, low - most, least - high), max(high - least, most - low)

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        return _rounded(-x * x, bits - 2 * x_bits)


class Rectified(Similarity):
    """max(0, m). It does not fall with m."""

    name = "rectified"
    geometries = (*COSINES, "inner_product")

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        return _rounded(max(0, x), bits - x_bits)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        return (s if s > 0 else None), s


class Threshold(Similarity):
    """m where m >= t, else 0, 0 < t < 1, of a mass m >= 0. It does not fall with m, t being positive."""

    name = "threshold"
    geometries = ("softmax",)
    fields: ClassVar[_Fields] = {"threshold": (_between, "between 0 and 1, both excluded")}

    def at(self, arithmetic: Arithmetic, x: int, x_bits: int, own: int, bits: int, parts: int = 1) -> _Ends:
        return _rounded(x if x >= ceil_at(self.values["threshold"], x_bits) else 0, bits - x_bits)

    def inverse(self, arithmetic: Arithmetic, j: int, s: int, bits: int) -> _Bounds:
        limit = self.values["threshold"]
        return (max(s, floor_at(limit, bits)) if s > 0 else None), max(s, ceil_at(limit, bits))


def _rounded(value: int, places: int) -> _Ends:
    return floor_shift(value, places), ceil_shift(value, places)


def _quotients(values: _Ends, scales: Exact, j: int) -> _Ends:
    """These values by a scale, the first rounded down, the second up."""
    low, high = (value << scales.bits for value in values)
    return quotient(low, scales.rows[0][j], False), quotient(high, scales.rows[0][j], True)


SIMILARITIES: dict[str, type[Similarity]] = {
    each.name: each for each in (LogRatio, Negated, ExpDistance, Identity, Exponential, Quadratic, Rectified, Threshold)
}
"""Every similarity by its name."""
