"""The ledger of a proved lead: it sums up, the image keeps to what it says, and where there is none nothing is said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.joint import joint_head
from support.small import small_head, small_latents, varied_head

from verale.certificate import Certificate
from verale.checker.certificate import (
    ActivationStatement,
    OrderStatement,
    PatchStatement,
    read_certificate,
)
from verale.head import as_patches, evaluate
from verale.report import ends
from verale.report.ends import ProvedEnds
from verale.report.page_detail import share_in_words
from verale.report.shares import carried_by, ledger_of, part_in_numbers
from verale.search.explain import explain

CASES = [
    *(("euclidean", paradigm) for paradigm in ("projection", "triangle", "hypersphere", "top_k", "mixed")),
    *(("cosine", paradigm) for paradigm in ("projection", "top_k", "mixed")),
    *(("softmax", paradigm) for paradigm in ("simplex", "sparse", "top_k")),
    *((name, "top_k") for name in ("inner product", "top mean", "masked", "quartic")),
]


def explained(name, paradigm):
    head = small_head(name) if name in ("euclidean", "cosine", "softmax") else varied_head(name)
    latents = small_latents(head, images=2)
    results = explain(head, latents, paradigm)
    given = [(i, read_certificate(r.to_bytes())) for i, r in enumerate(results) if isinstance(r, Certificate)]
    assert given
    return head, latents, given


@pytest.mark.parametrize(("name", "paradigm"), CASES)
def test_the_ledger_is_what_the_certificate_proves(name, paradigm):
    head, latents, given = explained(name, paradigm)
    bounds = ProvedEnds(head)
    for index, certificate in given:
        activations = evaluate(head, as_patches(latents[index : index + 1])).activations[0]
        for rival, margin in enumerate(certificate.margins):
            if margin is None:
                assert ledger_of(certificate, bounds, rival) is None
                continue
            ledger = ledger_of(certificate, bounds, rival)
            assert ledger is not None and ledger.rival == rival
            stated, lead = float(margin), float(ledger.lead)  # margins are rounded down to four digits
            assert stated * (1 - 1e-4) - 1e-5 <= lead <= stated * (1 + 1.1e-3) + 1e-5
            assert sum(reason.share for reason in ledger.reasons) == pytest.approx(1)
            shares = [reason.share for reason in ledger.reasons]
            assert shares == sorted(shares, reverse=True) and min(shares) >= 0
            weight = head.weight.double()
            for part in (part for reason in ledger.reasons for part in reason.parts):
                own = (weight[certificate.predicted] - weight[rival])[part.prototype] * activations[part.prototype]
                assert float(part.worst) <= float(part.amount) <= float(own) + 1e-9, "the image itself keeps to it"


@pytest.mark.parametrize(("name", "paradigm"), [("euclidean", "top_k"), ("cosine", "mixed"), ("euclidean", "mixed")])
def test_without_a_reason_the_lead_is_that_much_less(name, paradigm):
    """At most: another statement may bound the same prototypes, though less tightly."""
    head, _, given = explained(name, paradigm)
    bounds = ProvedEnds(head)
    for _, certificate in given:
        rival = next(c for c, margin in enumerate(certificate.margins) if margin is not None)
        ledger = ledger_of(certificate, bounds, rival)
        for reason in ledger.reasons:
            if not reason.statements:
                continue
            rest = [s for n, s in enumerate(certificate.statements) if n not in reason.statements]
            left = ledger_of(
                replace(certificate, statements=tuple(rest), claims=("entailment",), latents=None), bounds, rival
            )
            assert left is None or left.lead >= ledger.lead - reason.gain - Fraction(1, 10**9)


def test_who_gains_is_told_in_words():
    head = small_head("euclidean", prototypes=4, classes=2)
    weight = torch.tensor([[2.0, 0.5, -1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    head = replace(head, weight=weight, bias=torch.tensor([30.0, 0.0]))
    statements = (ActivationStatement(0, Fraction(2), None), OrderStatement((0,), Fraction(1, 2)))
    certificate = read_certificate(explain(small_head("euclidean"), small_latents(head))[0].to_bytes())
    certificate = replace(
        certificate,
        head=head.digest,
        predicted=0,
        paradigm="top_k",
        statements=statements,
        margins=(None, Fraction(1)),
        claims=("entailment",),
        latents=None,
    )
    ledger = ledger_of(certificate, ProvedEnds(head), 1)
    ceiling, own = ledger.reasons
    assert ceiling.statements == (1,) and [part.prototype for part in ceiling.parts] == [2, 1]
    assert [part.amount for part in ceiling.parts] == [-1, Fraction(-1, 4)] and own.parts[0].amount == 4
    assert ledger.lead == 30 + 4 - 1 - Fraction(1, 4)
    assert carried_by(certificate, own) == ["adds at least 4 to the lead"]
    (said,) = carried_by(certificate, ceiling)
    assert said.startswith("keeps prototypes 2 and 1 from taking more than 1.25 from the lead (about ")
    assert part_in_numbers(ceiling.parts[0])[0] == "-1" and float(part_in_numbers(ceiling.parts[0])[1]) > 1
    assert part_in_numbers(own.parts[0]) == ("4", "")
    taking = replace(certificate, statements=(ActivationStatement(2, None, Fraction(1, 3)),))
    (said,) = carried_by(taking, ledger_of(taking, ProvedEnds(head), 1).reasons[0])
    assert said.startswith("takes at most 0.6667 from the lead (about "), "rounded up, never down"


def test_one_activation_bounds_its_neighbours():
    head, _, given = explained("euclidean", "mixed")
    said = []
    for _, certificate in given:
        for rival, margin in enumerate(certificate.margins):
            ledger = None if margin is None else ledger_of(certificate, ProvedEnds(head), rival)
            for reason in ledger.reasons if ledger else ():
                if any(isinstance(certificate.statements[n], ActivationStatement) for n in reason.statements):
                    said += carried_by(certificate, reason)
    assert any(words.startswith(("keeps prototype", "makes prototype")) for words in said)


def test_where_a_margin_is_bounded_as_a_whole_nothing_is_said():
    head = joint_head("plain")
    latents = small_latents(head, patches=1)
    for certificate in explain(head, latents, "joint"):
        given = read_certificate(certificate.to_bytes())
        rival = (given.predicted + 1) % head.classes
        assert ledger_of(given, ProvedEnds(head), rival) is None
    for name, paradigm in (("softmax", "assignment"), ("tree", "top_k"), ("maximum", "top_k")):
        head = small_head(name) if name == "softmax" else varied_head(name)
        given = read_certificate(explain(head, small_latents(head), paradigm)[0].to_bytes())
        assert ledger_of(given, ProvedEnds(head), (given.predicted + 1) % head.classes) is None


def test_what_does_not_fit_has_no_ledger():
    head, _, given = explained("euclidean", "top_k")
    certificate, bounds = given[0][1], ProvedEnds(head)
    rival = (certificate.predicted + 1) % head.classes
    for statements in (
        (ActivationStatement(99, Fraction(1), None),),
        (OrderStatement((99,), Fraction(1)),),
        (PatchStatement(0, 0, Fraction(0), None),),
        (ActivationStatement(0, Fraction(3), None), OrderStatement((), Fraction(2))),
        (),
    ):
        assert ledger_of(replace(certificate, statements=statements), bounds, rival) is None
    assert ledger_of(replace(certificate, head="0" * 64), bounds, rival) is None
    assert ledger_of(replace(certificate, predicted=99), bounds, rival) is None


def test_of_too_many_statements_about_patches_nothing_is_computed(monkeypatch):
    head, _, given = explained("euclidean", "projection")
    certificate = given[0][1]
    rival = (certificate.predicted + 1) % head.classes
    monkeypatch.setattr(ends, "_MOST", len(certificate.statements) * head.size)
    assert ledger_of(certificate, ProvedEnds(head), rival) is not None
    monkeypatch.setattr(ends, "_MOST", len(certificate.statements) * head.size - 1)
    assert ledger_of(certificate, ProvedEnds(head), rival) is None


def test_a_share_is_all_only_if_it_is():
    shares = Fraction(999, 1000), Fraction(29, 100), Fraction(1), Fraction(1, 101)
    assert list(map(share_in_words, shares)) == ["99 %", "29 %", "100 %", "less than 1 %"]
