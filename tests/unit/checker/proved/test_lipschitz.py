"""What one activation says of the others, in the proved checker: what is proved, how nearly, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from support import files

from verale.checker import Auditor

NEGATED = {"kind": "negated"}
POINTS = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.25], [0.0, 0.25]]
"""The third one is 1/4 away from the second one, and the fourth one from the first one."""
WEIGHT = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
NEAR_FIRST = files.activation_statement(0, -(2.0**-4), None)
FAR_FROM_SECOND = files.activation_statement(1, None, -0.5625)


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def status(statements: list[dict[str, Any]], margin: float, **head: Any) -> str:
    """What the proved checker says of a certificate about nine patches with this margin."""
    data = files.head(WEIGHT, POINTS, **{"domain": files.domain(0.0, 1.0), "similarity": NEGATED, **head})
    certificate = files.certificate(data, statements, paradigm="top_k", patches=9, margins=[None, margin])
    return Auditor(data, None, "proved").check(certificate, minimality=False).status.value


@pytest.mark.parametrize(
    ("statements", "least"),
    [
        pytest.param([NEAR_FIRST, files.activation_statement(2, None, -1.0)], 0.5, id="a stated upper end"),
        pytest.param([NEAR_FIRST, files.order_clause([0, 1, 3], -1.0)], 0.5, id="the ceiling"),
        pytest.param([FAR_FROM_SECOND, files.activation_statement(3, -(2.0**-4), None)], 0.3125, id="a lower end"),
        pytest.param([FAR_FROM_SECOND, files.floor([0, 1], -(2.0**-4))], 0.3125, id="the floor"),
        pytest.param(
            [files.activation_statement(3, -(2.0**-4), None), files.activation_statement(2, None, -1.0)],
            0.3125,
            id="both",
        ),
    ],
)
def test_an_activation_bounds_those_of_prototypes_near_by(statements, least) -> None:
    """Being 1 away from (1, 1/4) is being 3/4 away from (1, 0); 1/4 away from (0, 1/4) is at most 1/2 from (0, 0)."""
    assert status(statements, least - 2.0**-40) == "PROVED"
    assert status(statements, least + 2.0**-40) == "NOT_PROVED"


def test_it_takes_the_pooling_max() -> None:
    statements = [NEAR_FIRST, files.activation_statement(2, None, -1.0)]
    assert status(statements, 0.25, pooling={"kind": "top_mean", "k": 2}) == "NOT_PROVED"


@pytest.mark.parametrize(
    ("similarity", "near", "far", "most"),
    [
        ({"kind": "log_ratio", "epsilon": "0x1p-10"}, 6.9, 0.6925, 1.03),
        ({"kind": "exponential"}, 1.0, 0.3675, 0.571),
        ({"kind": "exp_distance", "epsilon": "0x0p+0"}, 0.9, 0.3675, 0.474),
    ],
)
def test_other_similarities(similarity, near, far, most) -> None:
    """No patch is within 1 of (1, 1/4), or hardly: so none is within 3/4 of (1, 0), where the similarity is a little
    less than `most`."""
    statements = [files.activation_statement(0, near, None), files.activation_statement(2, None, far)]
    assert status(statements, near - most, similarity=similarity) == "PROVED"
    assert status(statements, near - most + 0.03, similarity=similarity) == "NOT_PROVED"


DIRECTIONS = [[2.0, 0.0], [3.0, 4.0], [0.0, 0.5], [4.0, 3.0]]
"""The cosine of the second and the third one is 4/5, and so is that of the first and the fourth one."""
COSINE = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY, "domain": files.domain(None, None)}
ROOTED = {"kind": "rooted_cosine", "epsilon": "0x1p-3"}


def angle_status(statements: list[dict[str, Any]], margin: float, **head: Any) -> str:
    data = files.head(WEIGHT, DIRECTIONS, **COSINE | head)
    certificate = files.certificate(data, statements, paradigm="top_k", patches=9, margins=[None, margin])
    return Auditor(data, None, "proved").check(certificate, minimality=False).status.value


@pytest.mark.parametrize("head", [{}, {"geometry": files.cosine(0.5)}, {"geometry": ROOTED}])
@pytest.mark.parametrize(
    ("statements", "least"),
    [
        ([files.activation_statement(0, 0.875, None), files.activation_statement(2, None, 0.0)], 0.875 - 0.6),
        ([files.activation_statement(0, 0.875, None), files.order_clause([0, 1, 3], -0.6)], 0.875),
        ([files.activation_statement(0, 0.875, None), files.activation_statement(2, None, -0.6)], 0.875),
        ([files.activation_statement(1, None, -0.5), files.activation_statement(3, 0.8, None)], 0.78),
        ([files.activation_statement(1, None, -0.5), files.floor([0, 1, 2], 0.8)], 0.78),
    ],
)
def test_a_cosine_bounds_those_of_directions_near_by(statements, least, head) -> None:
    """c t + ((1 - c^2)(1 - t^2))^(1/2) with c = 4/5 is 3/5 for t = 0, and 0 for t = -3/5; with a minus it is 7/25 for
    t = 4/5."""
    assert angle_status(statements, least - 2.0**-40, **head) == "PROVED"
    assert angle_status(statements, least + 2.0**-40, **head) == "NOT_PROVED"
