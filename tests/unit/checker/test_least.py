"""The reader of proofs that no explanation is smaller: what is malformed or not proved is named."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support import files
from support.boxes import coordinates
from support.cases import every
from support.small import small_head, small_latents

from verale.checker import Auditor, Status
from verale.checker.errors import FormatError, KernelError, UnprovedError
from verale.checker.head import read_head
from verale.checker.least import Cell, excludes, proved_least
from verale.checker.options import KERNELS
from verale.checker.reading.space import Box
from verale.head import Head, as_patches, digest, save_latents
from verale.search.least import least_document
from verale.soundness.corpus.cases import stored

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[bytes, Head, bytes]:
    """A document, its head and its latents."""
    path = tmp_path_factory.mktemp("searched") / "latents"
    head = small_head("euclidean", prototypes=12)
    latents = small_latents(head, images=2)
    save_latents(path, latents)
    _, document = least_document(head, as_patches(latents)[1])
    return document, head, path.read_bytes()


@pytest.fixture
def given(searched) -> tuple[dict[str, Any], Head, bytes]:
    """The same, the document for the test to change."""
    document, head, latents = searched
    return json.loads(document), head, latents


def proved(given: tuple[dict[str, Any], Head, bytes], **changes: Any) -> int:
    claim, head, latents = given
    return proved_least(json.dumps({**claim, **changes}).encode(), head.to_bytes(), latents)


def test_what_is_claimed_is_proved_and_no_more(given) -> None:
    claim = given[0]
    assert proved(given) == claim["least"]
    assert proved(given, least=1) == 1
    with pytest.raises(UnprovedError, match=r"cells\[\d+\] does not exclude"):
        proved(given, least=claim["least"] + 1)


def test_a_cell_without_cost_is_not_excluded_by_what_the_clauses_cost(given) -> None:
    """Whoever leaves out the cells with clauses, or proves one cell alone, proves nothing of the others."""
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, cells=[{"weights": []}], least=1)
    whole = [each for each in given[0]["cells"] if "weights" in each]
    with pytest.raises(FormatError, match="comes after the last leaf"):
        proved(given, cells=whole, least=0)


def splits(*ends: tuple[str, float]) -> list[dict[str, str]]:
    return [{"split": name, "at": at.hex()} for name, at in ends]


def test_absurd_weights_and_numbers_prove_no_more(given) -> None:
    """The largest integer of the format as the only weight, as every weight, as the bound, and ends of any size."""
    claim, most = given[0], 10**18 - 1
    rivals = [c for c in range(3) if c != claim["predicted"]]
    for weights in ([[rivals[0], most]], [[c, most] for c in rivals], [[rivals[0], most], [rivals[1], 1]]):
        cells = [each if "split" in each else {"weights": weights} for each in claim["cells"]]
        with pytest.raises(UnprovedError, match="does not exclude"):
            proved(given, cells=cells, least=claim["least"] + 1)
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, least=most)
    for end in (2.0**1023, -(2.0**1023), 2.0**-1074):
        cells = [*splits(("ceiling", end), ("floor", end)), *[{"weights": []}] * 3]
        assert proved(given, cells=cells, least=0) == 0
        with pytest.raises(UnprovedError, match="does not exclude"):
            proved(given, cells=cells, least=1)


def test_a_deep_tree_lacks_its_leaves_or_is_proved(given) -> None:
    """More splits than Python nests calls, one below the other, to either side, on either clause."""
    deep = splits(("ceiling", 1.0), ("floor", 0.0)) * 5_000
    with pytest.raises(FormatError, match="cells lacks 10001 leaves"):
        proved(given, cells=deep, least=0)
    one_sided = [each for split in splits(("ceiling", 1.0)) * 6_000 for each in (split, {"weights": []})]
    assert proved(given, cells=[*one_sided, {"weights": []}], least=0) == 0


def test_many_leaves_end_at_the_limit(given, monkeypatch) -> None:
    monkeypatch.setattr("verale.checker.limit._BETWEEN", 0)
    rivals = [[c, 1] for c in range(3) if c != given[0]["predicted"]]
    cells = [each for split in splits(("ceiling", 1.0)) * 5000 for each in (split, {"weights": rivals})]
    claim, head, latents = given
    document = json.dumps({**claim, "cells": [*cells, {"weights": rivals}], "least": 0}).encode()
    with pytest.raises(UnprovedError, match=r"takes more than 0\.001 s of processor time"):
        proved_least(document, head.to_bytes(), latents, limit=1e-3)


def test_the_limit_counts_the_image(tmp_path) -> None:
    """As an audit does: an image of a megabyte may take twice the time."""
    head = small_head("euclidean", prototypes=12)
    latents = small_latents(head, images=1)
    image = as_patches(latents)[0][:1].repeat(2**15, 1)
    save_latents(tmp_path / "latents", image[None])
    claim = {"_type": "urn:verale:least:v1", "head": head.digest, "latents": digest(image), "predicted": 0}
    document = json.dumps({**claim, "least": 0, "cells": [{"weights": []}]}).encode()
    with pytest.raises(UnprovedError, match=r"takes more than 2e-09 s of processor time"):
        proved_least(document, head.to_bytes(), (tmp_path / "latents").read_bytes(), limit=1e-9)


@pytest.mark.parametrize("kernel", ["proved", "all"])
def test_the_kernel_proved_does_not_cover_it(given, kernel) -> None:
    claim, head, latents = given
    with pytest.raises(UnprovedError, match="the kernel proved does not cover") as caught:
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, kernel)
    assert caught.value.reason == "uncovered"
    with pytest.raises(KernelError, match="'none' is unknown"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, "none")


# The rule of the least size, by hand: activations are coordinates of one patch, all 0, and rivals gain by them.


BITS = 8
ONE = 1 << BITS


def head_of(count: int, *bias: float) -> Any:
    return read_head(coordinates(count, bias)[0].to_bytes())


def box(*ends: tuple[float, float]) -> Box:
    return Box([int(low * ONE) for low, _ in ends], [int(high * ONE) for _, high in ends], BITS)


def test_a_cell_costs_the_clauses_that_all_of_it_have() -> None:
    half = Fraction(1, 2)
    costs = [Cell().cost, Cell(u1=half).cost, Cell(u2=half).cost, Cell(v2=half).cost, Cell(v1=half).cost]
    assert costs == [0, 0, 1, 0, 1]
    assert Cell(u2=half, v1=half).cost == 2


def test_what_a_ceiling_leaves() -> None:
    """It binds what the image has below its greatest end, and not below its least end nor below the activation."""
    domain, image = box((0, 1), (0, 1), (0, 1)), box((0.125, 0.25), (0.5, 0.625), (0.75, 0.875))
    ceiling = Cell(u1=Fraction(3, 8), u2=Fraction(5, 8), v2=Fraction(-1)).box(domain, image)
    assert [end / ONE for end in ceiling.upper] == [0.375, 0.5, 1] and ceiling.lower == domain.lower
    perhaps = Cell(u1=Fraction(3, 8)).box(domain, image)
    assert [end / ONE for end in perhaps.upper] == [0.375, 0.5, 0.75]
    none = Cell(u1=Fraction(2)).box(domain, image)
    assert none.upper == domain.upper


def test_what_a_floor_leaves() -> None:
    domain, image = box((0, 1), (0, 1), (0, 1)), box((0.125, 0.25), (0.5, 0.625), (0.75, 0.875))
    floor = Cell(v1=Fraction(3, 8), v2=Fraction(11, 16)).box(domain, image)
    assert [end / ONE for end in floor.lower] == [0, 0.625, 0.6875]
    assert [end / ONE for end in Cell().box(domain, image).lower] == [0.25, 0.625, 0.875]
    assert Cell(v2=Fraction(-1)).box(domain, image).lower == domain.lower


NO_HELP = Cell(u1=Fraction(1), v2=Fraction(0))
"""No clause is there."""


@every(
    ("count", "bias", "cell", "weights", "needed"),
    [
        # Activations that are not stated lift the rival by 1 each.
        *((3, (bias, 0.0), NO_HELP, {1: 1}, needed) for bias, needed in ((0.5, 3), (1.5, 2), (2.5, 1), (3.5, 0))),
        (3, (0.5, 0.0), Cell(u1=Fraction(0), u2=Fraction(1, 8)), {1: 1}, 0),  # a ceiling over all
        # A gain of 1 counts for no more than the 1/4 that each of two rivals needs, whatever the weights.
        (2, (1.75, 0.0, 0.0), NO_HELP, {1: 1, 2: 3}, 1),
        # A rival that needs nothing adds nothing.
        *((1, (0.5, 0.0, -3.0), NO_HELP, weights, needed)
          for weights, needed in (({1: 1, 2: 10**6}, 1), ({2: 10**6}, 0), ({}, 0))),
    ],
)  # fmt: skip
def test_how_many_have_to_be_stated(
    count: int, bias: tuple[float, ...], cell: Cell, weights: dict[int, int], needed: int
) -> None:
    head, domain, image = head_of(count, *bias), box(*[(0, 1)] * count), box(*[(0, 0)] * count)
    excluded = [excludes(head, 0, domain, image, cell, weights, number) for number in range(count + 1)]
    assert excluded == [number < needed for number in range(count + 1)]


def test_a_great_gain_by_one_rival_is_none_by_another() -> None:
    """Each of two rivals gains 1 by an activation of its own, and needs 1/4: one statement leaves the other."""
    weight = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    inner = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY}
    head = read_head(files.head(weight, [[1.0, 0.0], [0.0, 1.0]], [0.75, 0.0, 0.0], domain=files.domain(0, 1), **inner))
    domain, image, cell = box((0, 1), (0, 1)), box((0, 0), (0, 0)), Cell(u1=Fraction(1), v2=Fraction(0))
    assert excludes(head, 0, domain, image, cell, {1: 1, 2: 1}, 1)
    assert not excludes(head, 0, domain, image, cell, {1: 1, 2: 1}, 2)


def test_what_the_image_has_is_known_up_to_its_range() -> None:
    """The activation may be -1/4, which alone would be enough: stating it may leave nothing to gain for the rival."""
    head, domain = head_of(2, 0.875, 0.0), box((-1, 1), (0, 0))
    cell = Cell(u1=Fraction(1), v2=Fraction(-1))
    assert not excludes(head, 0, domain, box((-0.25, 1), (0, 0)), cell, {1: 1}, 1)
    assert excludes(head, 0, domain, box((0.9375, 1), (0, 0)), cell, {1: 1}, 1)


# The documents of certificates/least-v1.md: each gets its outcome, and those that are false are shown to be.


CASES = stored("least")


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_every_document_gets_its_outcome(kernel: str) -> None:
    assert [case.name for case in CASES if case.verdict(kernel) != case.expected] == []


UNSEEN = ("outside", "cells-too", "weights-of-predicted", "weights-twice", "cut", "repeated-key", "fraction")
"""What of the malformed ones a schema does not see."""


def test_the_schema_refuses_what_is_malformed_by_itself() -> None:
    schema = Draft202012Validator(json.loads((ROOT / "certificates" / "least-v1.schema.json").read_text()))
    for case in CASES:
        if case.status != "INPUT_ERROR" and not (case.status == "MALFORMED" and any(map(case.name.count, UNSEEN))):
            assert schema.is_valid(json.loads(case.certificate)) == (case.status != "MALFORMED"), case.name


def test_a_false_document_has_a_smaller_explanation() -> None:
    """A certificate under top_k of the same head and image, which is proved and has fewer statements."""
    false = [case for case in CASES if case.smaller is not None]
    assert len(false) >= 4
    for case in false:
        document, certificate = json.loads(case.certificate), json.loads(case.smaller or b"")
        digests = [each["digest"]["sha256"] for each in certificate["subject"]]
        assert digests == [document["head"], document["latents"]], case.name
        assert certificate["predicate"]["paradigm"] == "top_k", case.name
        assert len(certificate["predicate"]["statements"]) < document["least"], case.name
        assert Auditor(case.head, case.latents, "both").check(case.smaller or b"").status is Status.PROVED, case.name
