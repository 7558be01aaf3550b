"""Explanations that hold in float32: their margins outweigh what is lost, and the checker says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.small import small_head, small_latents, varied_head

import verale
from verale.certificate import Certificate
from verale.errors import UsageError
from verale.head import Box
from verale.runs.deployed import explain_deployed
from verale.search import Unexplained


@pytest.mark.parametrize("formula", ["direct", "cdist"])
def test_every_certificate_holds(formula: str) -> None:
    head = small_head("euclidean", prototypes=9, depth=64)
    head = replace(head, weight=head.weight * 1e-2, bias=None)
    latents = small_latents(head, images=4)
    plain = verale.explain(head, latents, "projection")
    held = explain_deployed(head, latents, "projection", formula)
    more = 0
    for one, kept in zip(plain, held, strict=True):
        assert isinstance(one, Certificate) and isinstance(kept, Certificate)
        verdict = verale.audit(kept, head, latents, deployment=formula)
        assert verdict.claims == {"entailment": "proved", "instance": "proved", "deployment": "proved"} | (
            {"minimality": "not checked"} if kept.minimal else {}
        )
        assert kept.predicted == one.predicted and kept.latents == one.latents
        if verale.audit(one, head, latents, deployment=formula).claims["deployment"] != "proved":
            more += 1
            assert kept.margin > one.margin and not kept.minimal
        else:
            assert kept == one
    assert more or formula == "direct"


def test_a_class_that_is_hardly_ahead_has_none() -> None:
    head = small_head("euclidean", prototypes=6, depth=8)
    latents = small_latents(head, images=1)
    found = explain_deployed(replace(head, weight=head.weight * 1e-3 + 1e3, bias=None), latents, "projection")[0]
    assert isinstance(found, Unexplained) and "float32 may lose" in found.reason


def test_what_is_not_covered_is_said() -> None:
    head = replace(small_head("euclidean"), domain=Box())
    found = explain_deployed(head, small_latents(head, images=1), "top_k")[0]
    assert isinstance(found, Unexplained) and "overflow" in found.reason


def test_options_are_checked() -> None:
    head = small_head("euclidean")
    latents = small_latents(head, images=1)
    for formula, ulps in (("fast", None), ("cdist", "log=0"), ("cdist", "sin=4"), ("cdist", "log=4,log=5")):
        with pytest.raises(UsageError, match="deployment"):
            explain_deployed(head, latents, "projection", formula, ulps)
    with pytest.raises(UsageError, match="readout"):
        explain_deployed(varied_head("maximum"), latents, "projection")
