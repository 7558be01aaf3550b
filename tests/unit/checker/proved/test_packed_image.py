"""Activations of an image in the proved checker: the same one by one, of few patches, and by packed prototypes."""

from __future__ import annotations

import random

import pytest
from support import files

from verale.checker import Auditor

COUNT, DEPTH, UNIT = 70, 3, 2.0**-6
"""More prototypes than one pack holds."""
SLIGHT = 2.0**-30


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def claimed(points: list[list[float]], image: list[list[float]], prototype: int, low: float, high: float) -> str:
    """What is said of the instance, where the activation of a prototype is stated to lie between these ends."""
    weight = [[float(k == c) for k in range(COUNT)] for c in range(2)]
    head = files.head(weight, points, domain=files.domain(-64.0, 64.0), similarity={"kind": "negated"})
    statement = files.activation_statement(prototype, low, high)
    certificate = files.certificate(
        head, [statement], paradigm="top_k", image=image, patches=len(image), margins=[None, 1.0]
    )
    return Auditor(head, files.latents([image]), "proved").check(certificate).claims["instance"]


@pytest.mark.parametrize("patches", [7, 8, 20])
@pytest.mark.parametrize("size", [1, 2**11], ids=["small", "large"])
def test_activations_are_those_of_the_image(patches, size) -> None:
    """All numbers are multiples of 1/64, so that floats compute the distances exactly."""
    drawn = random.Random(patches)

    def vector(most: int) -> list[float]:
        return [drawn.randrange(-most, most + 1) * UNIT for _ in range(DEPTH)]

    points, image = [vector(64) for _ in range(COUNT)], [vector(size) for _ in range(patches)]
    for prototype in (0, 63, 64):
        distances = [sum((x - y) ** 2 for x, y in zip(points[prototype], patch, strict=True)) for patch in image]
        value = -min(distances)
        assert claimed(points, image, prototype, value, value) == "proved"
        assert claimed(points, image, prototype, value + SLIGHT, value + 1.0) == "not checked"
        assert claimed(points, image, prototype, value - 1.0, value - SLIGHT) == "not checked"
