"""The head at latents: enclosures hold the truth at every precision, coarse ones too, where a wrong end would show."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from support import arithmetic, files
from support.cases import named
from support.rationals import cosine_ends

from verale.checker.dyadic import exact
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


def test_a_coarse_cosine() -> None:
    """With one bit |z| = |A| = sqrt(2) is in [1, 1.5]: 2 / 1.5 is rounded down to 1 and divided again."""
    space = Space(read_head(cosine_head([[1.0, 1.0], [-1.0, -1.0]], 0.0)), load_arithmetic("mpmath"))
    evaluation = Evaluation(space, EnclosedLatents.exactly(exact([1.0, 1.0], 2)))
    assert evaluation.observable(0, 0, 1) == (Fraction(1, 2), 1)
    assert evaluation.observable(0, 1, 1) == (-1, Fraction(-1, 2))
    assert evaluation.observable(0, 0, 8)[0] > Fraction(9, 10)


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
def test_equal_logits_share_exactly(kernel: str) -> None:
    for count in (1, 2, 3, 8):
        data = files.head([[1.0] * count] * 2, geometry=files.SOFTMAX, similarity=files.IDENTITY)
        latents = EnclosedLatents.exactly(exact([0.75] * count, count))
        evaluation = Evaluation(Space(read_head(data), load_arithmetic(kernel)), latents)
        low, high = evaluation.observable(0, 0, 64)
        assert low <= Fraction(1, count) <= high
        assert (low == high) == (count in (1, 2, 8))


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
