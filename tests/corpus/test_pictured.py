"""Certificates that claim a picture: each gets its outcome, and what is false is shown to be, without the checker."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import jsonschema
import pytest
from support import files
from support.arithmetic import PRECISION, ball
from support.cases import grouped
from support.editing import split
from support.exact import Head
from support.network_binary32 import Adversary
from support.network_truth import network_of, true_latents
from support.networks import drawn_picture, picture_digest
from support.proved import fake

from verale.checker import Auditor, Status, check
from verale.soundness.corpus.cases import Case, stored
from verale.soundness.paths import CERTIFICATES

CASES = [replace(case, name=case.name.removeprefix("picture/")) for case in stored("picture")]
NAMED = {case.name: case for case in CASES}
PICTURE = drawn_picture((1, 4, 4), 3)
"""Of which most of them are."""


@grouped(CASES)
def test_every_case_gets_its_outcome(group: list[Case]) -> None:
    assert {case.name: case.verdict("arb") for case in group} == {case.name: case.expected for case in group}


@pytest.mark.parametrize("kernel", ["mpmath"])
def test_the_other_kernel_gives_the_same_outcomes(kernel: str) -> None:
    outcomes = [(case.name, case.verdict(kernel), case.expected) for case in CASES[::3]]
    assert [each for each in outcomes if each[1] != each[2]] == []


def _description(case: Case) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(split(case.head)[0]["__metadata__"]["verale.head"])
    return description


def is_outside(description: dict[str, Any], latents: list[list[Any]]) -> bool:
    """Whether an entry certainly lies outside of the domain's box."""
    lower, upper = (description["domain"][side] for side in ("lower", "upper"))
    entries = [x for z in latents for x in z]
    below = lower is not None and any(x < ball(_end(lower)) for x in entries)
    return below or (upper is not None and any(x > ball(_end(upper)) for x in entries))


def faults(case: Case, picture: list[list[list[int]]]) -> list[str]:
    """What is certainly not true of the true latents."""
    predicate, description = json.loads(case.certificate)["predicate"], _description(case)
    with flint.ctx.workprec(PRECISION):
        head, image = Head.read(case.head), true_latents(network_of(case.network or b""), picture)
        found = ["patches"] * (len(image) != predicate["patches"])
        found += ["domain"] * is_outside(description, image)
        radius = description["geometry"].get("radius")
        if radius is not None:
            found += ["radius"] * any(sum(x * x for x in z) > ball(_end(radius)) ** 2 for z in image)
        bare = description["geometry"].get("epsilon") == (0.0).hex()
        found += ["zero"] * any(bare and all(x == 0 for x in z) for z in image)
        for number, statement in enumerate(predicate["statements"]):
            j, (low, high) = statement["prototype"], map(_end, statement["interval"])
            value = head.observable(image[statement["patch"]], j) if "patch" in statement else head.activation(image, j)
            if value < ball(low) or value > ball(high):
                found.append(f"statement {number}")
    return found


def computed_faults(case: Case, seed: int) -> list[int]:
    """The statements about patches that are not true of latents computed in binary32, in some way."""
    network, head = network_of(case.network or b""), Head.read(case.head)
    shape, values = Adversary(seed).given(network, files.flat(PICTURE))[network.layers[-1]["name"]]
    image = [[values[d, y, x] for d in range(shape[0])] for y, x in product(range(shape[1]), range(shape[2]))]
    false = []
    for number, statement in enumerate(json.loads(case.certificate)["predicate"]["statements"]):
        low, high = map(_end, statement["interval"])
        if not low <= head.observable(image[statement["patch"]], statement["prototype"]) <= high:
            false.append(number)
    return false


def _end(text: str) -> Fraction:
    return Fraction(float.fromhex(text))


def test_what_is_proved_is_true_and_what_is_false_is_not() -> None:
    """By balls of 300 bits, whose reading of network-v1.md is another one."""
    other = next(case for case in CASES if case.name == "other-pixel")
    for case in CASES:
        whole = case.network is not None and case.pictures is not None
        if case.name in ("beyond-point", "false-zero"):
            assert faults(case, [[[255]]]) == ["zero"] * case.name.startswith("false")
        elif case.name in ("beyond-computed", "large-float32", "excluded-float32"):
            assert faults(case, PICTURE) == []  # of the real latents
        elif case.name == "false-computed-narrow":
            assert faults(case, PICTURE) == [] and all(computed_faults(case, seed) for seed in range(5))
        elif (case.status, case.reason) == ("NOT_PROVED", "picture") and case is not other:
            assert faults(case, PICTURE), case.name
        elif case.status in ("PROVED", "REFUTED") or case.reason in ("entailment", "minimality"):
            assert not whole or faults(case, PICTURE) == [], case.name
    one = [[list(row) for row in PICTURE[0]]]
    one[0][1][1] ^= 64
    assert picture_digest(one) == json.loads(other.certificate)["subject"][2]["digest"]["sha256"]
    assert faults(other, one)


def test_the_schema_admits_what_is_claimed() -> None:
    schema = json.loads((CERTIFICATES / "v1.schema.json").read_bytes())
    validator = jsonschema.Draft202012Validator(schema)
    for case in CASES:
        errors = list(validator.iter_errors(json.loads(case.certificate)))
        if case.status != "MALFORMED":
            assert errors == [], case.name
        elif case.name.startswith("malformed-arithmetic") or "digest" in case.name:
            assert errors != [], case.name


def test_the_kernel_proved_proves_the_same_pictures(proved_checker: str, monkeypatch) -> None:
    """In real arithmetic. It refutes nothing by a picture, and asks about entailment first."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    other = {}
    for case in CASES:
        status, reason = case.verdict("proved")
        if reason == "uncovered":
            assert b'"float32"' in case.certificate and status == "NOT_PROVED", case.name
            continue
        assert (status == "PROVED") == (case.status == "PROVED"), case.name
        if (status, reason) != case.expected:
            other[case.name] = reason
    assert other == dict.fromkeys(("beyond-point", "false-zero", "false-class"), "entailment")


def test_either_kernel_names_who_proved_the_picture(proved_checker: str, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    case, false = NAMED["euclidean-top_k"], NAMED["false-above-top_k"]
    seen: dict[str, Any] = {"network": case.network, "pictures": case.pictures}
    either = check(case.certificate, case.head, kernel="proved-or-arb", **seen)
    assert (either.status, dict(either.by)) == (Status.PROVED, {"entailment": "proved", "picture": "proved"})
    without = check(case.certificate, case.head, kernel="proved")
    assert without.status is Status.PROVED and without.claims["picture"] == "not checked"
    verdict = check(
        false.certificate, false.head, kernel="proved-or-arb", network=false.network, pictures=false.pictures
    )
    assert verdict.reason == "picture" and verdict.exit_code == 7


def test_a_verdict_says_what_was_proved() -> None:
    case = NAMED["euclidean-projection"]
    verdict = check(case.certificate, case.head, kernel="arb", network=case.network, pictures=case.pictures)
    assert "entailment+picture (real arithmetic) proved  by arb  latents to within " in verdict.line("a")
    false = NAMED["false-below-projection"]
    verdict = check(false.certificate, false.head, kernel="arb", network=false.network, pictures=false.pictures)
    assert "picture: statement 1 (patch 0, prototype 1) is false at the latents" in verdict.line("a")
    point = NAMED["false-point"]
    verdict = check(point.certificate, point.head, kernel="arb", network=point.network, pictures=point.pictures)
    assert "statement 0 (prototype 0) cannot be decided" in verdict.message or "is false" in verdict.message


def test_a_small_limit_refuses_before_anything_is_computed() -> None:
    case = NAMED["euclidean-top_k"]
    auditor = Auditor(case.head, None, "arb", limit=0.0002, network=case.network, pictures=case.pictures)
    assert auditor.check(case.certificate).reason == "limit"


def test_deployment_is_not_shown_by_a_picture_in_real_arithmetic() -> None:
    from verale.checker.deployment import Deployment

    case = NAMED["euclidean-top_k"]
    seen: dict[str, Any] = {"network": case.network, "pictures": case.pictures}
    verdict = check(case.certificate, case.head, kernel="arb", deployment=Deployment("direct"), **seen)
    assert verdict.reason == "deployment" and "real latents" in verdict.message
    other = NAMED["computed-euclidean"]
    verdict = check(other.certificate, other.head, kernel="arb", deployment=Deployment("direct"), **seen)
    assert verdict.status is Status.PROVED
    assert dict(verdict.claims) == dict.fromkeys(("entailment", "picture", "deployment"), "proved")
    assert check(case.certificate, case.head, kernel="arb", deployment=Deployment("direct")).status is Status.PROVED


def _named(case: Case, kernel: str) -> str:
    """The verdict's reason, and the statement that its message begins with, if it does."""
    verdict = Auditor(case.head, None, kernel, network=case.network, pictures=case.pictures).check(case.certificate)
    return verdict.reason + " ".join(verdict.message.split(" ")[:2] if verdict.message.startswith("statement ") else [])


def test_the_proved_checker_names_the_statement_that_the_others_name(proved_checker: str, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    named = {case.name: [_named(case, kernel) for kernel in ("arb", "proved")] for case in CASES if _is_shared(case)}
    assert [name for name, (one, other) in named.items() if one != other] == []
    assert {one for one, _ in named.values()} >= {f"picturestatement {number}" for number in (0, 1, 2)} | {"picture"}


def _is_shared(case: Case) -> bool:
    """Whether the picture is what fails in either kernel: in real arithmetic, of a certificate that is entailed."""
    return (
        case.reason == "picture"
        and case.name.startswith("false-")
        and not {"computed", "zero"} & {*case.name.split("-")}
    )


def test_a_picture_is_not_proved_where_the_limit_ends_the_search_for_the_statement(tmp_path, monkeypatch) -> None:
    body = (
        "if question in ('head', 'network'): return None\n"
        "if question != 'pictured': return 'proved'\n"
        "return 'not proved' if asked.count('pictured') == 1 else 'limit: enough'"
    )
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    case = NAMED["false-point"]
    verdict = Auditor(case.head, None, "proved", network=case.network, pictures=case.pictures).check(case.certificate)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "picture")
    assert "which one fails was not found" in verdict.message


# The files of certificates/origins-v1.md: each gets its outcome, and what is false is shown to be, without the checker.


FILES = [replace(case, comment=case.name) for case in stored("origins")]
DECIDED = [case for case in FILES if (case.status, case.reason) in (("PROVED", ""), ("NOT_PROVED", "picture"))]


def test_every_file_gets_its_outcome() -> None:
    assert [(case.name, found) for case in FILES if (found := case.verdict("arb")) != case.expected] == []


@pytest.mark.parametrize("kernel", ["both", "proved"])
def test_other_kernels_give_origins_the_same_outcomes(kernel: str) -> None:
    """By the program too, and by both."""
    assert [(case.name, found) for case in FILES if (found := case.verdict(kernel)) != case.expected] == []


def _pictures(case: Case) -> dict[str, list[Any]]:
    """Pictures by their digests."""
    header, body = split(case.pictures or b"")
    count, channels, rows, columns = header["pictures"]["shape"]
    numbers, found = list(body), {}
    for number in range(count):
        at = iter(numbers[number * channels * rows * columns :])
        picture = [[[next(at) for _ in range(columns)] for _ in range(rows)] for _ in range(channels)]
        found[picture_digest(picture)] = picture
    return found


def false_origins(case: Case) -> list[int]:
    """The prototypes whose origin is certainly false, by the formulas of the texts in balls."""
    document, pictures, found = json.loads(case.certificate), _pictures(case), []
    with flint.ctx.workprec(PRECISION):
        head = Head.read(case.head)
        for origin in document["origins"]:
            latents = true_latents(network_of(case.network or b""), pictures[origin["picture"]])
            value = head.observable(latents[origin["patch"]], origin["prototype"])
            wrong = is_outside(_description(case), latents)
            if "distance" in origin:
                wrong = wrong or value > ball(_end(origin["distance"])) ** 2
            else:
                wrong = wrong or value < ball(_end(origin["cosine"]))
            found += [origin["prototype"]] * wrong
    return found


def test_what_is_proved_is_true_and_what_is_not_proved_is_false() -> None:
    assert len(DECIDED) > 15
    assert [case.name for case in DECIDED if bool(false_origins(case)) != (case.status == "NOT_PROVED")] == []


def test_of_a_proved_file_nothing_else_is_proved() -> None:
    """Patches, pictures, prototypes and distances of proved files are exchanged: what is false is never proved."""
    tried = 0
    for case in (case for case in DECIDED if case.status == "PROVED" and len(_pictures(case)) > 1):
        document, pictures = json.loads(case.certificate), list(_pictures(case))
        origin = document["origins"][0]
        for picture in pictures:
            for patch in range(4):
                for prototype in range(2):
                    stated = origin | {"picture": picture, "patch": patch, "prototype": prototype}
                    changed = replace(case, certificate=json.dumps(document | {"origins": [stated]}).encode())
                    false = false_origins(changed)
                    tried += bool(false)
                    assert changed.verdict("arb")[0] == ("NOT_PROVED" if false else "PROVED"), stated
    assert tried > 50


def test_the_schema_admits_what_is_proved_and_refuses_what_is_malformed_by_itself() -> None:
    schema = json.loads((CERTIFICATES / "origins-v1.schema.json").read_bytes())
    validator = jsonschema.Draft202012Validator(schema)
    for case in FILES:
        if case.status == "PROVED":
            validator.validate(json.loads(case.certificate))
    refused = ("empty", "both", "neither", "distance-negative", "distance-a-number", "field-more", "picture-a-number")
    for case in FILES:
        if case.name.removeprefix("origins/") in refused:
            assert not validator.is_valid(json.loads(case.certificate)), case.name
