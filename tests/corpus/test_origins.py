"""The files of certificates/origins-v1.md: each gets its outcome, and what is false is shown to be, without the
checker."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import jsonschema
import pytest
from support.arithmetic import PRECISION, ball
from support.editing import split
from support.exact import Head
from support.network_truth import network_of, true_latents
from support.networks import picture_digest

from verale.soundness.corpus.cases import Case, stored
from verale.soundness.paths import CERTIFICATES

CASES = [replace(case, comment=case.name) for case in stored("origins")]
DECIDED = [case for case in CASES if (case.status, case.reason) in (("PROVED", ""), ("NOT_PROVED", "picture"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_file_gets_its_outcome(case: Case) -> None:
    assert case.verdict("arb") == case.expected


@pytest.mark.parametrize("kernel", ["mpmath", "both", "proved", "proved-or-arb"])
def test_other_kernels_give_the_same_outcomes(kernel: str) -> None:
    """By the program too, and by both."""
    assert [(case.name, found) for case in CASES if (found := case.verdict(kernel)) != case.expected] == []


def test_there_are_some_of_every_outcome() -> None:
    counts = Counter((case.status, case.reason) for case in CASES)
    assert counts["PROVED", ""] >= 5 and counts["NOT_PROVED", "picture"] >= 12
    assert counts["NOT_PROVED", "subject"] >= 4 and counts["MALFORMED", "malformed"] >= 30
    assert {reason for status, reason in counts if status == "INPUT_ERROR"} == {"head", "network", "picture"}
    assert counts["NOT_PROVED", "uncovered"] == 2


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
    description = json.loads(split(case.head)[0]["__metadata__"]["verale.head"])
    lower, upper = (description["domain"][side] for side in ("lower", "upper"))
    with flint.ctx.workprec(PRECISION):
        head = Head.read(case.head)
        for origin in document["origins"]:
            latents = true_latents(network_of(case.network or b""), pictures[origin["picture"]])
            value = head.observable(latents[origin["patch"]], origin["prototype"])
            wrong = any(lower is not None and x < ball(_end(lower)) for z in latents for x in z)
            wrong = wrong or any(upper is not None and x > ball(_end(upper)) for z in latents for x in z)
            if "distance" in origin:
                wrong = wrong or value > ball(_end(origin["distance"])) ** 2
            else:
                wrong = wrong or value < ball(_end(origin["cosine"]))
            found += [origin["prototype"]] * wrong
    return found


def _end(text: str) -> Fraction:
    return Fraction(float.fromhex(text))


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
    for case in CASES:
        if case.status == "PROVED":
            validator.validate(json.loads(case.certificate))
    refused = ("empty", "both", "neither", "distance-negative", "distance-a-number", "field-more", "picture-a-number")
    for case in CASES:
        if case.name.removeprefix("origins/") in refused:
            assert not validator.is_valid(json.loads(case.certificate)), case.name
