"""The similarities of certificates/v1.md as data: the kinds of steps, and which chain of steps each kind of head files
names. What a chain gives is computed elsewhere, by each side for itself; here stands what follows from the steps alone:
whether they rise or fall, their limit and their range.

**Lemma.** Each step is a function of all real numbers that rises or falls throughout, not always strictly; so is their
composition, which falls where an odd number of steps fall. `from_peak`, |m - c|, is the one exception: it comes first,
and the rest is a function of the distance from the peak. *Proof.* `scale`, `multiply` and `add` rise, their factors
being positive, and `negate` falls. exp, roots, squares of numbers from 0 on, max(0, x), and x where x >= t > 0, else 0,
rise. ln((x + a) / (x + b)) = ln(1 + (a - b) / (x + b)) with a > b > 0 and 1 / (x + a) with a > 0 fall for x >= 0.
Below 0 roots, squares, quotients and logarithms keep their value at 0, above 0 exponentials theirs. That a chain never
comes there is a rule of head files (`Chain.check`).

**Ranges.** A range goes from the value at one end to that at the other; exponentials, roots and logarithms are rounded
outward to rational numbers, so a range that has one number is exact. An end may be infinite, a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

from ..dyadic import about
from ..errors import FormatError
from .formats import Readers, listed, number, of_kind

COSINES = ("cosine", "rooted_cosine")
GEOMETRIES = ("euclidean", *COSINES, "inner_product", "softmax")
MOST_STEPS = 16
End = Fraction | float
"""Of a range: rational, or infinite."""
Range = tuple[End, End]
Numbers = Mapping[str, Fraction]
_ZERO, _ONE = Fraction(0), Fraction(1)
_ALL: Range = (-inf, inf)
_FROM_0: Range = (_ZERO, inf)
OBSERVABLES: dict[str, Range] = {
    "euclidean": _FROM_0,
    **dict.fromkeys(COSINES, (-_ONE, _ONE)),
    "inner_product": _ALL,
    "softmax": (_ZERO, _ONE),
}
"""Where the observables of each geometry lie."""


@dataclass(frozen=True)
class StepKind:
    """A kind of step.

    Attributes:
        formula: of x, for people.
        over: where the step takes an end of a range, rounded down, and up.
        falls: whether it falls; all others rise.
        domain: the numbers that it takes.
        fields: the names of its numbers.
        tensor: the tensor with one number a prototype that it uses.
    """

    formula: str
    over: Callable[[End, Numbers], Range]
    falls: bool = False
    domain: Range = _ALL
    fields: tuple[str, ...] = ()
    tensor: str | None = None


def _scaled(x: End, numbers: Numbers) -> Range:
    """By any positive factor."""
    if x == 0 or abs(x) == inf:
        return x, x
    return (_ZERO, inf) if x > 0 else (-inf, _ZERO)


def _same(x: End) -> Range:
    return x, x


def _log_ratio(x: End, numbers: Numbers) -> Range:
    """ln y lies between 0 and y - 1."""
    over, under = numbers["over"], numbers["under"]
    return (_ZERO, _ZERO) if x == inf else (_ZERO, (x + over) / (x + under) - 1)


def _exp(x: End, numbers: Numbers) -> Range:
    return (_ZERO if x < 0 else _ONE), (_ZERO if x == -inf else _ONE)


def _root(x: End, numbers: Numbers) -> Range:
    """Between 1 and x; 0 and 1 are their own roots."""
    return (x, x) if x in (0, inf) else (min(x, _ONE), max(x, _ONE))


STEPS: dict[str, StepKind] = {
    "scale": StepKind("scale x", _scaled, tensor="scale"),
    "add": StepKind("x + number", lambda x, of: _same(x + of["number"]), fields=("number",)),
    "multiply": StepKind("number x", lambda x, of: _same(x * of["number"]), fields=("number",)),
    "negate": StepKind("-x", lambda x, _: _same(-x), falls=True),
    "log_ratio": StepKind(
        "ln((x + over) / (x + under))", _log_ratio, falls=True, domain=_FROM_0, fields=("over", "under")
    ),
    "exp": StepKind("exp(x)", _exp, domain=(-inf, _ZERO)),
    "root": StepKind("x^(1/2)", _root, domain=_FROM_0),
    "square": StepKind("x^2", lambda x, _: _same(x * x), domain=_FROM_0),
    "threshold": StepKind(
        "x where x >= number, else 0",
        lambda x, of: _same(x if x >= of["number"] else _ZERO),
        fields=("number",),
    ),
    "rectify": StepKind("max(0, x)", lambda x, _: _same(max(_ZERO, x))),
    "reciprocal": StepKind(
        "1 / (x + number)",
        lambda x, of: _same(_ZERO if x == inf else 1 / (x + of["number"])),
        falls=True,
        domain=_FROM_0,
        fields=("number",),
    ),
    "from_peak": StepKind("|x - peak|", lambda x, _: _FROM_0, tensor="peak"),
}
"""The kinds of steps."""


@dataclass(frozen=True)
class Step:
    """A step: its kind, and its numbers. Raises FormatError, which names the step, where v1.md does not allow them."""

    kind: str
    numbers: Numbers = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = self.numbers
        if self.kind == "log_ratio" and not 0 < numbers["under"] < numbers["over"]:
            raise FormatError(
                f"similarity: log_ratio has over {about(numbers['over'])} and under {about(numbers['under'])}, expected"
                " 0 < under < over"
            )
        if self.kind in ("multiply", "threshold", "reciprocal") and numbers["number"] <= 0:
            raise FormatError(f"similarity: {self.kind} has {about(numbers['number'])}, expected a positive number")

    @property
    def of(self) -> StepKind:
        """What is known of its kind."""
        return STEPS[self.kind]

    def over(self, ends: Range) -> Range:
        """Where the step takes a range, rounded outward."""
        if self.kind == "from_peak":
            return _FROM_0
        first, last = (self.of.over(end, self.numbers) for end in ends)
        return (last[0], first[1]) if self.of.falls else (first[0], last[1])


@dataclass(frozen=True)
class Chain:
    """A similarity S of the observables of one geometry: one step after another.

    Attributes:
        geometry: of the observables m.
        steps: none where S(m) = m.
    """

    geometry: str
    steps: tuple[Step, ...]

    def check(self) -> None:
        """Raises FormatError, which names the step and the remedy: one takes numbers that it is not defined of, a peak
        comes late, or S does not fall with a distance, or rise with other observables."""
        ends = OBSERVABLES[self.geometry]
        for place, step in enumerate(self.steps):
            where, (low, high) = f"similarity: step {place}, {step.kind},", step.of.domain
            if step.kind == "from_peak" and place:
                raise FormatError(f"{where} comes after another, expected the distance from the peak first")
            if step.kind == "from_peak" and self.geometry == "softmax":
                raise FormatError(f"{where} is not defined for softmax, expected similarities that rise with a mass")
            if ends[0] < low or ends[1] > high:
                wanted = "at most 0: negate, or add a negative number" if low < 0 else "at least 0: put rectify before"
                raise FormatError(f"{where} takes {_words(ends[0])} to {_words(ends[1])}, expected numbers {wanted}")
            ends = step.over(ends)
        expected = self.geometry == "euclidean" or self.unimodal
        if self._odd != expected:
            of = "a distance" if expected else "observables that are no distances"
            turns, remedy = ("falls", "rises") if self._odd else ("rises", "falls")
            raise FormatError(f"similarity: it {turns} with {of}, expected one that {remedy}: add a step negate")

    @property
    def _odd(self) -> bool:
        return sum(step.of.falls for step in self.steps) % 2 == 1

    @property
    def unimodal(self) -> bool:
        """Whether S is a function of |m - peak|, which falls."""
        return bool(self.steps) and self.steps[0].kind == "from_peak"

    @property
    def falls(self) -> bool:
        """Whether S falls with its argument: a squared distance, or |m - peak|. It rises with all else."""
        return self.geometry == "euclidean" or self.unimodal

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors with one number a prototype that it uses."""
        return tuple(dict.fromkeys(step.of.tensor for step in self.steps if step.of.tensor is not None))

    def over(self, ends: Range) -> Range:
        """Where S takes a range, rounded outward."""
        for step in self.steps:
            ends = step.over(ends)
        return ends

    @property
    def has_limit(self) -> bool:
        """Whether it tends to 0 as a squared distance grows, so that the domain may be unbounded. What is no distance
        has a bounded domain."""
        return not self.falls or (not self.unimodal and self.over((inf, inf)) == (0, 0))

    @property
    def in_unit(self) -> bool:
        """Whether it lies in [0, 1], as soft trees need."""
        low, high = self.over(OBSERVABLES[self.geometry])
        return low >= 0 and high <= 1


def _words(end: End) -> str:
    return about(end) if isinstance(end, Fraction) else "minus infinity" if end < 0 else "infinity"


def _between(value: Fraction) -> bool:
    return 0 < value < 1


@dataclass(frozen=True)
class SimilarityKind:
    """A kind of similarity in head files: the name of a chain.

    Attributes:
        steps: of the chain, given the geometry and what the kind's fields hold.
        geometries: those it is defined for.
        fields: of its JSON besides the kind, all numbers; but of `steps` the steps. For each number what v1.md allows,
            and how that is said.
        tensors: the tensors with one number a prototype that it uses.
        soft_tree: whether v1.md has soft trees of it; it lies in [0, 1] then.
        focal: whether v1.md has poolings that subtract a mean from it; as a function of a squared distance it is convex
            then.
    """

    steps: Callable[[str, Mapping[str, Any]], Sequence[Step]]
    geometries: tuple[str, ...]
    fields: Mapping[str, tuple[Callable[[Fraction], bool], str]] = field(default_factory=dict)
    tensors: tuple[str, ...] = ()
    soft_tree: bool = False
    focal: bool = False

    @property
    def readers(self) -> Readers:
        """How the fields of its JSON are read."""
        return dict.fromkeys(self.fields, number) or ({"steps": _steps} if self.steps is _listed else {})

    def allows_soft_trees(self, chain: Chain) -> bool:
        """Whether soft trees may read the chain."""
        return chain.in_unit if self.steps is _listed else self.soft_tree

    def chain(self, geometry: str, numbers: Mapping[str, Any]) -> Chain:
        """The chain that it names. Raises FormatError where v1.md does not allow the numbers."""
        for name, (right, expected) in self.fields.items():
            if not right(numbers[name]):
                raise FormatError(f"similarity: {name} is {about(numbers[name])}, expected {expected}")
        return Chain(geometry, tuple(self.steps(geometry, numbers)))


def _step(value: Any, where: str) -> Step:
    return Step(*of_kind(value, where, {name: dict.fromkeys(kind.fields, number) for name, kind in STEPS.items()}))


_LISTED = listed(_step, expected="a list of steps")


def _steps(value: Any, where: str) -> tuple[Step, ...]:
    if len(steps := _LISTED(value, where)) > MOST_STEPS:
        raise FormatError(f"{where} has {len(steps)} steps, expected at most {MOST_STEPS}")
    return steps


def _listed(geometry: str, numbers: Mapping[str, Any]) -> Sequence[Step]:
    """Those that the head file has."""
    steps: Sequence[Step] = numbers["steps"]
    return steps


def _exponential(geometry: str, numbers: Mapping[str, Any]) -> Sequence[Step]:
    """Of a cosine m the distance is 1 - m."""
    distance = [] if geometry == "euclidean" else [Step("negate"), Step("add", {"number": _ONE})]
    return [*distance, Step("scale"), Step("negate"), Step("exp")]


SIMILARITIES: dict[str, SimilarityKind] = {
    "log_ratio": SimilarityKind(
        lambda _, of: [Step("scale"), Step("log_ratio", {"over": _ONE, "under": of["epsilon"]})],
        ("euclidean",),
        {"epsilon": (_between, "between 0 and 1, both excluded")},
        tensors=("scale",),
        focal=True,
    ),
    "negated": SimilarityKind(lambda *_: [Step("scale"), Step("negate")], ("euclidean",), tensors=("scale",)),
    "exp_distance": SimilarityKind(
        lambda _, of: [Step("add", {"number": of["epsilon"]}), Step("root"), Step("negate"), Step("exp")],
        ("euclidean",),
        {"epsilon": (lambda epsilon: epsilon >= 0, "at least 0")},
        soft_tree=True,
    ),
    "identity": SimilarityKind(lambda *_: [], (*COSINES, "inner_product", "softmax"), focal=True),
    "exponential": SimilarityKind(_exponential, ("euclidean", *COSINES), tensors=("scale",), soft_tree=True),
    "quadratic": SimilarityKind(
        lambda *_: [Step("from_peak"), Step("square"), Step("negate")],
        ("euclidean", *COSINES, "inner_product"),
        tensors=("peak",),
    ),
    "rectified": SimilarityKind(lambda *_: [Step("rectify")], (*COSINES, "inner_product")),
    "threshold": SimilarityKind(
        lambda _, of: [Step("threshold", {"number": of["threshold"]})],
        ("softmax",),
        {"threshold": (_between, "between 0 and 1, both excluded")},
    ),
    "student_t": SimilarityKind(
        lambda _, of: [Step("reciprocal", {"number": of["nu"]}), Step("multiply", {"number": of["nu"]})],
        ("euclidean",),
        {"nu": (lambda nu: nu > 0, "a positive number")},
        soft_tree=True,
    ),
    "steps": SimilarityKind(_listed, GEOMETRIES, tensors=("scale", "peak")),
}
"""Every similarity, by its kind in head files. All but `steps` are names of chains."""
