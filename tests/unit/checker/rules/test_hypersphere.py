"""The rule `hypersphere`: sound whatever the multipliers, right on examples done by hand, dependent on the order."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from verale.checker import Status, Verdict, check
from verale.checker.certificate import PatchStatement
from verale.checker.head_file import read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.rules import hypersphere
from verale.checker.rules.hypersphere import Hypersphere
from verale.checker.rules.space import Ranges, Space
from verale.checker.rules.triangle import Triangle
from verale.soundness.independent import arithmetic, files

Matrix = list[list[float]]
Ends = tuple[Fraction, Fraction]

# Which multiples are taken and when c stays: the rule's own constants, and others.
CONSTANTS = {"own": (18, 13), "coarse": (1, 13), "fine": (90, 200), "idle": (18, 1)}


def space(
    rows: Matrix, geometry: str, kernel: str = "arb", lower: float | None = None, upper: float | None = None
) -> Space:
    changes: dict[str, Any] = {"domain": files.domain(lower, upper)}
    if geometry == "cosine":
        changes |= {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}
    return Space(read_head(files.head([[1.0] * len(rows), [0.0] * len(rows)], rows, **changes)), load_kernel(kernel))


def gauss(random: Random, rows: int, depth: int, scale: float = 1.0) -> Matrix:
    return [[random.gauss(0, scale) for _ in range(depth)] for _ in range(rows)]


def clouds(random: Random, depth: int) -> dict[str, Matrix]:
    some = gauss(random, 6, depth)
    return {
        "general": some,
        "duplicates": [some[0], some[1], some[0], some[2], some[1], [2 * x for x in some[0]]],
        "nearly duplicates": [[x * (1 + t * 2.0**-52) for x in some[0]] for t in (0, 1, -1, 2, 0)],
        "collinear": [[a + t * b for a, b in zip(some[0], some[1], strict=True)] for t in range(6)],
        "orthogonal": [[float(i == j) for j in range(depth)] for i in range(depth)],
        "huge": gauss(random, 5, depth, 1e150),
        "tiny": gauss(random, 5, depth, 1e-30),
        "mixed": [*gauss(random, 2, depth), *gauss(random, 2, depth, 1e-30), *gauss(random, 2, depth, 1e30)],
    }


def truths(rows: Matrix, z: list[float], geometry: str) -> list[Ends]:
    if geometry == "cosine":
        return [arithmetic.cosine_ends(z, row, 0.0) for row in rows]
    return [(d, d) for d in (arithmetic.squared_distance(z, row) for row in rows)]


def stated(random: Random, ends: list[Ends], count: int) -> list[PatchStatement]:
    """True statements, as narrow as they can be or of any width."""
    return [
        PatchStatement(0, j, ends[j][0] - width * abs(ends[j][0]), ends[j][1] + width * abs(ends[j][1]))
        for j in random.sample(range(len(ends)), min(count, len(ends)))
        for width in [Fraction(random.choice((0, 0, 1, 10**9, 10**16)), 10**15)]
    ]


def contains(where: Space, result: Ranges, ends: list[Ends]) -> bool:
    """Whether the ranges of working observables hold the true observables."""
    if result.upper is None:
        return False
    for k, (low, high) in enumerate(ends):
        scales = arithmetic.root(Fraction(int(where.squares[k]))) if where.head.geometry == "cosine" else (Fraction(1),)
        truth = sorted(end * scale * 2**where.bits for end in (low, high) for scale in scales)
        if not (int(result.lower[k]) <= truth[-1] and truth[0] <= int(result.upper[k])):
            return False
    return True


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("constants", CONSTANTS)
def test_the_truth_lies_within_whatever_the_multipliers(
    constants: str, depth: int, geometry: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in zip(("_STEP_BITS", "_CONCENTRIC_BITS"), CONSTANTS[constants], strict=True):
        monkeypatch.setattr(hypersphere, name, value)
    random = Random(f"{constants} {depth} {geometry}")
    for rows in clouds(random, depth).values():
        for _ in range(4):
            near = random.choice(rows)
            z = [x + random.gauss(0, max(map(abs, near)) * random.choice((1e-12, 0.1, 3))) for x in near]
            where = space(rows, geometry, kernel, *random.choice([(None, None), (min(z), max(z) + abs(max(z)) + 1)]))
            ends = truths(rows, z, geometry)
            assert contains(where, Hypersphere(where).ranges(stated(random, ends, random.randrange(1, 6))), ends)


def test_a_wrong_range_is_seen() -> None:
    """The test above can fail."""
    random = Random(1)
    rows, (z,) = gauss(random, 3, 2), gauss(random, 1, 2)
    where, ends = space(rows, "euclidean"), truths(rows, z, "euclidean")
    result = Hypersphere(where).ranges([PatchStatement(0, 0, *ends[0])])
    assert result.upper is not None
    assert not contains(where, Ranges([low + (1 << where.bits + 8) for low in result.lower], result.upper), ends)


def values(where: Space, result: Ranges) -> list[tuple[float, float]]:
    assert result.upper is not None
    return [(int(a) / 2**where.bits, int(b) / 2**where.bits) for a, b in zip(result.lower, result.upper, strict=True)]


# The latent (1, 1) and two statements about it: the circles meet in (1, 1) and (1, -1), on the circle about (1, 0).
ROWS = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, -2.5], [1.0, 0.5]]
BOTH = [PatchStatement(0, 0, Fraction(2), Fraction(2)), PatchStatement(0, 1, Fraction(2), Fraction(2))]


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_circles_meet(kernel: str) -> None:
    where = space(ROWS, "euclidean", kernel)
    result = values(where, Hypersphere(where).ranges(BOTH))
    assert result[2] == pytest.approx((1, 1), abs=1e-9)  # the new centre
    assert result[3] == pytest.approx((1.5**2, 3.5**2), abs=1e-9)  # outside the circle
    assert result[4] == pytest.approx((0.5**2, 1.5**2), abs=1e-9)  # inside
    loose = values(where, Triangle(where).ranges(BOTH))
    assert loose[2][1] > 5 and loose[3][0] < 1.7


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_caps_meet(kernel: str) -> None:
    """u = (0.6, 0.48, 0.64), known along two axes: the pole is (0.6, 0.48, 0) and the rest of u has length 0.64."""
    where = space([[1.0, 0, 0], [0, 2.0, 0], [0, 0, 1.0], [3.0, 4.0, 0]], "cosine", kernel)
    statements = [PatchStatement(0, j, m, m) for j, m in ((0, Fraction(3, 5)), (1, Fraction(12, 25)))]
    result = values(where, Hypersphere(where).ranges(statements))
    assert result[2] == pytest.approx((-0.64, 0.64), abs=1e-5)
    along = 0.6 * 3 + 0.48 * 4
    swing = 0.64 * (25 - along**2 / (1 - 0.64**2)) ** 0.5
    assert result[3] == pytest.approx((along - swing, along + swing), abs=1e-4)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_one_statement_is_the_triangle_inequality(geometry: str) -> None:
    random = Random(2)
    rows, (z,) = gauss(random, 6, 4), gauss(random, 1, 4)
    where = space(rows, geometry)
    statement = PatchStatement(0, 3, *truths(rows, z, geometry)[3])
    result, same = (values(where, rule(where).ranges([statement])) for rule in (Hypersphere, Triangle))
    for mine, theirs in zip(result, same, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_a_duplicate_changes_nothing_and_the_order_does(geometry: str) -> None:
    random = Random(3)
    rows, (z,) = gauss(random, 6, 4), gauss(random, 1, 4)
    rows[5] = rows[0]
    where = space(rows, geometry)
    first, second, third, *_, same = (PatchStatement(0, j, *end) for j, end in enumerate(truths(rows, z, geometry)))
    rule = Hypersphere(where)
    with_it, without = rule.ranges([first, same, second]), rule.ranges([first, second])
    assert with_it.upper is not None and without.upper is not None
    assert (with_it.lower[1:5], with_it.upper[1:5]) == (without.lower[1:5], without.upper[1:5])
    forth, back = values(where, rule.ranges([first, second, third])), values(where, rule.ranges([third, second, first]))
    assert max(abs(a[1] - b[1]) for a, b in zip(forth, back, strict=True)) > 1e-3


def test_a_latent_across_both_prototypes_leaves_the_pole_where_it_is() -> None:
    """The projection on their span is nearly 0 and has no direction."""
    where = space([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], "cosine")
    small = [PatchStatement(0, j, Fraction(1, 1000), Fraction(1, 1000)) for j in (0, 1)]
    alone, both = (values(where, Hypersphere(where).ranges(small[:count])) for count in (1, 2))
    assert alone[2] == both[2]


def test_the_kernels_give_the_same_ranges() -> None:
    for geometry in ("euclidean", "cosine"):
        random = Random(11)
        for rows in clouds(random, 4).values():
            statements = stated(random, truths(rows, gauss(random, 1, 4)[0], geometry), 4)
            one, other = (Hypersphere(space(rows, geometry, kernel)).ranges(statements) for kernel in KERNELS)
            assert one.upper is not None and other.upper is not None
            assert list(map(int, one.lower)) == list(map(int, other.lower))
            assert list(map(int, one.upper)) == list(map(int, other.upper))


def test_without_statements_the_domain_speaks() -> None:
    where = space([[0.5]], "euclidean", "arb", 0.0, 1.0)
    assert Hypersphere(where).ranges([]) == where.domain


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_contradictory_statements_break_nothing(geometry: str) -> None:
    random = Random(4)
    where = space([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0], [1.0, 0.5]], geometry)
    for _ in range(200):
        ends = [Fraction(random.choice((-1, 1)) * 2 ** random.randrange(-400, 400)) for _ in range(5)]
        result = Hypersphere(where).ranges([PatchStatement(0, j, end, end) for j, end in enumerate(ends)][:4])
        assert result.upper is not None and len(result.upper) == 5


# Two classes: the third prototype speaks for the first, the fourth for the second. Both statements are needed.
HEAD = files.head([[0.0, 0, 1, 0, 0], [0.0, 0, 0, 1, 0]], ROWS, domain=files.domain(None, None))
IMAGE = [[1.0, 1.0]]
STATED = [files.patch_statement(0, 0, 2.0, 2.0), files.patch_statement(0, 1, 2.0, 2.0)]


def verdict(statements: list[dict[str, Any]], kernel: str, **options: Any) -> Verdict:
    options = {"paradigm": "hypersphere", "image": IMAGE, "minimality": True} | options
    return check(files.certificate(HEAD, statements, **options), HEAD, files.latents([IMAGE]), kernel, minimality=True)


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_a_certificate_is_proved_and_altered_ones_are_not(kernel: str) -> None:
    result = verdict(STATED, kernel)
    assert (result.status, result.paradigm) == (Status.PROVED, "hypersphere"), result.message
    assert set(result.claims.values()) == {"proved"}
    assert (verdict(STATED, kernel, paradigm="triangle")).reason == "entailment"
    for altered in (STATED[:1], STATED[1:], [STATED[0], files.patch_statement(0, 1, 2.0, 8.0)]):
        result = verdict(altered, kernel)
        assert (result.status, result.reason) == (Status.NOT_PROVED, "entailment")
    assert verdict([STATED[0], files.patch_statement(0, 1, 2.5, 3.0)], kernel).reason == "instance"
    assert verdict(STATED, kernel, predicted=1).status is Status.REFUTED
    assert verdict([*STATED, files.patch_statement(0, 2, 1.0, 1.0)], kernel).reason == "minimality"
