"""The rule `triangle`: each statement alone, intersected; never tighter than `projection`, and sound."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from verale.checker import Auditor, Status
from verale.checker.certificate import PatchStatement
from verale.checker.head_file import read_head
from verale.checker.kernel import load_kernel
from verale.checker.rules.projection import Projection
from verale.checker.rules.space import Space
from verale.checker.rules.triangle import Triangle
from verale.soundness.independent import files


def points(random: Random, count: int, depth: int) -> list[list[float]]:
    return [[random.randrange(-64, 64) / 32 for _ in range(depth)] for _ in range(count)]


@pytest.mark.parametrize("kernel", ["arb", "mpmath"])
@pytest.mark.parametrize("box", [(None, None), ("-0x1p+2", "0x1p+2")])
def test_true_distances_lie_within_and_projection_is_at_least_as_tight(
    kernel: str, box: tuple[str | None, str | None]
) -> None:
    random = Random(1)
    prototypes = points(random, 6, 3)
    head = read_head(files.head([[1.0] * 6, [0.0] * 6], prototypes, domain={"lower": box[0], "upper": box[1]}))
    space = Space(head, load_kernel(kernel))
    unit = Fraction(1, 2**space.bits)
    for _ in range(20):
        (z,) = points(random, 1, 3)
        truth = [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, p, strict=True)) for p in prototypes]
        statements = [PatchStatement(0, j, truth[j], truth[j]) for j in random.sample(range(6), 3)]
        loose, tight = Triangle(space).ranges(statements), Projection(space).ranges(statements)
        assert loose.upper is not None and tight.upper is not None
        for k, value in enumerate(truth):
            assert int(loose.lower[k]) * unit <= value <= int(loose.upper[k]) * unit
            assert tight.lower[k] + 8 >= loose.lower[k] and tight.upper[k] - 8 <= loose.upper[k]


def test_without_statements_the_domain_speaks() -> None:
    space = Space(
        read_head(files.head([[1.0], [0.0]], [[0.5]], domain={"lower": "0x0p+0", "upper": "0x1p+0"})),
        load_kernel("arb"),
    )
    assert Triangle(space).ranges([]) == space.domain


def test_a_certificate_under_the_paradigm_is_proved() -> None:
    image = [[0.0, 0.0]]
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    data = files.certificate(head, [files.patch_statement(0, 0, 0.0, 0.0)], image=image, paradigm="triangle")
    verdict = Auditor(head, files.latents([image])).check(data)
    assert (verdict.status, verdict.paradigm) == (Status.PROVED, "triangle"), verdict.message
