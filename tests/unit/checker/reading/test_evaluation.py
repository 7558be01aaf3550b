"""The head at latents: enclosures hold the truth at every precision, coarse ones too, where a wrong end would show."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support import arithmetic, files
from support.cases import named
from support.exact import Head
from support.exact import Head as ExactHead
from support.rationals import cosine_ends
from support.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image

from verale.checker import Status, Verdict, check
from verale.checker.certificate import FloorStatement, OrderStatement
from verale.checker.dyadic import ceil_at, exact, floor_at
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.space import Space

BITS = [0, 1, 2, 3, 5, 8, 20, 64, 256]


def cosine_head(rows: list[list[float]], epsilon: float) -> bytes:
    weight = [[1.0] * len(rows)] * 2
    return files.head(weight, rows, geometry=files.cosine(epsilon), similarity=files.IDENTITY)


@named(*KERNELS)
@pytest.mark.parametrize("epsilon", [0.0, 1e-8, 0.5])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_cosines(scale: float, epsilon: float) -> None:
    generator = random.Random(1)
    for _ in range(10):
        rows, patches = (
            [[generator.choice((1.0, -1.0, generator.gauss(0, 1))) * scale for _ in range(2)] for _ in range(3)]
            for _ in "rp"
        )
        patches.append([x * generator.choice((1.0, 0.5)) for x in rows[0]])
        truths = [[cosine_ends(patch, row, epsilon) for patch in patches] for row in rows]
        head, image = read_head(cosine_head(rows, epsilon)), exact(files.flat(patches), 2)
        evaluations = {
            kernel: Evaluation(Space(head, load_arithmetic(kernel)), EnclosedLatents.exactly(image))
            for kernel in KERNELS
        }
        for (kernel, evaluation), bits in product(evaluations.items(), BITS):
            box = evaluation.activations(bits)
            for j, of_row in enumerate(truths):
                for patch, (least, greatest) in enumerate(of_row):
                    low, high = evaluation.observable(patch, j, bits)
                    assert low <= greatest, kernel
                    assert least <= high, kernel
                    assert -1 <= low <= high <= 1, kernel
                    assert high - low <= Fraction(8, 1 << bits), kernel
                assert Fraction(box.lower[j], 1 << bits) <= max(greatest for _, greatest in of_row), kernel
                assert max(least for least, _ in of_row) <= Fraction(box.upper[j], 1 << bits), kernel


def test_cosines_of_small_integers_at_coarse_precision() -> None:
    """Every pair of a grid: here one wrong choice of a norm's end shows."""
    points = [[float(x), float(y)] for x in range(-2, 4) for y in range(4) if x or y]
    space = Space(read_head(cosine_head(points, 0.0)), load_arithmetic("mpmath"))
    evaluation = Evaluation(space, EnclosedLatents.exactly(exact(files.flat(points), 2)))
    for patch, z in enumerate(points):
        for j, row in enumerate(points):
            least, greatest = cosine_ends(z, row, 0.0)
            for bits in range(9):
                low, high = evaluation.observable(patch, j, bits)
                assert low <= greatest
                assert least <= high


@pytest.mark.parametrize("kernel", KERNELS)
def test_masses(kernel: str) -> None:
    """Logits ln 2, ln 3 and the like are no floats; sums of masses and their ratios are known all the same."""
    head = read_head(files.head([[1.0] * 3] * 2, geometry=files.SOFTMAX, similarity=files.IDENTITY))
    space = Space(head, load_arithmetic(kernel))
    generator = random.Random(2)
    for _ in range(20):
        patches = [[generator.gauss(0, 2) for _ in range(3)] for _ in range(2)]
        evaluation = Evaluation(space, EnclosedLatents.exactly(exact(files.flat(patches), 3)))
        fine = [[evaluation.observable(patch, j, 400) for j in range(3)] for patch in range(2)]
        for bits in BITS:
            for patch in range(2):
                ends = [evaluation.observable(patch, j, bits) for j in range(3)]
                assert sum(low for low, _ in ends) <= 1 <= sum(high for _, high in ends)
                for (low, high), (least, greatest) in zip(ends, fine[patch], strict=True):
                    assert 0 <= low <= greatest
                    assert least <= high <= 1
            box = evaluation.activations(bits)
            for j in range(3):
                assert Fraction(box.lower[j], 1 << bits) <= max(row[j][1] for row in fine)
                assert max(row[j][0] for row in fine) <= Fraction(box.upper[j], 1 << bits)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [1.0, 5e-324, 1e200])
def test_squared_distances_are_exact(scale: float, kernel: str) -> None:
    generator = random.Random(3)
    rows = [[generator.randrange(-9, 9) * scale for _ in range(3)] for _ in range(4)]
    patches = [[generator.gauss(0, 1) for _ in range(3)] for _ in range(3)]
    space = Space(read_head(files.head([[1.0] * 4] * 2, rows)), load_arithmetic(kernel))
    evaluation = Evaluation(space, EnclosedLatents.exactly(exact(files.flat(patches), 3)))
    for j, row in enumerate(rows):
        for patch, z in enumerate(patches):
            truth = arithmetic.squared_distance(z, row)
            assert evaluation.observable(patch, j, 1) == (truth, truth)
    box = evaluation.activations(100)
    assert all(high - low <= 2 for low, high in zip(box.lower, box.upper, strict=True))


# Over a box of latents: what it says holds at every point that is tried, and is narrow for a box that is narrow.


PLACES = 80


def heads() -> dict[str, Any]:
    """One recipe for each head that they have."""
    found: dict[str, Any] = {}
    for recipe in all_recipes():
        own = replace(recipe, paradigm="top_k", width=0.0)
        if recipe.patches == PATCHES:
            found.setdefault(str((own.parts, "scaled" in own.options)), own)
    return {f"{recipe.name[len('accept/top_k-') :]}-{n}": recipe for n, recipe in enumerate(found.values())}


HEADS = heads()


def box_around(image: files.Matrix, width: Fraction, bits: int = PLACES) -> EnclosedLatents:
    lower = [[floor_at(Fraction(x) - width, bits) for x in z] for z in image]
    return EnclosedLatents(lower, [[ceil_at(Fraction(x) + width, bits) for x in z] for z in image], bits)


def points(box: EnclosedLatents, generator: random.Random) -> list[list[list[Any]]]:
    """Corners and other points of a box, in balls that are points."""
    unit = flint.arb(2) ** box.bits

    def point(pick: Any) -> list[list[Any]]:
        rows = zip(box.lower, box.upper, strict=True)
        return [[flint.arb(pick(low, high)) / unit for low, high in zip(*row, strict=True)] for row in rows]

    corners = [point(min), point(max), *(point(lambda *ends: generator.choice(ends)) for _ in range(2))]
    return [*corners, *(point(generator.randint) for _ in range(2))]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *(pytest.param(name, "arb", marks=[pytest.mark.long] * (n % 2)) for n, name in enumerate(HEADS)),
        *(pytest.param(name, "mpmath", marks=[pytest.mark.long] * (n % 4 != 1)) for n, name in enumerate(HEADS)),
    ],
)
def test_holds_everywhere_in_a_box(name: str, kernel: str) -> None:
    generator = random.Random(name)
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = draw_head(HEADS[name], generator)
        image = draw_image(head, generator)
        space = Space(read_head(head.data), load_arithmetic(kernel))
        for width in (Fraction(0), Fraction(1, 2**30), Fraction(1, 64), Fraction(1, 2)):
            box = box_around(image, width)
            evaluation = Evaluation(space, box)
            require_held(head, points(box, generator), evaluation)


def require_held(head: Head, points: list[list[list[Any]]], evaluation: Evaluation) -> None:
    activations, unit = evaluation.activations(128), 2**128
    observed = {(patch, j): evaluation.observable(patch, j, 128) for patch in range(PATCHES) for j in range(COUNT)}
    for point in points:
        if any(not any(x != 0 for x in z) for z in point):
            continue  # a cosine may be undefined there
        for (patch, j), ends in observed.items():
            require_within(head.observable(point[patch], j), *ends)
        for j, ends in enumerate(zip(activations.lower, activations.upper, strict=True)):
            require_within(head.activation(point, j), *(Fraction(end, unit) for end in ends))
    others = tuple(range(2, COUNT))
    most = evaluation.bounded(OrderStatement(others, Fraction(0)), 128)
    assert most == (Fraction(max(activations.lower[:2]), unit), Fraction(max(activations.upper[:2]), unit))
    least = evaluation.bounded(FloorStatement(others, Fraction(0)), 128)
    assert least == (Fraction(min(activations.lower[:2]), unit), Fraction(min(activations.upper[:2]), unit))


def require_within(value: Any, low: Fraction, high: Fraction) -> None:
    least, greatest = arithmetic.ends(value)
    assert low <= greatest and least <= high


def test_a_cosine_near_zero_stays_within_one() -> None:
    """The quotient alone says nothing there."""
    head = read_head(files.head([[1.0], [0.0]], [[3.0, 4.0]], geometry=files.cosine(0.0), similarity=files.IDENTITY))
    space = Space(head, load_arithmetic("arb"))
    around = Evaluation(space, EnclosedLatents([[-1, -1]], [[1, 2]], 40))
    assert around.observable(0, 0, 128) == (-1, 1)
    tiny = Evaluation(space, EnclosedLatents([[1, 1]], [[1, 1]], 4000))
    low, high = tiny.observable(0, 0, 128)
    assert low <= Fraction(7, 5) / Fraction(141421356, 10**8) + Fraction(1, 10**8) and high <= 1


# Instance and refutation: one ulp across the true value is not proved, whichever the geometry.


GENERATOR = random.Random(4)
POINTS = [[GENERATOR.uniform(0.1, 1.0) for _ in range(3)] for _ in range(3)]
IMAGE = [[GENERATOR.uniform(0.1, 1.0) for _ in range(3)] for _ in range(2)]
WEIGHT = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
BIAS = [100.0, 0.0]  # whatever the statements, the predicted class wins
GEOMETRIES = ["euclidean", "cosine", "cosine with epsilon", "softmax"]


def head(geometry: str, bias: list[float] | None = BIAS, **changes: Any) -> bytes:
    if geometry == "softmax":
        return files.head(WEIGHT, None, bias, geometry=files.SOFTMAX, similarity=files.IDENTITY, **changes)
    if geometry == "euclidean":
        return files.head(WEIGHT, POINTS, bias, similarity=files.log_ratio(1e-4), **changes)
    epsilon = 0.25 if "epsilon" in geometry else 0.0
    return files.head(WEIGHT, POINTS, bias, geometry=files.cosine(epsilon), similarity=files.IDENTITY, **changes)


def mass_ends(z: list[float], j: int) -> tuple[Fraction, Fraction]:
    """An enclosure of a softmax mass: Taylor's series in rationals with its remainder."""
    lows, highs = [], []
    for x in z:
        t = Fraction(x) - Fraction(z[j])
        total = sum(t**i / math.factorial(i) for i in range(60))
        rest = 3 * abs(t) ** 60 / math.factorial(60)
        lows.append(total - rest)
        highs.append(total + rest)
    return 1 / sum(highs), 1 / sum(lows)


def truth(geometry: str, patch: int, j: int) -> tuple[Fraction, Fraction]:
    if geometry == "euclidean":
        return (arithmetic.squared_distance(IMAGE[patch], POINTS[j]),) * 2
    if geometry == "softmax":
        return mass_ends(IMAGE[patch], j)
    return cosine_ends(IMAGE[patch], POINTS[j], 0.25 if "epsilon" in geometry else 0.0)


def audit(
    data: bytes, statements: list[dict[str, Any]], image: Any = IMAGE, kernel: str = "arb", **options: Any
) -> Verdict:
    options = {"patches": len(image), "paradigm": "projection"} | options
    return check(files.certificate(data, statements, image=image, **options), data, files.latents([image]), kernel)


def paradigm(geometry: str) -> str:
    return "simplex" if geometry == "softmax" else "projection"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_an_end_moved_by_one_ulp_across_the_true_value(geometry: str, kernel: str) -> None:
    data = head(geometry)
    for patch in range(2):
        for j in range(3):
            low, high = truth(geometry, patch, j)
            below, above = arithmetic.below(low), arithmetic.above(high)
            assert above == math.nextafter(below, math.inf)
            for interval, holds in (
                ((below, above), True),
                ((below, 9.0), True),
                ((-9.0, above), True),
                ((below, None), True),
                ((None, above), True),
                ((None, below), False),
                ((above, None), False),
                ((-9.0, below), False),
                ((above, 9.0), False),
                ((below, below), False),
            ):
                verdict = audit(
                    data, [files.patch_statement(patch, j, *interval)], paradigm=paradigm(geometry), kernel=kernel
                )
                if holds:
                    assert (verdict.status, verdict.claims["instance"]) == (Status.PROVED, "proved")
                else:
                    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "instance", 7)
                    assert f"statement 0 (patch {patch}, prototype {j}) is false" in verdict.message


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_activations(geometry: str, kernel: str) -> None:
    data = head(geometry)
    for j in range(3):
        observables = [truth(geometry, patch, j) for patch in range(2)]
        if geometry == "euclidean":
            d = min(low for low, _ in observables)
            value = math.log((d + 1) / (d + Fraction(1e-4)))
            low, high = value * (1 - 1e-14), value * (1 + 1e-14)
        else:
            low = arithmetic.below(max(low for low, _ in observables))
            high = arithmetic.above(max(high for _, high in observables))
        for interval, holds in (
            ((low, high), True),
            ((-9.0, low), False),
            ((high, 99.0), False),
            ((low, None), True),
            ((None, high), True),
            ((None, low), False),
            ((high, None), False),
        ):
            verdict = audit(data, [files.activation_statement(j, *interval)], paradigm="top_k", kernel=kernel)
            assert (verdict.status is Status.PROVED) == holds
            assert holds or verdict.reason == "instance"
        rest = [k for k in range(3) if k != j]
        assert audit(data, [files.order_clause(rest, high)], paradigm="top_k", kernel=kernel).status is Status.PROVED
        assert audit(data, [files.order_clause(rest, low)], paradigm="top_k", kernel=kernel).reason == "instance"
        assert audit(data, [files.floor(rest, low)], paradigm="top_k", kernel=kernel).status is Status.PROVED
        assert audit(data, [files.floor(rest, high)], paradigm="top_k", kernel=kernel).reason == "instance"


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_value_that_is_a_float_is_decided(geometry: str) -> None:
    """Equal logits share the mass equally, a latent on a prototype has distance 0 and cosine 1: exactly."""
    z = [[0.5, 0.5, 0.5, 0.5]]
    weight = [[1.0] * 4, [0.0] * 4]
    if geometry == "softmax":
        data = files.head(weight, None, BIAS, geometry=files.SOFTMAX, similarity=files.IDENTITY)
        interval = (0.25, 0.25)
    elif geometry == "euclidean":
        data, interval = files.head(weight, [[0.5] * 4] * 4, BIAS), (0.0, 0.0)
    elif geometry == "cosine":
        data = files.head(weight, [[1.0] * 4] * 4, BIAS, geometry=files.cosine(0.0), similarity=files.IDENTITY)
        interval = (1.0, 1.0)
    else:
        data = files.head(weight, [[1.0] * 4] * 4, BIAS, geometry=files.cosine(1.0), similarity=files.IDENTITY)
        interval = (0.5, 0.5)
    assert audit(data, [files.patch_statement(0, 2, *interval)], z, paradigm=paradigm(geometry)).status is Status.PROVED


def head_of_two_masses() -> bytes:
    """A softmax head whose logits are at most 0."""
    return files.head(
        [[1.0, 1.0], [0.0, 0.0]],
        None,
        BIAS,
        geometry=files.SOFTMAX,
        similarity=files.IDENTITY,
        domain=files.domain(None, 0.0),
    )


def test_a_mass_far_below_the_first_precision_is_decided() -> None:
    """exp(-740) is near the least float: 256 bits do not tell it from 0, 1280 do."""
    data = head_of_two_masses()
    z = [[0.0, -740.0]]
    value = math.exp(-740)
    near = [files.patch_statement(0, 1, value * 0.9, value * 1.1)]
    assert audit(data, near, z, paradigm="simplex").status is Status.PROVED
    assert audit(data, [files.patch_statement(0, 1, 0.0, value * 0.9)], z, paradigm="simplex").reason == "instance"
    assert (
        audit(data, [files.activation_statement(1, value * 0.9, value * 1.1)], z, paradigm="top_k").status
        is Status.PROVED
    )


def test_what_cannot_be_decided_is_not_proved() -> None:
    """exp(-2000) is positive and below every other float: 1280 bits do not tell it from 0."""
    data = head_of_two_masses()
    z = [[0.0, -2000.0]]
    for statement, name in (
        (files.patch_statement(0, 1, 0.0, 0.0), "simplex"),
        (files.order_clause([0], 0.0), "top_k"),
    ):
        verdict = audit(data, [statement], z, paradigm=name)
        assert verdict.reason == "instance"
        assert "cannot be decided with 1280 bits" in verdict.message and not verdict.false
    assert audit(data, [files.patch_statement(0, 1, 0.0, 5e-324)], z, paradigm="simplex").status is Status.PROVED


def test_the_domain() -> None:
    data = head("euclidean", domain=files.domain(0.25, 0.75))
    inside, outside = [[0.25, 0.75, 0.5]], [[0.25, math.nextafter(0.75, 1), 0.5]]
    assert audit(data, [], inside).claims["instance"] == "proved"
    for image in (outside, [inside[0], [0.0, 0.5, 0.5]]):
        verdict = audit(data, [], image)
        assert verdict.reason == "instance" and verdict.claims["instance"] != "proved"
        assert f"patch {len(image) - 1}: a coordinate of the latents lies outside" in verdict.message
    for lower, upper, holds in (
        (None, 0.75, True),
        (0.3, None, False),
        (None, 0.7, False),
        (0.25, None, True),
        (None, None, True),
    ):
        verdict = audit(head("euclidean", domain=files.domain(lower, upper)), [], inside)
        assert (verdict.status is Status.PROVED) == holds


BALL = {"geometry": {"kind": "inner_product", "radius": "0x1.4p+0"}, "similarity": files.IDENTITY}


def test_inner_products_are_exact() -> None:
    z = [0.1, 0.2, 0.7]
    data = files.head(WEIGHT, [[1.0, 1.0, 1.0], *POINTS[1:]], BIAS, domain=files.domain(None, None), **BALL)
    truth = arithmetic.product(z, [1.0] * 3)  # no float: the sum of three
    below, above = arithmetic.below(truth), arithmetic.above(truth)
    assert below < truth < above
    for interval, holds in (((below, above), True), ((below, below), False), ((above, above), False)):
        assert (audit(data, [files.patch_statement(0, 0, *interval)], [z]).status is Status.PROVED) == holds


def test_a_peak_finer_than_the_distance_is_met() -> None:
    """The distance 1 is an integer, the peak 0.1 none: the similarity is known as finely as is asked for."""
    data = ExactHead(
        [[1.0], [0.0]],
        [[0.0]],
        {"similarity": {"kind": "quadratic"}, "domain": files.domain(0.0, 1.0)},
        bias=BIAS,
        peak=[0.1],
    ).data
    truth = -((1 - Fraction(0.1)) ** 2)
    below, above = arithmetic.below(truth), arithmetic.above(truth)
    for interval, holds in (((below, above), True), ((-1.0, below), False), ((above, 0.0), False)):
        verdict = audit(data, [files.activation_statement(0, *interval)], [[1.0]], paradigm="top_k")
        assert (verdict.status is Status.PROVED) == holds
