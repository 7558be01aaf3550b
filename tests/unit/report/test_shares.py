"""The ledger of a proved lead: it sums up, the image keeps to what it says, and where there is none nothing is said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.joint import joint_head
from support.small import small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, OrderStatement, SumStatement
from verale.checker import Auditor
from verale.checker.certificate import read_certificate
from verale.checker.numbers import Interval
from verale.head import Head, as_patches, evaluate
from verale.report.page_detail import share_in_words
from verale.report.shares import Ledger, carried_by, ledger_of, part_in_numbers
from verale.search.explain import explain

CASES = [
    *(("euclidean", paradigm) for paradigm in ("projection", "triangle", "hypersphere", "top_k", "mixed")),
    *(("cosine", paradigm) for paradigm in ("projection", "top_k", "mixed")),
    *(("softmax", paradigm) for paradigm in ("simplex", "sparse", "top_k")),
    *((name, "top_k") for name in ("inner product", "top mean", "masked", "quartic")),
    *((name, "evidence") for name in ("euclidean", "cosine", "softmax")),
]
KERNELS = ("arb", "proved")
INF = float("inf")


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def explained(name: str, paradigm: str) -> tuple[Head, torch.Tensor, list[tuple[int, Certificate]]]:
    head = small_head(name) if name in ("euclidean", "cosine", "softmax") else varied_head(name)
    latents = small_latents(head, images=2)
    results = explain(head, latents, paradigm)
    given = [(i, r) for i, r in enumerate(results) if isinstance(r, Certificate)]
    assert given
    return head, latents, given


def ledger(head: Head, certificate: Certificate, rival: int, kernel: str = "proved") -> Ledger | None:
    """As the page makes it."""
    data = certificate.to_bytes()
    return ledger_of(read_certificate(data), head, Auditor(head.to_bytes(), None, kernel).numbers(data), rival)


def carried(head: Head, certificate: Certificate, made: Ledger) -> list[list[str]]:
    read = read_certificate(certificate.to_bytes())
    return [carried_by(read, reason) for reason in made.reasons]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("name", "paradigm"), CASES)
def test_the_ledger_is_what_the_certificate_proves(name, paradigm, kernel):
    head, latents, given = explained(name, paradigm)
    for index, certificate in given:
        activations = evaluate(head, as_patches(latents[index : index + 1])).activations[0]
        for rival, margin in enumerate(certificate.margins):
            made = ledger(head, certificate, rival, kernel)
            if margin is None:
                assert made is None
                continue
            assert made is not None and made.rival == rival
            logits = evaluate(head, as_patches(latents[index : index + 1])).logits[0]
            own = float(logits[certificate.predicted] - logits[rival])
            # The checker may prove more than is stated.
            assert Fraction(margin) <= made.lead <= Fraction(own) + Fraction(1, 10**9), (
                "it may prove more than is stated"
            )
            assert sum(reason.share for reason in made.reasons) == 1
            shares = [reason.share for reason in made.reasons if not reason.of_sum]
            assert not any(reason.of_sum for reason in made.reasons[:-1]), "sums are told last"
            assert shares == sorted(shares, reverse=True) and min(shares) >= 0
            weight = head.weight.double()
            others = (weight > weight[certificate.predicted]).any(0)
            for part in (part for reason in made.reasons for part in reason.parts):
                about = others if part.prototype is None else part.prototype
                added = (weight[certificate.predicted] - weight[rival])[about] * activations[about]
                adds = added.sum()
                assert float(part.worst) <= float(part.amount) <= float(adds) + 1e-9, "the image itself keeps to it"


@pytest.mark.parametrize(("name", "paradigm"), [("euclidean", "top_k"), ("cosine", "mixed"), ("euclidean", "mixed")])
def test_without_a_reason_the_lead_is_that_much_less(name, paradigm):
    """At most: another statement may bound the same prototypes, though less tightly."""
    head, _, given = explained(name, paradigm)
    auditor = Auditor(head.to_bytes(), None, "proved")
    for _, certificate in given:
        rival = next(c for c, margin in enumerate(certificate.margins) if margin is not None)
        made = ledger(head, certificate, rival)
        for reason in [each for each in made.reasons if each.statements]:
            rest = [s for n, s in enumerate(certificate.statements) if n not in reason.statements]
            left = replace(certificate.of_latents(), statements=tuple(rest), minimal=False)
            margin = auditor.numbers(left.to_bytes()).margins[rival]
            assert margin is not None and margin >= made.lead - reason.gain - Fraction(1, 10**9)


def two_classes() -> tuple[Head, Certificate]:
    head = small_head("euclidean", prototypes=4, classes=2)
    weight = torch.tensor([[2.0, 0.5, -1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    head = replace(head, weight=weight, bias=torch.tensor([30.0, 0.0]))
    statements = (ActivationStatement(0, 2.0, INF), OrderStatement((0,), 0.5))
    certificate = explain(small_head("euclidean"), small_latents(head), "top_k")[0]
    return head, replace(
        certificate.of_latents(),
        head=head.digest,
        predicted=0,
        statements=statements,
        margins=(None, 1.0),
        minimal=False,
    )


def test_who_gains_is_told_in_words():
    """By the rules, which do not see that these statements contradict each other: neighbours have to be alike."""
    head, certificate = two_classes()
    assert ledger(head, certificate, 1, "proved") is None
    made = ledger(head, certificate, 1, "arb")
    ceiling, own = made.reasons
    assert ceiling.statements == (1,) and [part.prototype for part in ceiling.parts] == [2, 1]
    assert [part.amount for part in ceiling.parts] == [-1, Fraction(-1, 4)] and own.parts[0].amount == 4
    assert made.lead == 30 + 4 - 1 - Fraction(1, 4)
    (said,), by_own = carried(head, certificate, made)
    assert by_own == ["adds at least 4 to the lead"]
    assert said.startswith("keeps prototypes 2 and 1 from taking more than 1.25 from the lead (about ")
    assert part_in_numbers(ceiling.parts[0])[0] == "-1" and float(part_in_numbers(ceiling.parts[0])[1]) > 1
    assert part_in_numbers(own.parts[0]) == ("4", "")
    taking = replace(certificate, statements=(ActivationStatement(2, -INF, 1 / 3),))
    ((said,),) = carried(head, taking, ledger(head, taking, 1, "arb"))
    assert said.startswith("takes at most 0.6667 from the lead (about "), "rounded up, never down"


def test_of_two_sums_the_lower_one_is_told():
    head, certificate = two_classes()
    sums = (SumStatement(None, 3.0), SumStatement((1,), 1.25))
    certificate = replace(certificate, paradigm="evidence", statements=(certificate.statements[0], *sums))
    for kernel in KERNELS:
        made = ledger(head, certificate, 1, kernel)
        own, total = made.reasons
        assert own.statements == (0,) and [(part.prototype, part.amount) for part in own.parts] == [(0, 4)]
        assert total.statements == (2,) and [(part.prototype, part.amount) for part in total.parts] == [(None, -1.25)]
        assert made.lead == 30 + 4 - Fraction(5, 4) and total.of_sum


def test_one_activation_bounds_its_neighbours():
    head, _, given = explained("euclidean", "mixed")
    said: list[str] = []
    for _, certificate in given:
        read = read_certificate(certificate.to_bytes())
        for rival, margin in enumerate(certificate.margins):
            made = None if margin is None else ledger(head, certificate, rival)
            for reason in made.reasons if made else ():
                if any(isinstance(certificate.statements[n], ActivationStatement) for n in reason.statements):
                    said += carried_by(read, reason)
    assert any(words.startswith(("keeps prototype", "makes prototype")) for words in said)


def test_where_a_margin_is_bounded_as_a_whole_nothing_is_said():
    head = joint_head("plain")
    for certificate in explain(head, small_latents(head, patches=1), "joint"):
        assert ledger(head, certificate, (certificate.predicted + 1) % head.classes) is None
    for name in ("tree", "maximum"):
        head = varied_head(name)
        certificate = explain(head, small_latents(head), "top_k")[0]
        assert ledger(head, certificate, (certificate.predicted + 1) % head.classes) is None


def test_what_is_not_proved_has_no_ledger():
    head, certificate = two_classes()
    data = certificate.to_bytes()
    numbers, read = Auditor(head.to_bytes(), None, "arb").numbers(data), read_certificate(data)
    assert ledger_of(read, head, numbers, 1) is not None
    assert ledger_of(replace(read, margins=(None, Fraction(33))), head, numbers, 1) is None
    assert ledger_of(read, head, numbers, 0) is None and ledger_of(read, head, numbers, 99) is None
    crossing = (Interval(Fraction(3), Fraction(2)), *numbers.activations[1:])
    assert ledger_of(read, head, replace(numbers, activations=crossing), 1) is None
    unknown = (Interval(None, None), *numbers.activations[1:])
    assert ledger_of(read, head, replace(numbers, activations=unknown), 1) is None


def test_a_share_is_all_only_if_it_is():
    shares = Fraction(999, 1000), Fraction(29, 100), Fraction(1), Fraction(1, 101)
    assert list(map(share_in_words, shares)) == ["99 %", "29 %", "100 %", "less than 1 %"]
