"""The head at latents: enclosures hold the truth at every precision, coarse ones too, where a wrong end would show."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support import arithmetic, files
from support.cases import every, named
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


@named(*KERNELS)
@every("kind", ["cosine", "rooted_cosine"])
@every("scale", [1.0, 2.0**-600, 2.0**500])
def test_cosines_of_small_integers_at_every_precision(scale: float, kind: str) -> None:
    """Every pair of a grid: at the coarse ones a wrong choice of a norm's end shows."""
    points = [[float(x), float(y)] for x in range(-2, 4) for y in range(4) if x or y]
    parts = {"geometry": {"kind": kind, "epsilon": "0x0p+0"}, "similarity": files.IDENTITY}
    head = read_head(files.head([[1.0] * len(points)] * 2, points, **parts))
    image = EnclosedLatents.exactly(exact([scale * x for x in files.flat(points)], 2))
    evaluations = [Evaluation(Space(head, load_arithmetic(kernel)), image) for kernel in KERNELS]
    for (patch, z), (j, row) in product(enumerate(points), enumerate(points)):
        least, greatest = cosine_ends(z, row, 0.0)
        for evaluation, bits in product(evaluations, (*range(9), 256)):
            low, high = evaluation.observable(patch, j, bits)
            assert low <= greatest and least <= high, bits
            assert -1 <= low <= high <= 1 and high - low <= Fraction(8, 1 << bits), bits


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
COARSE_AND_FINE = (1, 3, 6, 128)


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

    return [point(min), point(max), point(lambda *ends: generator.choice(ends)), point(generator.randint)]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *(pytest.param(name, "arb", marks=[pytest.mark.long] * (n % 2)) for n, name in enumerate(HEADS)),
        *(pytest.param(name, "mpmath", marks=[pytest.mark.long] * (n % 8 != 1)) for n, name in enumerate(HEADS)),
    ],
)
def test_holds_everywhere_in_a_box(name: str, kernel: str) -> None:
    generator = random.Random(name)
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = draw_head(HEADS[name], generator)
        image = draw_image(head, generator)
        space = Space(read_head(head.data), load_arithmetic(kernel))
        for width in (Fraction(0), Fraction(1, 64), Fraction(1, 2)):
            box = box_around(image, width)
            evaluation = Evaluation(space, box)
            require_held(head, points(box, generator), evaluation)


def require_held(head: ExactHead, points: list[list[list[Any]]], evaluation: Evaluation) -> None:
    """At every precision; a wrong end shows at the coarse ones."""
    pairs = list(product(range(PATCHES), range(COUNT)))
    observed = {bits: [evaluation.observable(*pair, bits) for pair in pairs] for bits in COARSE_AND_FINE}
    pooled = {bits: evaluation.activations(bits) for bits in COARSE_AND_FINE}
    for point in points:
        if any(not any(x != 0 for x in z) for z in point):
            continue  # a cosine may be undefined there
        truths = [arithmetic.ends(head.observable(point[patch], j)) for patch, j in pairs]
        activations = [arithmetic.ends(head.activation(point, j)) for j in range(COUNT)]
        for bits, of_pairs in observed.items():
            box, unit = pooled[bits], 1 << bits
            found = [Fraction(end, unit) for end in box.lower], [Fraction(end, unit) for end in box.upper]
            for (least, most), (low, high) in zip(
                [*truths, *activations], [*of_pairs, *zip(*found, strict=True)], strict=True
            ):
                assert low <= most and least <= high, bits
    activations, unit = pooled[128], 2**128
    others = tuple(range(2, COUNT))
    most = evaluation.bounded(OrderStatement(others, Fraction(0)), 128)
    assert most == (Fraction(max(activations.lower[:2]), unit), Fraction(max(activations.upper[:2]), unit))
    least = evaluation.bounded(FloorStatement(others, Fraction(0)), 128)
    assert least == (Fraction(min(activations.lower[:2]), unit), Fraction(min(activations.upper[:2]), unit))


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
INNER = {"kind": "inner_product", "radius": "0x1p+1"}
PARTS: dict[str, dict[str, Any]] = {
    "euclidean": {"similarity": files.log_ratio(1e-4)},
    "cosine": {"geometry": files.cosine(0.0), "similarity": files.IDENTITY},
    "cosine with epsilon": {"geometry": files.cosine(0.25), "similarity": files.IDENTITY},
    "inner_product": {"geometry": INNER, "similarity": files.IDENTITY, "domain": files.domain(None, None)},
    "softmax": {"geometry": files.SOFTMAX, "similarity": files.IDENTITY},
}


def head(geometry: str, **changes: Any) -> ExactHead:
    return ExactHead(WEIGHT, None if geometry == "softmax" else POINTS, PARTS[geometry] | changes, bias=BIAS)


def audit(
    data: bytes, statements: list[dict[str, Any]], image: Any = IMAGE, kernel: str = "arb", **options: Any
) -> Verdict:
    options = {"patches": len(image), "paradigm": "projection"} | options
    return check(files.certificate(data, statements, image=image, **options), data, files.latents([image]), kernel)


def around(value: Any) -> list[tuple[tuple[float | None, float | None], bool]]:
    """Intervals with ends next to a true value, which is no float, and whether each holds it."""
    low, high = arithmetic.ends(value)
    below, above = arithmetic.below(low), arithmetic.above(high)
    assert above == math.nextafter(below, math.inf)
    true = [(below, above), (below, 99.0), (-99.0, above), (below, None), (None, above)]
    false = [(None, below), (above, None), (-99.0, below), (above, 99.0), (below, below)]
    return [*((each, True) for each in true), *((each, False) for each in false)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", PARTS)
def test_an_end_moved_by_one_ulp_across_the_true_value(geometry: str, kernel: str) -> None:
    built, paradigm = head(geometry), "simplex" if geometry == "softmax" else "projection"
    said: list[tuple[dict[str, Any], str, bool]] = []
    with flint.ctx.workprec(arithmetic.PRECISION):
        for patch, j in ((0, 0), (1, 2)):
            for interval, holds in around(built.observable(IMAGE[patch], j)):
                said.append((files.patch_statement(patch, j, *interval), paradigm, holds))
        for j in (0, 2):
            rest = [k for k in range(3) if k != j]
            for (low, high), holds in around(built.activation(IMAGE, j)):
                said.append((files.activation_statement(j, low, high), "top_k", holds))
                if low is None and high is not None:
                    said.append((files.order_clause(rest, high), "top_k", holds))
                if high is None and low is not None:
                    said.append((files.floor(rest, low), "top_k", holds))
    for statement, paradigm, holds in said:
        verdict = audit(built.data, [statement], paradigm=paradigm, kernel=kernel)
        if holds:
            assert (verdict.status, verdict.claims["instance"]) == (Status.PROVED, "proved"), statement
        else:
            assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "instance", 7), statement
            assert re.match(r"statement 0 \(.*\) is false", verdict.message)


@pytest.mark.parametrize(
    ("parts", "point", "value"),
    [
        (PARTS["softmax"], None, 0.25),
        ({}, 0.5, 0.0),
        (PARTS["cosine"], 1.0, 1.0),
        ({"geometry": files.cosine(1.0), "similarity": files.IDENTITY}, 1.0, 0.5),
    ],
)
def test_a_value_that_is_a_float_is_decided(parts: dict[str, Any], point: float | None, value: float) -> None:
    """Equal logits share the mass equally, a latent on a prototype has distance 0 and cosine 1: exactly."""
    rows = None if point is None else [[point] * 4] * 4
    data = ExactHead([[1.0] * 4, [0.0] * 4], rows, parts, bias=BIAS).data
    paradigm = "simplex" if point is None else "projection"
    assert (
        audit(data, [files.patch_statement(0, 2, value, value)], [[0.5] * 4], paradigm=paradigm).status is Status.PROVED
    )


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
    data = head("euclidean", domain=files.domain(0.25, 0.75)).data
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
        verdict = audit(head("euclidean", domain=files.domain(lower, upper)).data, [], inside)
        assert (verdict.status is Status.PROVED) == holds


def test_a_peak_finer_than_the_distance_is_met() -> None:
    """The distance 1 is an integer, the peak 0.1 none: the similarity is known as finely as is asked for."""
    data = ExactHead(
        [[1.0], [0.0]],
        [[0.0]],
        {"similarity": {"kind": "quadratic"}, "domain": files.domain(0.0, 1.0)},
        bias=BIAS,
        peak=[0.1],
    ).data
    for interval, holds in around(-((1 - Fraction(0.1)) ** 2)):
        verdict = audit(data, [files.activation_statement(0, *interval)], [[1.0]], paradigm="top_k")
        assert (verdict.status is Status.PROVED) == holds
