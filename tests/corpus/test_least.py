"""The documents of certificates/least-v1.md: each gets its outcome, and those that are false are shown to be."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import jsonschema
import pytest

from verale.checker import Auditor, Status
from verale.checker.errors import UnprovedError
from verale.checker.least import proved_least
from verale.checker.options import KERNELS
from verale.soundness.corpus.cases import stored
from verale.soundness.paths import CERTIFICATES

CASES = stored("least")


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_every_document_gets_its_outcome(kernel: str) -> None:
    assert [case.name for case in CASES if case.verdict(kernel) != case.expected] == []


def test_there_are_some_of_every_outcome() -> None:
    counts = Counter(case.status for case in CASES)
    assert counts["PROVED"] >= 6 and counts["MALFORMED"] >= 30
    reasons = {case.reason for case in CASES if case.status in ("NOT_PROVED", "INPUT_ERROR")}
    assert reasons == {"subject", "instance", "entailment", "uncovered", "head", "latents"}


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


def test_what_claims_as_much_as_a_false_document_is_not_proved_by_other_weights() -> None:
    """Whatever the hint: here weights that prove what is true."""
    two = next(case for case in CASES if case.name == "least/two")
    for least, proved in ((2, True), (3, False)):
        document = json.dumps(json.loads(two.certificate) | {"least": least}).encode()
        assert (replace(two, certificate=document).verdict("both")[0] == "PROVED") is proved


def test_the_schema_admits_what_is_proved() -> None:
    schema = json.loads((CERTIFICATES / "least-v1.schema.json").read_bytes())
    validator = jsonschema.Draft202012Validator(schema)
    for case in CASES:
        if case.status == "PROVED":
            validator.validate(json.loads(case.certificate))


def test_the_kernel_proved_covers_none() -> None:
    case = CASES[0]
    with pytest.raises(UnprovedError) as caught:
        proved_least(case.certificate, case.head, case.latents or b"", "proved")
    assert caught.value.reason == "uncovered"
