"""The corpora are files: the manifest has each of them as it is, and every case gets its verdict."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from corpus.add import DIGESTS, digests
from support import files
from support.binary32 import PROTOTYPES, holds_of_deployed, is_lost
from support.cases import grouped
from support.editing import split
from support.exact import Head
from support.truth import holds

from verale.checker import Auditor, Status
from verale.checker.deployment import FORMULAS, Deployment
from verale.checker.options import KERNELS
from verale.paradigms import PARADIGMS
from verale.soundness.corpus.cases import BEYOND, FALSE, FOLDERS, Case, manifest, paths_of, stored
from verale.soundness.paths import CERTIFICATES

CASES = stored()
PROVED = [case for case in CASES if case.status == "PROVED"]
SIZES = stored("sizes")
HEAVY = ("sizes/large-projection", "sizes/large-hypersphere", "sizes/large-joint", "sizes/large-top_k-euclidean")
"""Of these each kernel takes seconds: tests/soundness/test_agreement.py asks all of them."""
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


JUDGED = [case for case in [*CASES, *stored("deployment", "sizes")] if not case.name.startswith(HEAVY)]


@grouped(JUDGED)
def test_every_case_gets_its_verdict(group: list[Case]) -> None:
    """Those of `least`, `picture` and `origins` elsewhere."""
    verdicts = [(case, case.verdict("arb")) for case in group]
    assert [(case.name, verdict) for case, verdict in verdicts if not case.allows(verdict)] == []


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


def test_sizes_have_both_sides_of_each_limit_and_large_cases_a_false_twin() -> None:
    status = {case.name: case.status for case in SIZES}
    beyond = {name for name in status if name.endswith(("-and-one", "-false"))}
    assert [name for name in beyond if status[name] == "PROVED"] == []
    assert {status[name.removesuffix("-and-one").removesuffix("-false")] for name in beyond} == {"PROVED"}
    large = {name for name in status if name.startswith("sizes/large") and name not in beyond}
    assert len(large) > 3 and {f"{name}-false" for name in large} <= beyond
    assert max(len(case.certificate) for case in SIZES) == 8 * 2**20 + 1


TWINS = [case for case in SIZES if case.mark]
LONGEST = "sizes/large-top_k-euclidean-false"


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.long] * (case.name == LONGEST)) for case in TWINS]
)
def test_its_own_image_breaks_a_false_twin(case: Case) -> None:
    assert holds(case)


def traits(case: Case) -> set[tuple[str, Any]]:
    """The kinds of a case's parts and statements, with the ends that these lack, and its paradigm of its geometry."""
    description = json.loads(split(case.head)[0]["__metadata__"]["verale.head"])
    predicate = json.loads(case.certificate)["predicate"]
    parts = ("geometry", "similarity", "pooling", "readout")
    stated = [(*each, *(end is None for end in each.get("interval", ()))) for each in predicate["statements"]]
    return {
        *((part, description.get(part, LINEAR)["kind"]) for part in parts),
        *(("statement", each) for each in stated),
        ("paradigm", (predicate["paradigm"], description["geometry"]["kind"])),
    }


def test_accept_has_every_paradigm_and_every_part() -> None:
    kinds: dict[str, set[Any]] = {}
    for name, kind in set().union(*map(traits, PROVED)):
        kinds.setdefault(name, set()).add(kind)
    assert kinds["paradigm"] == {(name, each) for name, paradigm in PARADIGMS.items() for each in paradigm.geometries}
    assert len(kinds["similarity"]) == 9  # the eight that have names, and steps
    assert kinds["pooling"] == {"max", "masked_max", "banks", "top_mean", "max_minus_mean", "max_minus_mean_distance"}
    assert kinds["readout"] == {"linear", "soft_tree", "maximum"}


def test_the_kernel_proved_proves_accepted_cases_of_every_trait(proved_checker: str, monkeypatch) -> None:
    """As few as have them all; tests/soundness/test_agreement.py asks it of every case. Minimality aside, which it does
    not cover everywhere."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    having = {case.name: traits(case) for case in PROVED}
    left, chosen = set().union(*having.values()), []
    while left:
        chosen.append(max(PROVED, key=lambda case: len(having[case.name] & left)))
        left -= having[chosen[-1].name]
    verdicts = {case.name: Auditor(case.head, case.latents, "proved").check(case.certificate) for case in chosen}
    assert [name for name, verdict in verdicts.items() if verdict.status is not Status.PROVED] == []


@pytest.mark.parametrize("one_in", [3, pytest.param(1, marks=pytest.mark.long)])
def test_certificates_keep_the_schema_and_begin_with_the_comment(one_in: int) -> None:
    """Except those that are malformed, and those with text beside."""
    validator = jsonschema.Draft202012Validator(json.loads((CERTIFICATES / "v1.schema.json").read_bytes()))
    large = [case for case in SIZES if case.name.startswith("sizes/large")]
    for case in [*CASES[::one_in], *stored("deployment"), *large]:
        if not case.name.startswith("malformed"):
            document = json.loads(case.certificate)
            assert case.comment.startswith(document.get("extensions", {}).get("comment", "")), case.name
            if case.status != "MALFORMED":
                validator.validate(document)


# The cases about deployed heads: what they cover, and whether their marks hold, judged without the checker.


DEPLOYED = {case.name.removeprefix("deployment/"): case for case in stored("deployment")}
ACCEPTED = {name: case for name, case in DEPLOYED.items() if not case.mark}
REJECTED = {name: case for name, case in DEPLOYED.items() if case.mark}


@pytest.mark.parametrize("kernel", KERNELS)
def test_rejected_ones_are_proved_where_nothing_is_asked_of_a_deployed_head(kernel: str) -> None:
    for name, case in REJECTED.items():
        verdict = Auditor(case.head, case.latents, kernel).check(case.certificate, minimality=True)
        assert verdict.status is Status.PROVED, name


def test_every_mark_of_deployed_heads_holds() -> None:
    assert [name for name, case in REJECTED.items() if not holds_of_deployed(case)] == []
    assert sum(case.breaks is not None for case in REJECTED.values()) == 8
    assert [case.claim for case in REJECTED.values() if case.claim is not None] == [PROTOTYPES]
    assert {case.mark for case in REJECTED.values()} == {FALSE, BEYOND}


def test_there_are_deployed_heads_of_every_formula_and_geometry_on_both_sides() -> None:
    for cases in (ACCEPTED, REJECTED):
        assert {files.given(case.deployment).formula for case in cases.values()} == set(FORMULAS)
    assert {Head.read(case.head).kind("geometry") for case in ACCEPTED.values()} == {
        *("euclidean", "cosine", "inner_product", "softmax"),
    }
    for one, other in (
        ("far-direct", "far-expanded"),
        ("far-direct", "far-cdist"),
        ("log-within-4", "log-within-1024"),
    ):
        accepted, rejected = ACCEPTED[one], REJECTED[other]
        assert (accepted.head, accepted.latents) == (rejected.head, rejected.latents)


def test_marks_that_do_not_hold_are_no_marks() -> None:
    for name, case in ACCEPTED.items():
        marked = [replace(case, mark=BEYOND), replace(case, mark=FALSE, claim="subject")]
        if Head.read(case.head).kind("geometry") != "softmax":
            marked.append(replace(case, mark=FALSE, claim=PROTOTYPES))
        assert not any(map(holds_of_deployed, marked)), name
    far = DEPLOYED["far-expanded"]
    asked, breaks = files.given(far.deployment), files.given(far.breaks)
    assert is_lost(far.certificate, far.head, breaks, asked)
    assert not is_lost(far.certificate, far.head, breaks, replace(asked, formula="direct"))
    assert not is_lost(far.certificate, far.head, files.given(far.latents), asked)
    outside = files.latents([[[4096.5, 4097.5]]])
    assert not is_lost(far.certificate, far.head, outside, asked)
    between = files.latents([[[4096.5, 4096.5 + 2.0**-30]]])
    assert not is_lost(far.certificate, far.head, between, asked)  # no binary32 number


def test_the_ulps_of_the_logarithm_decide() -> None:
    case = DEPLOYED["log-within-1024"]
    latents = files.given(case.breaks)
    lost = [is_lost(case.certificate, case.head, latents, Deployment("direct", log=n)) for n in (1, 4, 1024)]
    assert lost == [False, False, True]


def test_what_is_accepted_is_not_lost_at_its_own_image() -> None:
    """Where it is of binary32 numbers, and tried."""
    for name in ("direct", "expanded", "cdist", "cosine", "far-direct", "log-within-4", "stated-upper-end", "softmax"):
        case = ACCEPTED[name]
        assert not is_lost(case.certificate, case.head, files.given(case.latents), files.given(case.deployment)), name
