"""The cases about deployed heads: what they cover, and whether their marks hold, judged without the checker."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from support import files
from support.binary32 import PROTOTYPES, holds_of_deployed, is_lost, nearest
from support.exact import Head

from verale.checker import Auditor, Status
from verale.checker.deployment import FORMULAS, Deployment
from verale.checker.options import KERNELS
from verale.soundness.corpus.cases import BEYOND, FALSE, manifest, stored

CASES = {case.name.removeprefix("deployment/"): case for case in stored("deployment")}
ACCEPTED = {name: case for name, case in CASES.items() if not case.mark}
REJECTED = {name: case for name, case in CASES.items() if case.mark}


def test_the_field_of_the_manifest_and_the_folder_go_together() -> None:
    entries = manifest()
    named = {name for name, entry in entries.items() if "deployment" in entry}
    assert named == {name for name in entries if name.startswith("deployment/")}
    assert all(set(entries[name]["deployment"]) == {"formula", "log", "exp", "sqrt"} for name in named)


def test_they_have_every_formula_and_what_it_is_asked_of() -> None:
    for cases, status in ((ACCEPTED, ("PROVED", "")), (REJECTED, ("NOT_PROVED", "deployment"))):
        assert {(case.status, case.reason) for case in cases.values()} == {status}
        assert {files.given(case.deployment).formula for case in cases.values()} == set(FORMULAS)
    kinds = {Head.read(case.head).kind("geometry") for case in ACCEPTED.values()}
    assert kinds == {"euclidean", "cosine", "inner_product", "softmax"}
    for twins in (("far-direct", "far-expanded"), ("far-direct", "far-cdist"), ("log-within-4", "log-within-1024")):
        one, other = (CASES[name] for name in twins)
        assert (one.head, one.latents) == (other.head, other.latents) and one.deployment != other.deployment
        assert twins[0] in ACCEPTED and twins[1] in REJECTED


@pytest.mark.parametrize("kernel", KERNELS)
def test_rejected_ones_are_proved_where_nothing_is_asked_of_a_deployed_head(kernel: str) -> None:
    for name, case in REJECTED.items():
        verdict = Auditor(case.head, case.latents, kernel).check(case.certificate, minimality=True)
        assert verdict.status is Status.PROVED, name


def test_every_mark_holds() -> None:
    assert [name for name, case in REJECTED.items() if not holds_of_deployed(case)] == []
    assert sum(case.breaks is not None for case in REJECTED.values()) == 8
    assert [case.claim for case in REJECTED.values() if case.claim is not None] == [PROTOTYPES]
    assert {case.mark for case in REJECTED.values()} == {FALSE, BEYOND}


def test_marks_that_do_not_hold_are_no_marks() -> None:
    for name, case in ACCEPTED.items():
        marked = [replace(case, mark=BEYOND), replace(case, mark=FALSE, claim="subject")]
        if Head.read(case.head).kind("geometry") != "softmax":
            marked.append(replace(case, mark=FALSE, claim=PROTOTYPES))
        assert not any(map(holds_of_deployed, marked)), name
    far = CASES["far-expanded"]
    asked, breaks = files.given(far.deployment), files.given(far.breaks)
    assert is_lost(far.certificate, far.head, breaks, asked)
    assert not is_lost(far.certificate, far.head, breaks, replace(asked, formula="direct"))
    assert not is_lost(far.certificate, far.head, files.given(far.latents), asked)
    outside = files.latents([[[4096.5, 4097.5]]])
    assert not is_lost(far.certificate, far.head, outside, asked)
    between = files.latents([[[4096.5, 4096.5 + 2.0**-30]]])
    assert not is_lost(far.certificate, far.head, between, asked)  # no binary32 number


def test_the_ulps_of_the_logarithm_decide() -> None:
    case = CASES["log-within-1024"]
    latents = files.given(case.breaks)
    lost = [is_lost(case.certificate, case.head, latents, Deployment("direct", log=n)) for n in (1, 4, 1024)]
    assert lost == [False, False, True]


def test_what_is_accepted_is_not_lost_at_its_own_image() -> None:
    """Where it is of binary32 numbers, and tried."""
    for name in ("direct", "expanded", "cdist", "cosine", "far-direct", "log-within-4", "stated-upper-end", "softmax"):
        case = ACCEPTED[name]
        assert not is_lost(case.certificate, case.head, files.given(case.latents), files.given(case.deployment)), name


def test_numbers_are_rounded_to_binary32() -> None:
    assert nearest(1 + Fraction(1, 2**24)) == 1 and nearest(1 + Fraction(3, 2**24)) == 1 + Fraction(1, 2**22)
    with pytest.raises(OverflowError):
        nearest(Fraction(2**128))
