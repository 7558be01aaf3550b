"""What one activation says of the others, in the proved checker: what is proved, how nearly, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from verale.checker import Auditor
from verale.soundness.independent import files

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
