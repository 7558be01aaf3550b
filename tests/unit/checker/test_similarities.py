"""Each similarity is a chain of steps, all in one file, and what is computed of it is what its formula says."""

from __future__ import annotations

import ast
import random
from fractions import Fraction
from pathlib import Path

import flint
import pytest
import torch
from support import arithmetic
from support.exact import exact
from support.similarities import CASES, NAMES, ROWS, Row, head_of

from verale.checker.chain import Similarity
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.read import similarities
from verale.checker.read.similarities import OBSERVABLES, SIMILARITIES
from verale.checker.reading.pooling import Pooling
from verale.checker.reading.space import Ranges, Space
from verale.head import Box, Cosine, Euclidean, Geometry, Head, StepChain

CHECKER = Path(similarities.__file__).parents[1]


def test_no_other_file_names_a_similarity() -> None:
    """But for those that the paradigms `assignment` and `joint` are about, and how each is computed in binary32."""
    naming = {}
    for file in CHECKER.rglob("*.py"):
        constants = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
        naming[file.relative_to(CHECKER).as_posix()] = {text for text in constants if text in SIMILARITIES}
    assert naming.pop("read/similarities.py") == set(SIMILARITIES)
    for file in ("chain.py", "proved/text.py"):
        assert naming.pop(file) <= {*similarities.STEPS, "steps"}, "steps share names with similarities"
    assert naming.pop("reading/deployment.py") <= set(SIMILARITIES), "binary32 is not covered of those that are missing"
    assert {file: names for file, names in naming.items() if names} == {"certificate.py": {"identity", "negated"}}


def test_each_says_of_itself_what_the_specification_says() -> None:
    """certificates/v1.md, "The head file", as the one table of tests has it."""
    assert set(SIMILARITIES) == {row.json["kind"] for row in ROWS}
    for row in ROWS:
        each = SIMILARITIES[row.json["kind"]]
        alike = [other for other in ROWS if other.json["kind"] == row.json["kind"]]
        assert set(each.geometries) == {geometry.kind for other in alike for geometry in other.geometries}
        assert tuple(each.readers) == tuple(name for name in row.json if name != "kind")
        assert (each.focal, each.soft_tree) == (row.focal, row.soft_tree)
        for geometry in row.geometries:
            chain = read_head(head_of(row, geometry).to_bytes()).similarity.chain
            chain.check()
            assert chain.tensors == row.similarity.tensors and set(chain.tensors) <= set(each.tensors)
            assert row.json["kind"] == "steps" or chain.tensors == (() if row.tensor is None else row.tensor[:1])
            assert (chain.unimodal, not chain.steps) == (row.unimodal, row.unchanged)
            assert chain.has_limit == (row.has_limit or (geometry.kind != "euclidean" and not row.unimodal))
            assert chain.in_unit or not row.soft_tree


@pytest.mark.parametrize(("row", "geometry"), CASES, ids=NAMES)
def test_what_follows_from_the_steps_holds_of_the_formula(row: Row, geometry: Geometry) -> None:
    """Ranges, and that means are subtracted from what is convex, by second differences, on a grid of exact numbers."""
    similarity, arb = read_head(head_of(row, geometry).to_bytes()).similarity, load_arithmetic("arb")
    first, last = (max(-2, min(2, end)) for end in OBSERVABLES[geometry.kind])
    low, high = similarity.chain.over((Fraction(first), Fraction(last)))
    points = [int((first + (last - first) * Fraction(i, 32)) * 2**64) for i in range(33)]
    if similarity.unimodal:
        return
    for j in range(5):
        ends = [similarity.at(arb, j, x, 64, 128) for x in points]
        assert all(low <= Fraction(most, 2**128) and Fraction(least, 2**128) <= high for least, most in ends)
        assert ends == sorted(ends, reverse=similarity.falls)
        for before, here, after in zip(ends, ends[1:], ends[2:], strict=False):
            assert not row.focal or before[1] + after[1] >= 2 * here[0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("row", "geometry"), CASES, ids=NAMES)
def test_a_range_is_taken_to_its_exact_range(row: Row, geometry: Geometry, kernel: str) -> None:
    """By the formula of `verale.head` on exact numbers: at the grid's precision and at another, to the last units."""
    head = head_of(row, geometry)
    where, true, generator = Space(read_head(head.to_bytes()), load_arithmetic(kernel)), exact(head), random.Random(5)
    first, last = (max(-20, min(20, end)) for end in OBSERVABLES[geometry.kind])
    peaks = true.peak or [0.0] * 5
    with flint.ctx.workprec(1400):
        for trial in range(4):
            ends = [
                sorted(int((first + (last - first) * generator.random()) * 2**where.bits) for _ in "lh") for _ in peaks
            ]
            lower, upper = ([pair[side and trial % 4 > 0] for pair in ends] for side in (0, 1))
            box = Pooling(where, True).similarities(Ranges(lower, upper))
            for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
                points = [Fraction(end, 1 << where.bits) for end in (low, high)]
                if row.unimodal and points[0] <= Fraction(peaks[j]) <= points[1]:
                    points.append(Fraction(peaks[j]))
                values = [arithmetic.ends(true.similarity(point, j)) for point in points]
                least, most = min(low for low, _ in values), max(high for _, high in values)
                for bits in (where.bits, 60):
                    below, above = where.head.similarity.ends(where.arithmetic, j, low, high, where.bits, bits)
                    assert 0 <= least * 2**bits - below < 400 and 0 <= above - most * 2**bits < 400
                assert 0 <= box.lower[j] - least * 2**where.bits < 400
                assert 0 <= most * 2**where.bits - box.upper[j] < 400


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("row", "geometry"), CASES, ids=NAMES)
def test_the_inverse_of_a_monotone_one_bounds_what_has_that_similarity(
    row: Row, geometry: Geometry, kernel: str
) -> None:
    similarity, arithmetic, bits = read_head(head_of(row, geometry).to_bytes()).similarity, load_arithmetic(kernel), 128
    draw, bounded = random.Random(5), 0
    for _ in range(20):
        j, x = draw.randrange(5), int((draw.random() ** 4 - (0 if similarity.falls else 0.3)) * 2**bits)
        x = max(x, 0) if similarity.name == "threshold" else x
        low, high = similarity.ends(arithmetic, j, x, x, bits, bits)
        first, last = (high, low) if similarity.falls else (low, high)
        least, most = (
            similarity.inverse(arithmetic, j, first, bits)[0],
            similarity.inverse(arithmetic, j, last, bits)[1],
        )
        assert (least is None or least <= x) and (most is None or x <= most)
        if least is not None and most is not None:
            bounded += 1
            constant = similarity.name == "threshold" and low == 0
            assert constant or most - least < 1 << bits - 40
    assert (bounded > 0) == (not similarity.unimodal)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("row", "geometry"), CASES, ids=NAMES)
def test_the_inverse_is_defined_of_any_number(row: Row, geometry: Geometry, kernel: str) -> None:
    """Statements may say what no latents have, and one that says more bounds no less."""
    similarity, arithmetic, bits = read_head(head_of(row, geometry).to_bytes()).similarity, load_arithmetic(kernel), 128
    numbers = [-(2**1000), -1, 0, 1, 2**1000]
    every = [similarity.inverse(arithmetic, 0, number << bits, bits) for number in numbers]
    for side in (0, 1):
        ends = [each[side] for each in every if each[side] is not None]
        assert ends == sorted(ends, reverse=similarity.falls)  # type: ignore[type-var]


def chain_of(geometry: Geometry, *kinds: str) -> Similarity:
    """A similarity of steps without numbers."""
    chain = StepChain([{"kind": kind} for kind in kinds])
    head = Head(torch.ones(2, 1), geometry, chain, prototypes=torch.ones(1, 2), domain=Box(-1, 1))
    return read_head(head.to_bytes()).similarity


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_root_that_is_above_an_integer_by_less_than_a_step_of_the_grid_is_rounded_up(kernel: str) -> None:
    similarity = chain_of(Euclidean(), "root", "negate")
    x, root = (1 << 600) + 1, 1 << 300
    assert similarity.ends(load_arithmetic(kernel), 0, x, x, 256, 128) == (-root - 1, -root)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_said_turns_at_every_step_that_falls(kernel: str) -> None:
    """min(0, m) is at least 0 where m is, and at most 0 of every m."""
    similarity = chain_of(Cosine(), "negate", "rectify", "negate")
    assert similarity.inverse(load_arithmetic(kernel), 0, 0, 128) == (0, None)
