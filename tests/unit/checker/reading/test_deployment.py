"""The deployment claim: heads computed in binary32 by an adversary keep the bounds, and so the class."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest
import torch
from support import files
from support.binary32 import Machine
from support.exact import Head as ExactHead
from support.small import GEOMETRIES, VARIED, focal_head, small_head, small_latents, varied_head
from torch import Tensor

from verale.certificate import Certificate, SumStatement
from verale.checker import Auditor
from verale.checker.certificate import read_certificate
from verale.checker.deployment import FORMULAS, Deployment, are_binary32, gamma, is_binary32
from verale.checker.dyadic import ceil_at, exact, floor_at
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import load_arithmetic
from verale.checker.reading.audit import PlainAudit
from verale.checker.reading.deployment import Losses, deployed_margins
from verale.checker.reading.evaluation import Evaluation, require_domain, require_true
from verale.checker.reading.space import Space
from verale.checker.subject import Subject
from verale.head import Box, Head
from verale.paradigms import paradigms_of
from verale.search.explain import explain

COVERED = {
    **{name: small_head(name, prototypes=5, depth=3) for name in GEOMETRIES},
    **{
        name: varied_head(name, prototypes=5, depth=3)
        for name in VARIED
        if "tree" not in name and "quadratic" not in name and name != "quartic"
    },
    "max minus mean": focal_head("euclidean", "max_minus_mean", prototypes=5, depth=3),
    "cosine max minus mean": focal_head("cosine", "max_minus_mean", prototypes=5, depth=3),
    "max minus mean distance": focal_head("scaled", "max_minus_mean_distance", prototypes=5, depth=3),
}


def bounded(head: Head) -> Head:
    """With a domain of two ends, which deployed sums need, and parts that are binary32 numbers."""
    similarity = head.similarity
    if hasattr(similarity, "threshold"):
        similarity = type(similarity)(0.125)  # type: ignore[call-arg]
    head = replace(head, similarity=similarity)
    return head if head.prototypes is None else replace(head, domain=Box(0, 1))


class Audit:
    """A certificate of a head, and what is proved of it in binary32."""

    def __init__(self, head: Head, certificate: Certificate, deployment: Deployment) -> None:
        self.head, data = head, head.to_bytes()
        self.record = read_certificate(certificate.to_bytes())
        self.space = Space(read_head(data), load_arithmetic("arb"))
        audit = PlainAudit(Subject(self.record, 2.0**40), space=self.space)
        audit.prove()
        box = audit._activations.box(self.record.statements, self.record.patches)
        self.real = audit.proof.margins
        self.margins = deployed_margins(self.space, self.record, box, audit.proof.margins, deployment)

    def holds_of(self, patches: Tensor) -> bool:
        """Whether latents (L, D) lie in the domain and satisfy the statements."""
        latents = EnclosedLatents.exactly(exact(patches.double().flatten().tolist(), self.head.depth))
        try:
            require_domain(self.space.head, latents, self.record.patches)
            require_true(self.record, Evaluation(self.space, latents))
        except UnprovedError:
            return False
        return True


def near(patches: Tensor, generator: torch.Generator, head: Head, size: float) -> Tensor:
    moved = patches + size * torch.randn(patches.shape, generator=generator)
    return moved if head.prototypes is None else moved.clamp(0, 1)


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)], ids=["half", "the others"])
@pytest.mark.parametrize("name", COVERED)
def test_no_order_breaks_the_bounds(name: str, half: int) -> None:
    """Of explanations under half of the paradigms: the other half for the next head."""
    head, first = bounded(COVERED[name]), ([*COVERED].index(name) + half) % 2
    patches = 5 if name.endswith("masked") else 2
    latents = small_latents(head, images=1, patches=patches)
    generator, draw = torch.Generator().manual_seed(1), random.Random(1)
    looked = 0
    for number, paradigm in enumerate(paradigms_of(head.geometry.kind, patches=patches)[first::2]):
        tolerance = (0.0, 0.05)[number % 2]
        try:
            found = explain(head, latents, paradigm, tolerance=tolerance)
        except Exception as error:  # a paradigm that this head does not have
            assert "paradigm" in str(error) or "expected" in str(error)
            continue
        for image, certificate in zip(latents, found, strict=True):
            if not isinstance(certificate, Certificate):
                continue
            formula = draw.choice(FORMULAS)
            if any(isinstance(each, SumStatement) for each in certificate.statements):
                with pytest.raises(UnprovedError, match="statements about sums are not covered"):
                    Audit(head, certificate, Deployment(formula))
                continue
            audit = Audit(head, certificate, Deployment(formula))
            for trial in range(2):
                moved = image if trial == 0 else near(image, generator, head, draw.choice((1e-7, 1e-3, 0.02)))
                if not audit.holds_of(moved):
                    continue
                exact_patches = [[Fraction(x) for x in row] for row in moved.tolist()]
                for _ in range(1 + (trial == 0)):
                    machine = Machine(draw.randrange(2**30), formula, flush=draw.random() < 0.3)
                    logits = machine.logits(head, exact_patches)
                    for rival, least in enumerate(audit.margins):
                        if least is not None:
                            assert logits[audit.record.predicted] - logits[rival] >= least
                    looked += 1
    assert looked


def test_bounds_are_near_the_real_margins_and_say_how_far() -> None:
    head = bounded(COVERED["euclidean"])
    certificate = explain(head, small_latents(head, images=1), "projection", tolerance=0.01)[0]
    assert isinstance(certificate, Certificate)
    audit = Audit(head, certificate, Deployment("direct"))
    for real, left in zip(audit.real, audit.margins, strict=True):
        assert (real is None) == (left is None)
        if real is not None and left is not None:
            assert real - Fraction(1, 1000) < left < real


def verdict(head: Head, edited: dict[str, Any] | None = None, **options: Any) -> Any:
    certificate = explain(COVERED["euclidean"] if edited else head, small_latents(head, images=1), "top_k")[0]
    assert isinstance(certificate, Certificate)
    return Auditor(head.to_bytes(), kernel=options.pop("kernel", "arb")).check(
        certificate.to_bytes(), entailment_only=True, deployment=Deployment("direct", **options)
    )


def test_the_verdict_names_the_claim() -> None:
    head = bounded(COVERED["euclidean"])
    assert verdict(head).claims["deployment"] == "proved"
    assert verdict(head, kernel="both").claims["deployment"] == "proved"
    refused = verdict(head, kernel="proved")
    assert (refused.reason, refused.exit_code) == ("uncovered", 15) and "deployment" in refused.message


def test_a_thin_margin_falls_short() -> None:
    head = bounded(COVERED["euclidean"])
    found = verdict(replace(head, weight=head.weight * 1e-3 + 1e4))
    assert found.reason == "deployment" and "falls short by" in found.message and "rival" in found.message


def test_binary32_numbers() -> None:
    for value, known in (
        (2.0**-149, True),
        (2.0**-150, False),
        (1 + 2.0**-23, True),
        (1 + 2.0**-24, False),
        (0.0, True),
    ):
        assert is_binary32(Fraction(value)) == known == are_binary32(exact([value], 1))
    assert is_binary32(Fraction(2**128 - 2**104)) and not is_binary32(Fraction(2**128))


def test_gamma_is_refused_where_it_says_nothing() -> None:
    assert gamma(1) == Fraction(1, 2**24 - 1)
    with pytest.raises(UnprovedError, match="too long"):
        gamma(2**22)


def test_a_mean_of_expanded_distances_loses_what_each_of_them_does() -> None:
    """One patch whose distance is computed as 0, and many whose distances are computed far too great, since each
    coordinate is rounded away, or up, where sums begin with the greatest term."""
    depth, patches, epsilon = 1000, 64, 2.0**-40
    short = numpy.float32
    small, great = short(2**-12 * (1 - 2**-12)), short(2**-12 * (1 + 2**-13))
    point = numpy.array([1 + 2**-10, *[small] * depth, 0], short)
    near = numpy.array([1 + 2**-10, *[-small] * depth, 0], short)
    far = numpy.array([1 + 2**-10, *[great] * depth, math.sqrt(4.3 * depth * 2**-24)], short)

    def along(a: Any, b: Any) -> Any:
        total = short(0)
        for x, y in zip(a, b, strict=True):
            total = short(total + short(x * y))
        return total

    def real(z: Any) -> float:
        return float(sum((Fraction(float(x)) - Fraction(float(y))) ** 2 for x, y in zip(z, point, strict=True)))

    def similarity(distance: Any) -> Any:
        return numpy.log(short(short(distance + short(1)) / short(distance + short(epsilon))))

    apart = [max(short(0), short(along(z, z) - 2 * along(z, point)) + along(point, point)) for z in (near, far)]
    total = short(0)
    for distance in [apart[0]] + [apart[1]] * (patches - 1):
        total = short(total + distance)
    computed = short(similarity(apart[0]) - similarity(short(total / short(patches))))

    bias = 20.0
    head = ExactHead(
        [[-1.0], [0.0]],
        [point.tolist()],
        {
            "domain": files.domain(None, None),
            "similarity": files.log_ratio(epsilon),
            "pooling": {"kind": "max_minus_mean_distance"},
        },
        bias=[bias, 0.0],
    ).data
    image = [near.tolist()] + [far.tolist()] * (patches - 1)
    sizes = [real(near)] + [real(far)] * (patches - 1)
    statements = [files.patch_statement(n, 0, d * (1 - 2**-40), d * (1 + 2**-40)) for n, d in enumerate(sizes)]
    found = Auditor(head, files.latents([image])).check(
        files.certificate(head, statements, patches=patches, image=image), deployment=Deployment("expanded")
    )
    assert found.claims["instance"] == "proved" and found.claims["entailment"] == "proved"
    assert found.deployed[1] is not None
    assert found.deployed[1] <= Fraction(float(short(short(bias) - computed)))


HUGE = (2.0**127).hex()


@pytest.mark.parametrize(
    ("parts", "scale", "why"),
    [
        (
            {"geometry": files.SOFTMAX, "similarity": {"kind": "threshold", "threshold": (0.3).hex()}},
            None,
            "no binary32",
        ),
        ({"similarity": files.log_ratio(1e-30)}, None, "similarity's epsilon is less than 2^-64"),
        ({"similarity": {"kind": "exp_distance", "epsilon": HUGE}}, None, "similarity's epsilon may overflow"),
        ({"geometry": {"kind": "cosine", "epsilon": HUGE}, "similarity": files.IDENTITY}, None, "cosine's epsilon may"),
        (
            {"similarity": {"kind": "negated"}, "pooling": {"kind": "top_mean", "k": 1024}},
            [2.0**119],
            "sums of distances or similarities may overflow",
        ),
    ],
)
def test_what_is_not_covered_is_refused_by_name(parts: dict[str, Any], scale: list[float] | None, why: str) -> None:
    """Other heads: the corpora."""
    points = None if parts.get("geometry") == files.SOFTMAX else [[0.5]]
    parts = {"domain": files.domain(1, 2)} | parts
    head = ExactHead([[0.25], [0.5]], points, parts, bias=[4.0, 0.0], scale=scale).data
    certificate = files.certificate(head, [], paradigm="top_k", patches=1024)
    found = Auditor(head).check(certificate, entailment_only=True, deployment=Deployment("direct"))
    assert (found.reason, found.exit_code, found.claims["entailment"]) == ("deployment", 16, "proved")
    assert why in found.message and found.claims["deployment"] == "not checked"


# What computed observables lose: every order of a few sums, exactly, against the bounds.


BOX = {"lower": "0x0p+0", "upper": "0x1p+0"}


def space_of(points: files.Matrix, geometry: dict[str, Any] = files.EUCLIDEAN, **changes: Any) -> Space:
    similarity = {"kind": "log_ratio", "epsilon": "0x1p-13"} if geometry == files.EUCLIDEAN else files.IDENTITY
    parts: dict[str, Any] = {"geometry": geometry, "similarity": similarity, "domain": BOX} | changes
    data = files.head([[1.0] * len(points), [0.0] * len(points)], points, **parts)
    return Space(read_head(data), load_arithmetic("mpmath"))


def short(generator: random.Random) -> float:
    return float(numpy.float32(generator.random() * generator.choice((1, 1, 1e-3, 1e-30))))


@pytest.mark.parametrize("formula", FORMULAS)
def test_distances_in_every_order(formula: str) -> None:
    generator = random.Random(1)
    lost = Fraction(0)
    for trial in range(16):
        points = [[short(generator) for _ in range(3)] for _ in range(2)]
        space = space_of(points)
        losses = Losses(space, Deployment(formula), [], 1)
        z = [short(generator) if trial % 2 else float(numpy.float32(x * (1 + 1e-6))) for x in points[0]]
        exact = [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, p, strict=True)) for p in points]
        for machine in range(12):
            computer = Machine(machine, formula, flush=machine % 3 == 0)
            for j, p in enumerate(points):
                found = computer.distance(list(map(Fraction, z)), list(map(Fraction, p)))
                real = exact[j]
                low, high = floor_at(real, space.bits), ceil_at(real, space.bits)
                bound = Fraction(losses.loss(j, high), 1 << space.bits)
                assert abs(found - real) <= bound
                assert losses.least(j, low) <= found * (1 << space.bits) <= losses.most(j, high)
                lost = max(lost, abs(found - real) / bound)
    assert lost > 0.01  # the bounds are within two digits of what happens


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_is_farther_is_not_computed_as_nearer_than_the_least(formula: str) -> None:
    """A distance of which all may be lost can be computed as less than any nearer one."""
    space = space_of([[0.75, 0.5, 0.25]])
    losses = Losses(space, Deployment(formula), [], 1)
    distances = [0, *((n << space.bits) // 10**k for k in range(14, -1, -1) for n in (1, 3))]
    for low, far in itertools.combinations(distances, 2):
        assert losses.least(0, low) <= far - losses.loss(0, far)
    assert formula == "direct" or losses.least(0, 0) < -losses.loss(0, 0)


def test_cancellation_is_seen() -> None:
    point = [float(numpy.float32(0.9))] * 64
    near = [Fraction(float(numpy.float32(0.9 - 1e-6)))] * 64
    real = sum((a - Fraction(b)) ** 2 for a, b in zip(near, point, strict=True))
    space = space_of([point, point])
    for formula in FORMULAS:
        losses = Losses(space, Deployment(formula), [], 1)
        share = losses.loss(0, ceil_at(real, space.bits)) / floor_at(real, space.bits)
        assert (share < 1e-4) == (formula == "direct")
    found = [Machine(seed, "expanded").distance(near, list(map(Fraction, point))) for seed in range(40)]
    assert any(abs(each - real) > 100 * real for each in found)


def test_a_stated_distance_bounds_latents() -> None:
    from verale.checker.certificate import PatchStatement

    space = space_of([[3.0, 4.0]], domain={"lower": None, "upper": None})
    statement = PatchStatement(0, 0, None, Fraction(4))
    with pytest.raises(UnprovedError, match="overflow"):
        Losses(space, Deployment("direct"), [], 1)
    with pytest.raises(UnprovedError, match="overflow"):
        Losses(space, Deployment("direct"), [statement], 2)
    losses = Losses(space, Deployment("direct"), [statement], 1)
    assert 0 <= losses.farthest[0] - (12 * 12 << space.bits) <= 1 << space.bits - 40


@pytest.mark.parametrize(
    "wrong", [{"formula": "winograd"}, {"formula": "direct", "log": 0}, {"formula": "direct", "exp": 1025}]
)
def test_a_deployment_is_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Deployment(**wrong)  # type: ignore[arg-type]
