"""The rule of the geometric paradigms: true observables lie inside, whatever the weights; and the ends are attained."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import pytest
from support import arithmetic, files
from support.cases import case, named
from support.rationals import cosine_ends, root

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.facts import Target
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space
from verale.checker.reading.weights import Weights

Matrix = list[list[float]]


def space(
    prototypes: Matrix, geometry: str, lower: float | None, upper: float | None, kernel: str, epsilon: float = 0.0
) -> Space:
    changes = {"domain": files.domain(lower, upper)}
    if geometry == "inner_product":
        changes |= {"geometry": {"kind": geometry, "radius": None}, "similarity": files.IDENTITY}
    if geometry == "cosine":
        changes |= {"geometry": files.cosine(epsilon), "similarity": files.IDENTITY}
    weight = [[1.0] * len(prototypes), [0.0] * len(prototypes)]
    return Space(read_head(files.head(weight, prototypes, **changes)), load_arithmetic(kernel))


def gauss(generator: random.Random, rows: int, depth: int, scale: float = 1.0) -> Matrix:
    return [[generator.gauss(0, scale) for _ in range(depth)] for _ in range(rows)]


def duplicates(generator: random.Random, depth: int) -> Matrix:
    rows = gauss(generator, 3, depth)
    return [rows[0], rows[1], rows[0], rows[2], rows[1], rows[0]]


def nearly_duplicates(generator: random.Random, depth: int) -> Matrix:
    (row,) = gauss(generator, 1, depth)
    return [[x * (1 + generator.choice((0, 1, -1)) * 2.0**-52) for x in row] for _ in range(6)]


def collinear(generator: random.Random, depth: int) -> Matrix:
    start, step = gauss(generator, 2, depth)
    return [[float(int(8 * a) + t * int(8 * b)) + 0.5 for a, b in zip(start, step, strict=True)] for t in range(6)]


def mixed_scales(generator: random.Random, depth: int) -> Matrix:
    return [*gauss(generator, 2, depth), *gauss(generator, 2, depth, 1e-30), *gauss(generator, 2, depth, 1e30)]


def denormal(generator: random.Random, depth: int) -> Matrix:
    return [[generator.randrange(-9, 10) * 5e-324 for _ in range(depth)] for _ in range(4)] + gauss(generator, 2, depth)


RECIPES: dict[str, Callable[[random.Random, int], Matrix]] = {
    "general": lambda generator, depth: gauss(generator, 6, depth),
    "one": lambda generator, depth: gauss(generator, 1, depth),
    "two": lambda generator, depth: gauss(generator, 2, depth),
    "three": lambda generator, depth: gauss(generator, 3, depth),
    "duplicates": duplicates,
    "nearly duplicates": nearly_duplicates,
    "collinear": collinear,
    "huge": lambda generator, depth: gauss(generator, 5, depth, 1e150),
    "tiny": lambda generator, depth: gauss(generator, 5, depth, 1e-30),
    "mixed scales": mixed_scales,
    "denormal": denormal,
    "with zero": lambda generator, depth: [[0.0] * depth, *gauss(generator, 4, depth)],
}


def without_zero(rows: Matrix) -> Matrix:
    return [row if any(row) else [5e-324] * len(row) for row in rows]


def stated(
    generator: random.Random, truths: list[tuple[Fraction, Fraction]], exact: bool, count: int
) -> list[PatchStatement]:
    """True statements about some prototypes: as narrow as they can be, or of any width."""
    statements = []
    for j in generator.sample(range(len(truths)), min(count, len(truths))):
        low, high = truths[j]
        wide = [
            Fraction(0) if exact else abs(low) * Fraction(generator.choice((0, 1, 10**6, 10**15)), 10**15) for _ in "lh"
        ]
        statements.append(PatchStatement(0, j, low - wide[0], high + wide[1]))
    return statements


def latent(generator: random.Random, rows: Matrix, depth: int) -> list[float]:
    """A latent near a prototype, or anywhere."""
    row = generator.choice(rows)
    size = max(map(abs, row)) or 1.0
    return [x + generator.gauss(0, size * generator.choice((1e-12, 0.1, 3))) for x in row[:depth]]


@named(*KERNELS)
def test_euclidean_contains_the_truth() -> None:
    for recipe, depth in product(RECIPES, (1, 2, 7)):
        with case(recipe, depth):
            generator = random.Random(f"{recipe} {depth}")
            for trial in range(6):
                rows = RECIPES[recipe](generator, depth)
                z = latent(generator, rows, depth)
                domain = generator.choice(
                    ((None, None), (min(z), None), (None, max(z)), (min(z), max(z) + max(map(abs, z)) + 1))
                )
                truths = [(d, d) for d in (arithmetic.squared_distance(z, row) for row in rows)]
                statements = stated(generator, truths, trial % 2 == 0, generator.randrange(0, 6))
                for kernel in KERNELS:
                    where = space(rows, "euclidean", *domain, kernel)
                    result = QuadraticRule(where).ranges(statements)
                    for k, (truth, _) in enumerate(truths):
                        assert int(result.lower[k]) <= truth * 2**where.bits, kernel
                        if result.upper is None:
                            assert domain[0] is None or domain[1] is None, kernel
                            assert not statements, kernel
                        else:
                            assert truth * 2**where.bits <= int(result.upper[k]), kernel


@named(*KERNELS)
def test_cosine_contains_the_truth() -> None:
    for recipe, depth, epsilon in product(RECIPES, (1, 2, 7), (0.0, 1e-8, 0.5)):
        with case(recipe, depth, epsilon):
            generator = random.Random(f"{recipe} {depth} {epsilon}")
            for trial in range(2):
                rows = without_zero(RECIPES[recipe](generator, depth))
                z = latent(generator, rows, depth)
                lower = generator.choice((None, -1e200, 0.0))
                if lower == 0.0:
                    z = [abs(x) for x in z]
                z = z if any(z) else [1.0] * depth
                truths = [cosine_ends(z, row, epsilon) for row in rows]
                statements = stated(generator, truths, trial % 2 == 0, generator.randrange(0, 6))
                spaces = {kernel: space(rows, "cosine", lower, None, kernel, epsilon) for kernel in KERNELS}
                results = {kernel: QuadraticRule(where).ranges(statements) for kernel, where in spaces.items()}
                where = spaces["arb"]
                for k, (low, high) in enumerate(truths):
                    # The working observable is |A_k| m_k, A_k the prototype as integers.
                    ends = root(Fraction(where.squares[k].__int__()))
                    truth = sorted(cosine * end for cosine in (low, high) for end in ends)
                    for kernel, result in results.items():
                        assert result.upper is not None, kernel
                        assert int(result.lower[k]) <= truth[-1] * 2 ** spaces[kernel].bits, kernel
                        assert truth[0] * 2 ** spaces[kernel].bits <= int(result.upper[k]), kernel


def frame(rows: list[list[mpmath.mpf]], depth: int) -> list[mpmath.matrix]:
    """An orthonormal basis of the span of the rows (50 digits)."""
    basis: list[mpmath.matrix] = []
    for row in rows:
        rest = mpmath.matrix(row)
        for direction in basis:
            rest -= direction * (direction.T * rest)[0]
        if mpmath.norm(rest) > mpmath.mpf(10) ** -30:
            basis.append(rest / mpmath.norm(rest))
    return basis


def split(vector: mpmath.matrix, basis: list[mpmath.matrix]) -> tuple[mpmath.matrix, mpmath.matrix]:
    along = mpmath.zeros(len(vector), 1)
    for direction in basis:
        along += direction * (direction.T * vector)[0]
    return along, vector - along


def unit(height: mpmath.matrix, free: mpmath.matrix) -> mpmath.matrix:
    """The direction of what a target has outside the span; any free direction where it has nothing."""
    vector = height if mpmath.norm(height) > mpmath.mpf(10) ** -30 else free
    return vector / mpmath.norm(vector)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("anchors", [1, 2, 4, 6])
def test_euclidean_ends_are_attained(anchors: int, kernel: str) -> None:
    """Latents built for the purpose satisfy exact statements and reach each end within 1e-9."""
    generator = random.Random(anchors)
    depth = anchors + 1
    with mpmath.workdps(60):
        for _ in range(5):
            rows = gauss(generator, 9, depth)
            rows[anchors] = rows[0]  # a duplicate of an anchor
            z = gauss(generator, 1, depth)[0]
            where = space(rows, "euclidean", None, None, kernel)
            distances = [arithmetic.squared_distance(z, row) for row in rows]
            result = QuadraticRule(where).ranges(
                [PatchStatement(0, j, distances[j], distances[j]) for j in range(anchors)]
            )
            base = mpmath.matrix(rows[0])
            basis = frame([list(mpmath.matrix(row) - base) for row in rows[1:anchors]], depth)
            foot, free = split(mpmath.matrix(z) - base, basis)
            for k, row in enumerate(rows):
                _, height = split(mpmath.matrix(row) - base, basis)
                direction = unit(height, free)
                for sign, end in ((1, result.lower[k]), (-1, result.upper[k])):
                    extreme = base + foot + sign * mpmath.norm(free) * direction
                    reached = mpmath.norm(extreme - mpmath.matrix(row)) ** 2
                    assert abs(reached - mpmath.mpf(int(end)) / 2**where.bits) < 1e-9


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("anchors", [1, 2, 5])
def test_cosine_ends_are_attained(anchors: int, kernel: str) -> None:
    generator = random.Random(anchors)
    depth = anchors + 1
    with mpmath.workdps(60):
        for _ in range(5):
            rows = gauss(generator, 8, depth)
            rows[anchors] = [2 * x for x in rows[0]]
            z = gauss(generator, 1, depth)[0]
            where = space(rows, "cosine", None, None, kernel)
            cosines = [cosine_ends(z, row, 0.0) for row in rows]
            result = QuadraticRule(where).ranges([PatchStatement(0, j, *cosines[j]) for j in range(anchors)])
            basis = frame([[mpmath.mpf(x) for x in row] for row in rows[:anchors]], depth)
            foot, free = split(mpmath.matrix(z) / mpmath.norm(mpmath.matrix(z)), basis)
            assert result.upper is not None
            for k, row in enumerate(rows):
                target = mpmath.matrix(row)
                _, height = split(target, basis)
                direction = unit(height, free)
                size = mpmath.sqrt(int(where.squares[k])) * mpmath.mpf(2) ** where.bits
                for sign, end in ((-1, result.lower[k]), (1, result.upper[k])):
                    extreme = foot + sign * mpmath.norm(free) * direction
                    reached = (extreme.T * target)[0] / mpmath.norm(target)
                    assert abs(reached - mpmath.mpf(int(end)) / size) < 1e-9


def inner_space(
    rows: Matrix, lower: float | None, upper: float | None, radius: float | None, kernel: str = "arb"
) -> Space:
    geometry = {"kind": "inner_product", "radius": None if radius is None else radius.hex()}
    weight, domain = [[1.0] * len(rows)] * 2, files.domain(lower, upper)
    return Space(
        read_head(files.head(weight, rows, geometry=geometry, similarity=files.IDENTITY, domain=domain)),
        load_arithmetic(kernel),
    )


@named(*KERNELS)
def test_inner_product_contains_the_truth() -> None:
    for recipe, depth in product(RECIPES, (1, 2, 7)):
        with case(recipe, depth):
            generator = random.Random(f"{recipe} {depth} inner")
            for trial in range(4):
                rows = RECIPES[recipe](generator, depth)
                z = latent(generator, rows, depth)
                above = arithmetic.above(root(arithmetic.product(z, z) or Fraction(1, 2**2000))[1]) or 1.0
                box = generator.choice(((None, None), (min(z), None), (min(z), max(z) + 1 + abs(max(z)))))
                radius = None if box[1] is not None and generator.random() < 0.5 else above
                truths = [(m, m) for m in (arithmetic.product(z, row) for row in rows)]
                statements = stated(generator, truths, trial % 2 == 0, generator.randrange(0, 6))
                for kernel in KERNELS:
                    where = inner_space(rows, *box, radius, kernel)
                    result = QuadraticRule(where).ranges(statements)
                    assert result.upper is not None, kernel
                    for k, (truth, _) in enumerate(truths):
                        assert int(result.lower[k]) <= truth * 2**where.bits <= int(result.upper[k]), kernel


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("anchors", [1, 2, 4])
@pytest.mark.parametrize("box", [(None, None, 3.0), (-1.0, 3.0, None)])
def test_inner_product_ends_are_attained(
    box: tuple[float | None, float | None, float | None], anchors: int, kernel: str
) -> None:
    """By points of the ball that satisfy exact statements; the domain's own range may be less than the ball's."""
    generator = random.Random(anchors)
    depth = anchors + 2
    with mpmath.workdps(60):
        for _ in range(5):
            rows = gauss(generator, 9, depth)
            rows[anchors] = [2 * x for x in rows[0]]
            z = [generator.uniform(-0.9, 1.2) for _ in range(depth)]
            where = inner_space(rows, *box, kernel)
            centre = mpmath.matrix([0.0 if box[0] is None else 1.0] * depth)
            radius = mpmath.mpf(3) if box[0] is None else 2 * mpmath.sqrt(depth)
            products = [arithmetic.product(z, row) for row in rows]
            result = QuadraticRule(where).ranges(
                [PatchStatement(0, j, products[j], products[j]) for j in range(anchors)]
            )
            assert result.upper is not None and where.domain.upper is not None
            basis = frame([[mpmath.mpf(x) for x in row] for row in rows[:anchors]], depth)
            foot, free = split(mpmath.matrix(z) - centre, basis)
            reach = mpmath.sqrt(radius**2 - mpmath.norm(foot) ** 2)
            for k, row in enumerate(rows):
                target = mpmath.matrix(row)
                direction = unit(split(target, basis)[1], free)
                for sign, end, own in (
                    (-1, result.lower[k], where.domain.lower[k]),
                    (1, result.upper[k], where.domain.upper[k]),
                ):
                    extreme = centre + foot + sign * reach * direction
                    reached = sign * (extreme.T * target)[0]
                    limit = min(reached, mpmath.mpf(sign * int(own)) / 2**where.bits)
                    assert abs(limit - mpmath.mpf(sign * int(end)) / 2**where.bits) < 1e-9


def observed(where: Space, z: list[float], epsilon: float = 0.0) -> list[tuple[tuple[Fraction, Fraction], ...]]:
    """For every prototype the ends of the observable, and those of the working one on the grid."""
    head, unit = where.head, 2**where.bits
    result = []
    for vector, square in zip(where.vectors, where.squares, strict=True):
        row = [Fraction(entry, 1 << head.prototypes.bits) for entry in vector]
        match head.geometry:
            case "euclidean":
                ends = (sum((Fraction(a) - b) ** 2 for a, b in zip(z, row, strict=True)),) * 2
                working = [end * unit for end in ends]
            case "cosine":
                ends = cosine_ends(z, list(map(float, row)), epsilon)
                scales = root(Fraction(int(square)))
                working = sorted(end * scale * unit for end in ends for scale in scales)
            case _:
                ends = (sum(Fraction(a) * b for a, b in zip(z, row, strict=True)),) * 2
                working = [end * unit for end in ends]
        result.append((ends, (working[0], working[-1])))
    return result


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "inner_product"])
def test_any_weights_are_sound(geometry: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bad ones the range is wide, and still holds the truth."""
    generator, good = random.Random(15), Weights.best

    def poor(self: Weights, target: Target) -> list[int]:
        size = generator.choice((0.0, 1e-9, 0.3, 5.0))
        return [int(w * (1 + Fraction(generator.gauss(0, size)))) for w in good(self, target)]

    monkeypatch.setattr(Weights, "best", poor)
    for trial in range(18):
        rows = gauss(generator, 6, 3)
        box = (-9.0, 9.0) if geometry == "inner_product" else (None, None)
        where = space(rows, geometry, *box, kernel)
        (z,) = gauss(generator, 1, 3)
        truths = observed(where, z)
        ranges = QuadraticRule(where).ranges(stated(generator, [ends for ends, _ in truths], trial % 2 == 0, 4))
        assert ranges.upper is not None
        for k, (_, (low, high)) in enumerate(truths):
            assert ranges.lower[k] <= high and low <= ranges.upper[k]


def combined(
    quadratic: QuadraticRule, statements: list[PatchStatement], shares: dict[int, int]
) -> tuple[Fraction, Fraction]:
    least = partial(quadratic.combination, statements)
    return least(shares), -least({k: -share for k, share in shares.items()})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "inner_product"])
def test_combinations_hold_the_truth_and_are_tighter_than_sums(geometry: str, kernel: str) -> None:
    generator, tighter = random.Random(21), 0
    for trial in range(20):
        rows, (z,) = gauss(generator, 6, 4), gauss(generator, 1, 4)
        where = space(rows, geometry, -9.0, 9.0, kernel)
        truths, quadratic = observed(where, z), QuadraticRule(where)
        statements = stated(generator, [ends for ends, _ in truths], trial % 2 == 0, generator.randrange(1, 5))
        shares = {k: generator.randrange(-9, 10) for k in (0, 2, 5)}
        low, high = combined(quadratic, statements, shares)
        unit, ranges = Fraction(1, 2**where.bits), quadratic.ranges(statements)
        assert ranges.upper is not None
        sums = [Fraction(0)] * 4
        for k, share in shares.items():
            sides = [int(ranges.lower[k]) * unit * share, int(ranges.upper[k]) * unit * share]
            ends = [end * unit * share for end in truths[k][1]]
            sums = [a + b for a, b in zip(sums, (min(ends), max(ends), min(sides), max(sides)), strict=True)]
        assert low <= sums[1] and sums[0] <= high
        tighter += high - low < sums[3] - sums[2]
    assert tighter > 10
