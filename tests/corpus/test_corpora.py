"""The corpora are files: the manifest has each of them as it is, and every case gets its verdict."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import jsonschema
import pytest
from corpus.add import DIGESTS, digests
from support.editing import split
from support.truth import holds

from verale.checker import Auditor, Status
from verale.checker.options import KERNELS
from verale.paradigms import PARADIGMS
from verale.soundness.corpus.cases import FOLDERS, Case, manifest, paths_of, stored
from verale.soundness.paths import CERTIFICATES

CASES = stored()
SIZES = stored("sizes")
HEAVY = ("sizes/large-projection", "sizes/large-hypersphere", "sizes/large-joint")
"""Of these each kernel takes seconds: tests/packaging/test_distribution.py judges all cases by both, and below the
proved one judges those that are accepted."""
LINEAR = {"kind": "linear"}


def test_the_manifest_has_every_file_and_no_other() -> None:
    entries = manifest()
    listed = {path for name, entry in entries.items() for path in paths_of(name, entry).values()}
    found = {path.relative_to(CERTIFICATES).as_posix() for name in FOLDERS for path in (CERTIFICATES / name).iterdir()}
    assert listed == found
    assert {name.partition("/")[0] for name in entries} == set(FOLDERS)


def test_no_file_has_changed() -> None:
    """The digests are as `sha256sum -c` reads them."""
    frozen, now = (CERTIFICATES / DIGESTS).read_text().splitlines(), digests(CERTIFICATES)
    assert set(frozen) ^ set(now) == set()
    assert frozen == now
    digest, _, path = frozen[0].partition("  ")
    assert digest == hashlib.sha256((CERTIFICATES / path).read_bytes()).hexdigest()


def test_every_case_says_what_it_shows() -> None:
    for name, entry in manifest().items():
        assert entry["comment"].strip() and entry["comment"][-1] in ".:)", name
        assert len(entry["comment"].split()) > 1, name


JUDGED = [case for case in [*CASES, *stored("deployment", "sizes")] if not case.name.startswith(HEAVY)]


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.name)
def test_every_case_gets_its_verdict(case: Case) -> None:
    """Those of `least`, `picture` and `origins` in test_least.py, test_pictured.py and test_origins.py."""
    assert case.allows(case.verdict("arb"))


def test_the_other_kernel_gives_the_same_verdicts() -> None:
    assert KERNELS == ("arb", "mpmath")
    verdicts = [(case, case.verdict("mpmath")) for case in JUDGED[::8]]
    assert [(case.name, verdict) for case, verdict in verdicts if not case.allows(verdict)] == []


def test_the_corpora_are_small_and_no_fewer_are_malformed_than_accepted() -> None:
    size = sum(file.stat().st_size for file in CERTIFICATES.rglob("*") if file.is_file())
    assert size < 15 * 2**18
    counts = Counter(case.name.split("/")[0] for case in CASES)
    assert counts["malformed"] >= counts["accept"]
    assert {case.status for case in CASES if case.name.startswith("accept")} == {"PROVED"}
    assert "PROVED" not in {case.status for case in CASES if not case.name.startswith("accept")}


def test_sizes_have_both_sides_of_each_limit_and_large_heads() -> None:
    """Each large case has a false twin."""
    cases = {case.name.removeprefix("sizes/"): case for case in SIZES}
    for name in cases:
        if name.endswith(("-and-one", "-false")):
            assert cases[name].status != cases[name.removesuffix("-and-one").removesuffix("-false")].status == "PROVED"
    large = {name: case for name, case in cases.items() if name.startswith("large") and not name.endswith("-false")}
    assert {json.loads(case.certificate)["predicate"]["paradigm"] for case in large.values()} > {"projection", "joint"}
    assert all(f"{name}-false" in cases for name in large)
    assert max(len(case.certificate) for case in cases.values()) == 8 * 2**20 + 1


TWINS = [case for case in SIZES if case.mark]
LONGEST = "sizes/large-top_k-euclidean-false"


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.long] * (case.name == LONGEST)) for case in TWINS]
)
def test_its_own_image_breaks_a_false_twin(case: Case) -> None:
    assert holds(case)


def test_the_kernel_proved_proves_what_is_accepted(proved_checker: str, monkeypatch) -> None:
    """One in three, and what is at a limit; tests/soundness/test_agreement.py has all.

    Minimality aside, which it does not cover. It gives up on 2^16 columns, and on a number of 18 digits.
    """
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    accepted = [case for case in CASES if case.status == "PROVED"]
    missed = {
        case.name
        for case in [*accepted[::3], *SIZES]
        if case.status == "PROVED" and case.name not in ("sizes/mask-65536", "sizes/top_mean-18-digits")
        if Auditor(case.head, case.latents, "proved").check(case.certificate).status is not Status.PROVED
    }
    assert missed == set()


def test_accept_has_every_paradigm_and_every_part() -> None:
    kinds: dict[str, set[str]] = {}
    pairs = set()
    for case in CASES:
        if case.name.startswith("accept"):
            description = json.loads(split(case.head)[0]["__metadata__"]["verale.head"])
            for part in ("geometry", "similarity", "pooling", "readout"):
                kinds.setdefault(part, set()).add(description.get(part, LINEAR)["kind"])
            pairs.add((json.loads(case.certificate)["predicate"]["paradigm"], description["geometry"]["kind"]))
    assert pairs == {(name, geometry) for name, paradigm in PARADIGMS.items() for geometry in paradigm.geometries}
    assert len(kinds["similarity"]) == 9  # the eight that have names, and steps
    assert kinds["pooling"] == {"max", "masked_max", "banks", "top_mean", "max_minus_mean", "max_minus_mean_distance"}
    assert kinds["readout"] == {"linear", "soft_tree", "maximum"}


def test_certificates_keep_the_schema_and_begin_with_the_comment() -> None:
    """Except those that are malformed, and those with text beside."""
    validator = jsonschema.Draft202012Validator(json.loads((CERTIFICATES / "v1.schema.json").read_bytes()))
    large = [case for case in SIZES if case.name.startswith("sizes/large")]
    for case in [*CASES, *stored("deployment"), *large]:
        if not case.name.startswith("malformed"):
            document = json.loads(case.certificate)
            assert case.comment.startswith(document.get("extensions", {}).get("comment", "")), case.name
            if case.status != "MALFORMED":
                validator.validate(document)
