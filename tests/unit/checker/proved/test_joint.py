"""Margins as one function of the only patch, in the proved checker: what is proved, how nearly, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from support import files

from verale.checker import Auditor

UNIT_BOX = files.domain(0.0, 1.0)
OPEN = files.domain(None, None)
NEGATED = {"kind": "negated"}
RADIUS_2 = {"kind": "inner_product", "radius": "0x1p+1"}
ROOTED = {"kind": "rooted_cosine", "epsilon": "0x1p-3"}
OWN = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
"""The weights: each class has a prototype of its own, and the third one counts for neither."""
POINTS = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]]
"""The margin of squared distances is 1 - 2 x plus the bias."""


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def status(
    statements: list[dict[str, Any]], margin: float, bias: float = 0.0, points: Any = POINTS, **head: Any
) -> str:
    """What the proved checker says of a certificate about one patch with this margin."""
    given = {"domain": UNIT_BOX, "similarity": NEGATED, **head}
    data = files.head(OWN, points, [bias, 0.0], **given)
    certificate = files.certificate(data, statements, margins=[None, margin])
    return Auditor(data, None, "proved").check(certificate, minimality=False).status.value


@pytest.mark.parametrize(
    ("statements", "bias", "least"),
    [
        ([], 1.5, 0.5),
        ([files.patch_statement(0, 2, 0.0, 2.0**-4)], 0.0, 0.5),
        ([files.patch_statement(0, 2, None, 2.0**-4)], 0.0, 0.5),
        ([files.patch_statement(0, 2, 2.0**-6, 2.0**-4)], 0.0, 0.5),
        ([files.patch_statement(0, 1, 1.0, None), files.patch_statement(0, 2, None, 2.0**-2)], 0.5, 0.7),
        ([files.patch_statement(0, 0, None, 2.0**-4), files.patch_statement(0, 1, 0.5625, None)], 0.0, 0.5),
    ],
)
def test_the_greatest_margin_of_distances(statements, bias, least) -> None:
    """Each observable alone gives less: without a statement -2 plus the bias, with the second one less than 0.2. The
    least margin of the fifth is at (2/5, 4/5)."""
    assert status(statements, least - 2.0**-40, bias) == "PROVED"
    assert status(statements, least + 2.0**-40, bias) == "NOT_PROVED"


@pytest.mark.parametrize(
    ("geometry", "points", "bias", "least"),
    [
        (RADIUS_2, [[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]], 10.5, 0.5),
        (files.cosine(0.0), [[3.0, 0.0], [0.0, -5.0], [1.0, 1.0]], 1.5, 1.5 - 2**0.5),
        (ROOTED, [[0.5, 0.0], [0.0, 0.25], [1.0, 1.0]], 1.5, 1.5 - 2**0.5),
    ],
)
def test_the_greatest_margin_in_a_ball(geometry, points, bias, least) -> None:
    head = {"geometry": geometry, "similarity": files.IDENTITY, "domain": OPEN, "points": points}
    assert status([], least - 2.0**-40, bias, **head) == "PROVED"
    assert status([], least + 2.0**-40, bias, **head) == "NOT_PROVED"


def test_products_over_a_box_and_their_statements() -> None:
    """<z, (1, 0) - (0, 1)> over [0, 1]^2 is at least -1; with <z, (0, 1)> <= 1/4 it is at least -1/4."""
    points = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    head = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY, "points": points}
    assert status([], 0.5 - 2.0**-40, 1.5, **head) == "PROVED"
    assert status([files.patch_statement(0, 1, None, 0.25)], 0.5 - 2.0**-40, 0.75, **head) == "PROVED"
    assert status([files.patch_statement(0, 2, None, 0.25)], 0.5 - 2.0**-40, 0.75, **head) == "PROVED"
    assert status([files.patch_statement(0, 2, None, 0.25)], 0.5 + 2.0**-40, 0.75, **head) == "NOT_PROVED"


def test_more_than_one_patch_has_no_such_margin() -> None:
    data = files.head(OWN, POINTS, [1.5, 0.0], domain=UNIT_BOX, similarity=NEGATED)
    for patches, said in ((1, "PROVED"), (2, "NOT_PROVED")):
        certificate = files.certificate(data, [], margins=[None, 0.25], patches=patches)
        assert Auditor(data, None, "proved").check(certificate, minimality=False).status.value == said


def test_scales_and_another_pooling() -> None:
    """-s (d_0 - d_1) with s = 2 is 2 - 4 x."""
    tensors = {
        "weight": files.tensor(OWN),
        "bias": files.tensor([2.5, 0.0]),
        "prototypes": files.tensor(POINTS),
        "scale": files.tensor([2.0, 2.0, 1.0]),
    }
    description = files.description(similarity=NEGATED, domain=UNIT_BOX, pooling={"kind": "top_mean", "k": 3})
    data = files.safetensors(tensors, {"verale.head": files.encode(description).decode()})
    for margin, said in ((0.5 - 2.0**-40, "PROVED"), (0.5 + 2.0**-40, "NOT_PROVED")):
        certificate = files.certificate(data, [], margins=[None, margin])
        assert Auditor(data, None, "proved").check(certificate, minimality=False).status.value == said
