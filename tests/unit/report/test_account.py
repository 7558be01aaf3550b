"""The account of a proved lead: it adds up as it is shown, the image keeps to it, and where there is none nothing is
said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import torch
from support.joint import joint_head
from support.small import small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, OrderStatement, SumStatement
from verale.checker import Auditor
from verale.checker.certificate import read_certificate
from verale.checker.head import read_head
from verale.checker.numbers import Interval
from verale.head import Head, as_patches, evaluate
from verale.head.head import belonging
from verale.report.account import Account, account_of, proved_account
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


@cache
def explained(name: str, paradigm: str) -> tuple[Head, torch.Tensor, list[tuple[int, Certificate]]]:
    head = small_head(name) if name in ("euclidean", "cosine", "softmax") else varied_head(name)
    latents = small_latents(head, images=2)
    results = explain(head, latents, paradigm)
    given = [(i, r) for i, r in enumerate(results) if isinstance(r, Certificate)]
    assert given
    return head, latents, given


def account(head: Head, certificate: Certificate, kernel: str = "proved") -> Account | None:
    """As the page makes it."""
    data, file = certificate.to_bytes(), head.to_bytes()
    return proved_account(data, read_certificate(data), read_head(file), Auditor(file, None, kernel).numbers)


def parts(made: Account) -> list[str]:
    return [*(line.points for line in made.stated), *filter(None, (made.by_implied, made.start, made.rest))]


@pytest.mark.parametrize(("name", "paradigm", "kernel"), [(*case, KERNELS[at % 2]) for at, case in enumerate(CASES)])
def test_what_is_shown_adds_up_and_the_image_keeps_to_it(name, paradigm, kernel):
    head, latents, given = explained(name, paradigm)
    for index, certificate in given:
        made = account(head, certificate, kernel)
        assert made is not None and made.predicted == certificate.predicted
        assert sum(map(Fraction, parts(made))) == Fraction(made.together)
        assert sum(Fraction(line.points) for line in made.implied) == Fraction(made.by_implied or 0)
        assert Fraction(made.together) - Fraction(made.taken) == Fraction(made.lead) > 0
        evaluation = evaluate(head, as_patches(latents[index : index + 1]))
        activations, logits = evaluation.activations[0], evaluation.logits[0]
        weight, own = head.weight.double(), belonging(head, torch.tensor([certificate.predicted]))[0]
        points = (weight[certificate.predicted] - weight[made.rival]) * activations
        for line in (*made.stated, *made.implied):
            assert own[line.prototype] and float(line.similarity) <= float(activations[line.prototype]) + 1e-9
            assert float(line.points) <= float(points[line.prototype]) + 1e-9
        assert float(made.taken) >= float(-points[~own].sum()) - 1e-9
        assert made.closest[0].rival == made.rival and made.closest[0].lead == made.lead
        for one in made.closest:
            lead = float(logits[certificate.predicted] - logits[one.rival])
            assert Fraction(one.given) - Fraction(one.taken) == Fraction(one.lead)
            assert float(made.lead) - 1e-9 <= float(one.lead) + 10.0 ** -len(one.lead.partition(".")[2]) * 40
            assert float(one.lead) <= lead + 1e-9 and float(made.lead) <= lead + 1e-9, "over every class"


@pytest.mark.parametrize(
    ("name", "paradigm"), [("euclidean", "evidence"), ("cosine", "evidence"), ("softmax", "top_k")]
)
def test_rounding_never_says_more_than_is_proved(name, paradigm):
    head, _, given = explained(name, paradigm)
    for _, certificate in given:
        numbers = Auditor(head.to_bytes(), None, "proved").numbers(certificate.to_bytes())
        made = account(head, certificate)
        low = [each.low for each in numbers.activations]
        weight = [[Fraction(each) for each in row] for row in head.weight.double().tolist()]
        for line in (*made.stated, *made.implied):
            exact = (weight[made.predicted][line.prototype] - weight[made.rival][line.prototype]) * low[line.prototype]
            assert Fraction(line.points) <= exact < Fraction(line.points) + 1
            product, scale = Fraction(line.similarity) * Fraction(line.weight), 10 ** len(line.points.partition(".")[2])
            assert product * scale // 1 == Fraction(line.points) * scale, "the product checks, as it is shown"
        for one in made.closest:
            assert Fraction(one.lead) <= numbers.margins[one.rival], "what the checker proves of the margin"


def two_classes(*statements: object, **changes: object) -> tuple[Head, Certificate]:
    head = small_head("euclidean", prototypes=4, classes=2)
    weight = torch.tensor([[2.0, 0.5, -1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    head = replace(head, weight=weight, bias=torch.tensor([30.0, 0.0]))
    certificate = explained("euclidean", "top_k")[2][0][1]
    named = {"head": head.digest, "predicted": 0, "margins": (None, 1.0), "minimal": False}
    return head, replace(certificate.of_latents(), statements=statements, **named | changes)


@pytest.mark.parametrize("kernel", KERNELS)
def test_who_gives_and_who_takes_is_told_in_words(kernel: str):
    head, certificate = two_classes(ActivationStatement(0, 1.0, INF), OrderStatement((0,), 1.25))
    made = account(head, certificate, kernel)
    assert [(line.prototype, line.statement, line.points) for line in made.stated] == [(0, 0, "2.0")]
    assert (made.start, made.together, made.taken, made.total, made.lead) == ("30.0", "32.0", "3.2", None, "28.8")
    assert list(made.in_words({0: "ant", 1: "bee"}.__getitem__)) == [
        ("prototype 0", "at least 1 x about 2 = 2.0"),
        ("the class's head start (bias)", "30.0"),
        ("together", "at least 32.0"),
        ("all prototypes of other classes together take back", "at most 3.2"),
        ("so class ant leads every other class by", "at least 28.8"),
    ]


def test_of_two_sums_the_lower_one_is_told():
    sums = (SumStatement((1,), 1.25), SumStatement(None, 3.0))
    head, certificate = two_classes(ActivationStatement(0, 2.0, INF), *sums, paradigm="evidence")
    for kernel in KERNELS:
        made = account(head, certificate, kernel)
        assert (made.taken, made.total, made.lead) == ("1.25", 1, "32.75")


def test_a_sum_is_told_as_it_is_stated_where_the_lead_is_proved():
    """The decimal of an upper end is at most that end, here 2.2 of the float just above it."""
    stated, upper = ActivationStatement(0, 2.1, INF), 2.2
    assert Fraction(upper) > Fraction("2.2")
    made = account(*two_classes(stated, SumStatement(None, upper), paradigm="evidence"))
    exact = 30 + 2 * Fraction(2.1) - Fraction(upper)
    assert Fraction(made.taken) == Fraction("2.2") and Fraction(made.lead) <= exact
    made = account(*two_classes(replace(stated, lower=2.0), SumStatement(None, upper), paradigm="evidence"))
    assert (made.taken, made.lead) == ("2.3", "31.7"), "no part was rounded, so nothing makes up for it"


def test_where_a_margin_is_bounded_as_a_whole_nothing_is_said():
    head = joint_head("plain")
    for certificate in explain(head, small_latents(head, images=1, patches=1), "joint"):
        assert account(head, certificate) is None
    for name in ("tree", "maximum"):
        head = varied_head(name)
        assert account(head, explain(head, small_latents(head, images=1), "top_k")[0]) is None


def test_what_is_not_proved_has_no_account():
    head, certificate = two_classes(ActivationStatement(0, 2.0, INF), OrderStatement((0,), 2.0))
    data, known = certificate.to_bytes(), read_head(head.to_bytes())
    numbers, read = Auditor(head.to_bytes(), None, "arb").numbers(data), read_certificate(data)
    assert account_of(read, known, numbers) is not None
    assert account_of(replace(read, margins=(None, Fraction(33))), known, numbers) is None
    assert account_of(replace(read, margins=(None, None)), known, numbers) is None
    crossing = (Interval(Fraction(3), Fraction(2)), *numbers.activations[1:])
    assert account_of(read, known, replace(numbers, activations=crossing)) is None
    unknown = (Interval(None, None), *numbers.activations[1:])
    assert account_of(read, known, replace(numbers, activations=unknown)) is None
    for kernel in KERNELS:  # neighbours are alike: where one is active, no ceiling lies so far below
        assert account(*two_classes(ActivationStatement(0, 2.0, INF), OrderStatement((0,), 0.5)), kernel) is None
